"""Products of exponentials (model/product_joint.py): poses, twists and their derivatives.

A joint is a chain of stages, E = prod C exp(s_1 f_1) ... exp(s_m f_m), or C exp [r] for a free rotation, in rows of a
table: a head (`HEAD`), then one row for each piece: C (R by rows, p), six screws s (w, v), six bicubics f (4, 4).

Along z, u, v, changes of the coordinates, let S z be the body twist. A factor exp(s f) or exp [r] adds the
twists t_z, t_u, t_v and, of these, the derivatives t_zu, t_zv, t_uv, t_zuv; it carries the sum before it by
X = Ad(factor^-1):

    S z            ->  X + t_z
    dS u z         ->  X_u - [t_u, X] + t_zu
    d2S u v z      ->  X_uv - [t_v, X_u] - [t_u, X_v] + [t_u, [t_v, X]] - [t_uv, X] + t_zuv

Rotations are three rows, twists ((angular), (linear)).
"""

import math

from varint.base.numba import njit
from varint.mathematics.rotation_vector import (
    coefficients,
    right_jacobian_along,
    right_jacobian_times,
    right_jacobian_twice,
)
from varint.mathematics.vectors import add, cross, dot, scale, sub

# columns of a head row; PERIOD: of the first coordinate, 0 for none
HEAD = BALL, SIZE, N1, N2, CLOSED, FACTORS, FIRST, PERIOD, NEXT = range(9)
SCREW, POWER, WIDTH = 12, 48, 144  # first columns of a piece's screws and bicubics; columns of a row
ZERO6 = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
ZERO3 = (0.0, 0.0, 0.0)


@njit
def _piece(table, stage, x, y):
    """Return the row of the piece at coordinates (x, y), and these from its start; ``table`` (rows, WIDTH)."""
    n1, n2 = int(table[stage, N1]), int(table[stage, N2])
    i, j = math.floor(x), math.floor(y)
    if table[stage, CLOSED] > 0.0:
        x -= i
        i %= n1
    else:
        i = min(max(i, 0), n1 - 1)
        x -= i
    j = min(max(j, 0), n2 - 1)
    return stage + 1 + i * n2 + j, x, y - j


@njit
def _partial(powers, x, y, m, n, wide):
    """Return the derivative of order (m, n) of a bicubic, or, if not ``wide``, of a cubic in x.

    ``powers`` (16,): coefficient of x^a y^b at 4 a + b.
    """
    total = 0.0
    for a in range(m, 4):
        along = 1.0
        for k in range(m):
            along *= a - k
        for _ in range(a - m):
            along *= x
        for b in range(n, 4 if wide else 1):
            across = along
            for k in range(n):
                across *= b - k
            for _ in range(b - n):
                across *= y
            total += across * powers[4 * a + b]
    return total


@njit
def _rotate(r, a, b, c):
    """Return exp[r] c, with the `coefficients` a, b."""
    once = cross(r, c)
    twice = cross(r, once)
    sine = 1.0 - b * dot(r, r)
    return (
        c[0] + sine * once[0] + a * twice[0],
        c[1] + sine * once[1] + a * twice[1],
        c[2] + sine * once[2] + a * twice[2],
    )


@njit
def bracket(a, b):
    """Return ad(a) b of twists ((angular), (linear))."""
    return cross(a[0], b[0]), add(cross(a[0], b[1]), cross(a[1], b[0]))


@njit
def _add_twists(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@njit
def _sub_twists(a, b):
    return sub(a[0], b[0]), sub(a[1], b[1])


@njit
def _seen_from(R, p, Y):
    """Return Ad(T^-1) Y for the pose T of rows R (three tuples) and origin p."""
    moved = sub(Y[1], cross(p, Y[0]))
    return rows_back(R, Y[0]), rows_back(R, moved)


@njit
def rows_back(R, c):
    """Return R^T c for three rows."""
    return (
        R[0][0] * c[0] + R[1][0] * c[1] + R[2][0] * c[2],
        R[0][1] * c[0] + R[1][1] * c[1] + R[2][1] * c[2],
        R[0][2] * c[0] + R[1][2] * c[1] + R[2][2] * c[2],
    )


@njit
def _base(table, row):
    """Return C of a piece: three rows of its rotation, and its origin; ``table`` (rows, WIDTH)."""
    c = table[row]
    return ((c[0], c[1], c[2]), (c[3], c[4], c[5]), (c[6], c[7], c[8])), (c[9], c[10], c[11])


@njit
def _by(R, p, turn, shift):
    """Return the pose (R, p) times (turn, shift); rotations as three rows."""
    rows = (rows_back(turn, R[0]), rows_back(turn, R[1]), rows_back(turn, R[2]))
    return rows, (p[0] + dot(R[0], shift), p[1] + dot(R[1], shift), p[2] + dot(R[2], shift))


@njit
def _exponential(w, v):
    """Return rows of the rotation and shift of exp(w, v)."""
    a, b, _, _, _, _ = coefficients(dot(w, w))
    away = (-w[0], -w[1], -w[2])
    x = _rotate(away, a, b, (1.0, 0.0, 0.0))  # columns of the inverse are rows
    y = _rotate(away, a, b, (0.0, 1.0, 0.0))
    z = _rotate(away, a, b, (0.0, 0.0, 1.0))
    once = cross(w, v)
    twice = cross(w, once)
    return (x, y, z), (
        v[0] + a * once[0] + b * twice[0],
        v[1] + a * once[1] + b * twice[1],
        v[2] + a * once[2] + b * twice[2],
    )


@njit
def stage_pose(table, stage, q, R, p):
    """Return (R, p) times the pose of a stage at coordinates ``q``: 3 numbers, unused ones zero.

    ``table`` (rows, WIDTH).
    """
    if table[stage, BALL] > 0.0:
        C, c = _base(table, stage + 1)
        R, p = _by(R, p, C, c)
        turn, shift = _exponential(q, ZERO3)
        return _by(R, p, turn, shift)
    row, x, y = _piece(table, stage, q[0], q[1])
    C, c = _base(table, row)
    R, p = _by(R, p, C, c)
    wide = table[stage, SIZE] > 1.0
    for k in range(int(table[stage, FACTORS])):
        s = table[row, SCREW + 6 * k : SCREW + 6 * k + 6]
        f = _partial(table[row, POWER + 16 * k :], x, y, 0, 0, wide)
        turn, shift = _exponential((f * s[0], f * s[1], f * s[2]), (f * s[3], f * s[4], f * s[5]))
        R, p = _by(R, p, turn, shift)
    return R, p


@njit
def stage_twist(table, stage, q, z, Y):
    """Return the twist S z after a stage, from that before it: `stage_twists` without the derivatives.

    ``table`` (rows, WIDTH); q, z: 3 numbers each.
    """
    if table[stage, BALL] > 0.0:
        C, c = _base(table, stage + 1)
        turn, shift = _exponential(q, ZERO3)
        return _add_twists(_seen_from(turn, shift, _seen_from(C, c, Y)), (right_jacobian_times(q, z), ZERO3))
    row, x, y = _piece(table, stage, q[0], q[1])
    C, c = _base(table, row)
    Y, wide = _seen_from(C, c, Y), table[stage, SIZE] > 1.0
    for k in range(int(table[stage, FACTORS])):
        s, powers = table[row, SCREW + 6 * k : SCREW + 6 * k + 6], table[row, POWER + 16 * k :]
        f, f_z = _partial(powers, x, y, 0, 0, wide), _partial(powers, x, y, 1, 0, wide) * z[0]
        if wide:
            f_z += _partial(powers, x, y, 0, 1, True) * z[1]
        w, o = (s[0], s[1], s[2]), (s[3], s[4], s[5])
        turn, shift = _exponential(scale(f, w), scale(f, o))
        Y = _add_twists(_seen_from(turn, shift, Y), (scale(f_z, w), scale(f_z, o)))
    return Y


@njit
def stage_twists(table, stage, q, z, u, v, Y, Y_u, Y_v, Y_uv):
    """Return S z, dS u z, dS v z, d2S u v z after a stage, from the twists before it; q, z, u, v: 3 numbers each.

    ``table`` (rows, WIDTH).
    """
    if table[stage, BALL] > 0.0:
        C, c = _base(table, stage + 1)
        Y, Y_u, Y_v, Y_uv = _seen_from(C, c, Y), _seen_from(C, c, Y_u), _seen_from(C, c, Y_v), _seen_from(C, c, Y_uv)
        turn, shift = _exponential(q, ZERO3)
        return _carried(
            turn, shift, (Y, Y_u, Y_v, Y_uv), (
            (right_jacobian_times(q, z), ZERO3), (right_jacobian_times(q, u), ZERO3),
            (right_jacobian_times(q, v), ZERO3),
            (right_jacobian_along(q, u, z), ZERO3), (right_jacobian_along(q, v, z), ZERO3),
            (right_jacobian_along(q, v, u), ZERO3), (right_jacobian_twice(q, u, v, z), ZERO3)),
        )  # fmt: skip
    row, x, y = _piece(table, stage, q[0], q[1])
    C, c = _base(table, row)
    Y, Y_u, Y_v, Y_uv = _seen_from(C, c, Y), _seen_from(C, c, Y_u), _seen_from(C, c, Y_v), _seen_from(C, c, Y_uv)
    wide = table[stage, SIZE] > 1.0
    for k in range(int(table[stage, FACTORS])):
        s, powers = table[row, SCREW + 6 * k : SCREW + 6 * k + 6], table[row, POWER + 16 * k :]
        f = _partial(powers, x, y, 0, 0, wide)
        dx, dxx, dxxx = (
            _partial(powers, x, y, 1, 0, wide),
            _partial(powers, x, y, 2, 0, wide),
            _partial(powers, x, y, 3, 0, wide),
        )
        f_z, f_u, f_v = dx * z[0], dx * u[0], dx * v[0]
        f_zu, f_zv, f_uv = dxx * z[0] * u[0], dxx * z[0] * v[0], dxx * u[0] * v[0]
        f_zuv = dxxx * z[0] * u[0] * v[0]
        if wide:
            dy, dyy, dyyy = (
                _partial(powers, x, y, 0, 1, True),
                _partial(powers, x, y, 0, 2, True),
                _partial(powers, x, y, 0, 3, True),
            )
            dxy, dxxy, dxyy = (
                _partial(powers, x, y, 1, 1, True),
                _partial(powers, x, y, 2, 1, True),
                _partial(powers, x, y, 1, 2, True),
            )
            f_z, f_u, f_v = f_z + dy * z[1], f_u + dy * u[1], f_v + dy * v[1]
            f_zu += dxy * (z[0] * u[1] + z[1] * u[0]) + dyy * z[1] * u[1]
            f_zv += dxy * (z[0] * v[1] + z[1] * v[0]) + dyy * z[1] * v[1]
            f_uv += dxy * (u[0] * v[1] + u[1] * v[0]) + dyy * u[1] * v[1]
            f_zuv += dxxy * (z[0] * u[0] * v[1] + z[0] * u[1] * v[0] + z[1] * u[0] * v[0])
            f_zuv += dxyy * (z[0] * u[1] * v[1] + z[1] * u[0] * v[1] + z[1] * u[1] * v[0])
            f_zuv += dyyy * z[1] * u[1] * v[1]
        w, o = (s[0], s[1], s[2]), (s[3], s[4], s[5])
        turn, shift = _exponential(scale(f, w), scale(f, o))
        Y, Y_u, Y_v, Y_uv = _carried(
            turn, shift, (Y, Y_u, Y_v, Y_uv), (
            (scale(f_z, w), scale(f_z, o)), (scale(f_u, w), scale(f_u, o)), (scale(f_v, w), scale(f_v, o)),
            (scale(f_zu, w), scale(f_zu, o)), (scale(f_zv, w), scale(f_zv, o)),
            (scale(f_uv, w), scale(f_uv, o)), (scale(f_zuv, w), scale(f_zuv, o))),
        )  # fmt: skip
    return Y, Y_u, Y_v, Y_uv


@njit
def _carried(turn, shift, before, added):
    """Return the twists after a factor (turn, shift): ``before``, seen from there, and the ones ``added`` by it."""
    (Y, Y_u, Y_v, Y_uv), (t_z, t_u, t_v, t_zu, t_zv, t_uv, t_zuv) = before, added
    X, X_u, X_v, X_uv = (
        _seen_from(turn, shift, Y),
        _seen_from(turn, shift, Y_u),
        _seen_from(turn, shift, Y_v),
        _seen_from(turn, shift, Y_uv),
    )
    by_v = bracket(t_v, X)
    X_uv = _sub_twists(_sub_twists(X_uv, bracket(t_v, X_u)), bracket(t_u, X_v))
    X_uv = _add_twists(_sub_twists(_add_twists(X_uv, bracket(t_u, by_v)), bracket(t_uv, X)), t_zuv)
    X_u, X_v = _add_twists(_sub_twists(X_u, bracket(t_u, X)), t_zu), _add_twists(_sub_twists(X_v, by_v), t_zv)
    return _add_twists(X, t_z), X_u, X_v, X_uv


@njit
def three(values, first, size):
    """Return ``size`` numbers of ``values`` (n,) from ``first`` on, filled up with zeros to three."""
    return (
        values[first] if size > 0 else 0.0,
        values[first + 1] if size > 1 else 0.0,
        values[first + 2] if size > 2 else 0.0,
    )


@njit
def pose_of(table, joint, q):
    """Return the pose E of a joint at coordinates ``q`` (6,): rows of its rotation, its origin, m.

    ``table`` (rows, WIDTH).
    """
    R, p = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), ZERO3
    stage = joint
    while stage >= 0:
        R, p = stage_pose(table, stage, three(q, int(table[stage, FIRST]), int(table[stage, SIZE])), R, p)
        stage = int(table[stage, NEXT])
    return R, p


@njit
def twist_of(table, joint, q, number):
    """Return S of one coordinate of a joint at ``q`` (6,): ((angular), (linear)); ``table`` (rows, WIDTH)."""
    Y, stage = ZERO6, joint
    while stage >= 0:
        first, size = int(table[stage, FIRST]), int(table[stage, SIZE])
        n = number - first
        z = (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0) if n < size else ZERO3
        Y = stage_twist(table, stage, three(q, first, size), z, Y)
        stage = int(table[stage, NEXT])
    return Y


@njit
def twist_and_change(table, joint, q, number, change):
    """Return S of one coordinate, and its change along a ``change`` (6,) of all ``q`` (6,); ``table`` (rows, WIDTH)."""
    Y, Y_u, stage = ZERO6, ZERO6, joint
    while stage >= 0:
        first, size = int(table[stage, FIRST]), int(table[stage, SIZE])
        n = number - first
        z = (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0) if 0 <= n < size else ZERO3
        here, along = three(q, first, size), three(change, first, size)
        Y, Y_u, _, _ = stage_twists(table, stage, here, z, along, ZERO3, Y, Y_u, ZERO6, ZERO6)
        stage = int(table[stage, NEXT])
    return Y, Y_u


@njit
def count(table, joint):
    """Return the number of coordinates of a joint; ``table`` (rows, WIDTH)."""
    total, stage = 0, joint
    while stage >= 0:
        total += int(table[stage, SIZE])
        stage = int(table[stage, NEXT])
    return total
