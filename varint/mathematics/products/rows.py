"""The rows of joints that are products of exponentials: the second body keeps to the motions that the joint allows.

A joint of k coordinates q (k,) has 6 - k rows. E(q): pose that the joint gives the second body in axes of the first, a
product of exponentials, with rotation R_E and position p_E; T: the pose that it has, R_T and p_T; L: a length, m, so
that all components of the error e (6,) are in m:

    e = (L sin(angle) axis of R_E^T R_T,  R_E^T (p_T - p_E)),      P e = 0 for k components P gives q,

and the rows are the other components, N e. P is chosen by complete pivoting on M = de/dq (6, k) at the nodes of a run,
so that it does not change within a step. The change of a row along a motion is exactly c . de with the covector
c = N - (N M) (P M)^-1 P; the change of c follows from c M = 0. The coordinates q themselves change by c . de with
c = -(P M)^-1 P, whose change likewise follows from c M = -1.

Arguments with one meaning in all functions: ``products``, ``work``: records of the arrays of all joints (records.py);
``table`` (rows, WIDTH), ``start``: the stages of all joints, and the first of this one (stages.py); ``n``: number of
the joint; ``k``: number of its coordinates; ``length``: L. Vectors (3,) are tuples, rotations (3, 3) tuples of rows.
In names, ``_w`` is the rotational part and ``_v`` the translational part.
"""

from varint.base.numba import Float1, Float2, Float3, indirect, njit
from varint.mathematics.products.records import Products, ProductWork
from varint.mathematics.products.stages import (
    CLOSED,
    FIRST,
    NEXT,
    PERIOD,
    count,
    pose_of,
    rows_back,
    twist_and_change,
    twist_of,
)
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

ENOUGH = 1e-8  # correction over 1 + |coordinate|, after which the next one, of the order of its square, is round-off
ITERATIONS = 20  # most iterations of Newton's method for the coordinates
MORE = 1.0 + 1e-6  # times the largest entry so far: of entries that differ by round-off the first is the pivot
INVERSE = 6  # rows of ``ProductWork.matrix`` from which (P M)^-1 stands, below the rows of M


@njit
def error_of(R, p, turn, shift, length):
    """Return e_w and e_v (3,), m, and X = R_E^T R_T (3, 3).

    R, p : rotation (3, 3) and position (3,), m, of E
    turn, shift : the same of T
    length : of the mechanism, m
    """
    x, y, z = (
        rows_back(R, (turn[0][0], turn[1][0], turn[2][0])),
        rows_back(R, (turn[0][1], turn[1][1], turn[2][1])),
        rows_back(R, (turn[0][2], turn[1][2], turn[2][2])),
    )
    X = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    half = 0.5 * length
    w = (half * (X[2][1] - X[1][2]), half * (X[0][2] - X[2][0]), half * (X[1][0] - X[0][1]))
    return w, rows_back(R, sub(shift, p)), X


@njit
def _trace(X):
    """Return the trace of X, three rows."""
    return X[0][0] + X[1][1] + X[2][2]


@njit
def _rows_times(X, c):
    """Return X c for three rows."""
    return dot(X[0], c), dot(X[1], c), dot(X[2], c)


@njit
def _tilt(X, c, length):
    """Return the change of e_w, m, if X changes by X [c], c (3,) in rad: L (tr X - X^T) c / 2."""
    return sub(scale(0.5 * length * _trace(X), c), scale(0.5 * length, rows_back(X, c)))


@njit
def slopes(table, start, q, k, e_v, X, length, matrix):
    """Write M (6, k) at the coordinates ``q`` (k,) into ``matrix`` (6 k,), row by row; e_v, X: see `error_of`."""
    for n in range(k):
        w, v = twist_of(table, start, q, n)
        turn = _tilt(X, rows_back(X, w), length)
        lever = cross(w, e_v)
        for m in range(3):
            matrix[m * k + n] = -turn[m]
            matrix[(3 + m) * k + n] = -v[m] - lever[m]


@njit
def reduce(matrix, k, order, choose):
    """Reduce P M to the identity by operations on columns of ``matrix`` (72,), in place.

    ``matrix`` holds rows of k: on entry M; on return the identity in the rows of P, N M (P M)^-1 in those of N, and
    (P M)^-1 in rows 6 : 6 + k. ``order`` (6,): numbers of the components P, then N; written, by complete pivoting, if
    ``choose``. Within a step the joint is open by O(h^2), and coordinates depend on the choice: round-off must not
    decide it.
    """
    for c in range(k):
        for n in range(k):
            matrix[(INVERSE + c) * k + n] = 1.0 if c == n else 0.0
    if choose:
        for m in range(6):
            order[m] = m
    for c in range(k):
        row, column, largest = c, c, -1.0
        for m in range(c, 6 if choose else c + 1):
            for n in range(c, k):
                size = abs(matrix[order[m] * k + n])
                if size > MORE * largest:
                    row, column, largest = m, n, size
        order[c], order[row] = order[row], order[c]
        pivot = order[c]
        for m in range(6 + k):
            matrix[m * k + c], matrix[m * k + column] = matrix[m * k + column], matrix[m * k + c]
        factor = 1.0 / matrix[pivot * k + c]
        for m in range(6 + k):
            matrix[m * k + c] *= factor
        for n in range(k):
            if n != c:
                factor = matrix[pivot * k + n]
                for m in range(6 + k):
                    matrix[m * k + n] -= factor * matrix[m * k + c]


@njit
def component(w, v, m):
    """Return component m, from 0 to 5, of the pair of vectors ``w``, ``v`` (3,)."""
    return w[m] if m < 3 else v[m - 3]


@njit
def unit_pair(m):
    """Return the pair of vectors whose component m is one, the others zero."""
    return (
        (1.0 if m == 0 else 0.0, 1.0 if m == 1 else 0.0, 1.0 if m == 2 else 0.0),
        (1.0 if m == 3 else 0.0, 1.0 if m == 4 else 0.0, 1.0 if m == 5 else 0.0),
    )


@njit
def relative_pose(A, B, x_a, x_b):
    """Return rotation and position, m, of the second body in axes of the first.

    ``A``, ``B`` (3, 3) and ``x_a``, ``x_b`` (3,), m, world: poses of the first and the second body.
    """
    x = rotate_back(A, (B[0, 0], B[1, 0], B[2, 0]))
    y = rotate_back(A, (B[0, 1], B[1, 1], B[2, 1]))
    z = rotate_back(A, (B[0, 2], B[1, 2], B[2, 2]))
    turn = ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
    return turn, rotate_back(A, sub(vector(x_b), vector(x_a)))


@njit
def solve(products, work, n, turn, shift):
    """Solve P e = 0 for the coordinates of joint n, from ``work.q`` on; return e_w, e_v (3,), X, R_E (3, 3) there.

    ``turn`` (3, 3), ``shift`` (3,), m: T, see `relative_pose`. Writes the coordinates to ``work.trial`` and the reduced
    M (`reduce`) to ``work.matrix``. Without convergence the coordinates are those of ``work.q``.
    """
    table, start, length = products.table, products.start[n], products.length[0]
    k = count(table, start)
    q, order, matrix = work.trial[n], work.order[n], work.matrix[n]
    for c in range(k):
        q[c] = work.q[n, c]
    enough = False
    for trial in range(ITERATIONS):
        R, p = pose_of(table, start, q)
        e_w, e_v, X = error_of(R, p, turn, shift, length)
        slopes(table, start, q, k, e_v, X, length, matrix)
        reduce(matrix, k, order, False)
        if enough:
            break
        largest = 0.0
        for r in range(k):
            change = 0.0
            for c in range(k):
                change -= matrix[(INVERSE + r) * k + c] * component(e_w, e_v, order[c])
            q[r] += change
            largest = max(largest, abs(change) / (1.0 + abs(q[r])))
        enough = largest < ENOUGH
        if trial == ITERATIONS - 2 and not enough:  # too far from the joint: no solution, so keep the known coordinates
            enough = True
            for c in range(k):
                q[c] = work.q[n, c]
    return e_w, e_v, X, R


@njit
def leap_of_turns(table, start, work, n):
    """Return the largest change of an angle of joint n, rad, from ``work.q`` to the last `solve`.

    ``table`` (rows, WIDTH): see the module.
    """
    largest, stage = 0.0, start
    while stage >= 0:
        if table[stage, PERIOD] > 0.0 and table[stage, CLOSED] == 0.0:
            c = int(table[stage, FIRST])
            largest = max(largest, abs(work.trial[n, c] - work.q[n, c]))
        stage = int(table[stage, NEXT])
    return largest


@njit
def _covector(work, n, k, number, e_w, e_v):
    """Return c_w and c_v (3,) of the row of component ``number``, one of N, and the value c . e, m.

    ``k``: number of coordinates of joint n; ``e_w``, ``e_v`` (3,), m: see `error_of`.
    """
    value = component(e_w, e_v, number)
    c_w, c_v = unit_pair(number)
    for c in range(k):
        factor, other = work.matrix[n, number * k + c], work.order[n, c]
        value -= factor * component(e_w, e_v, other)
        p_w, p_v = unit_pair(other)
        c_w, c_v = sub(c_w, scale(factor, p_w)), sub(c_v, scale(factor, p_v))
    return c_w, c_v, value


@njit
def _covector_at(work, n, k, i, e_w, e_v):
    """Return c_w, c_v and the value of row i of joint n; of coordinate i - (6 - k) from i = 6 - k on."""
    if i < 6 - k:
        return _covector(work, n, k, work.order[n, k + i], e_w, e_v)
    c_w, c_v, j = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), i - (6 - k)
    for c in range(k):
        p_w, p_v = unit_pair(work.order[n, c])
        factor = work.matrix[n, (INVERSE + j) * k + c]
        c_w, c_v = sub(c_w, scale(factor, p_w)), sub(c_v, scale(factor, p_v))
    return c_w, c_v, work.trial[n, j]


@njit
def _push(X, R, c_w, c_v, length):
    """Return the gradients (3,) of c . e by the second rotation, its body axes, and position, axes of the first body.

    ``X``, ``R`` (3, 3): see `error_of`; ``c_w``, ``c_v`` (3,): see `_covector`; ``length``: of the mechanism, m.
    """
    half = 0.5 * length
    return sub(scale(half * _trace(X), c_w), scale(half, _rows_times(X, c_w))), _rows_times(R, c_v)


@njit
def _write_row(products, work, n, i, A, turn, shift, solution, G_a, G_b):
    """Return the value of row i of joint n, or of a coordinate (see `_covector_at`), and write its gradient.

    A : (3, 3) rotation of the first body
    turn, shift : T, see `relative_pose`
    solution : result of `solve`

    Writes ``G_a`` (6,) and ``G_b`` (6,): gradients by motions of the first and the second body, m, world, and rad, body
    axes.
    """
    e_w, e_v, X, R = solution
    k = count(products.table, products.start[n])
    c_w, c_v, value = _covector_at(work, n, k, i, e_w, e_v)
    torque, force = _push(X, R, c_w, c_v, products.length[0])
    push, facing, lever = rotate(A, force), _rows_times(turn, torque), cross(shift, force)
    for m in range(3):
        G_b[m], G_a[m] = push[m], -push[m]
        G_b[3 + m], G_a[3 + m] = torque[m], -facing[m] - lever[m]
    return value


@indirect(seconds=3, what="joints as products of exponentials")
def product_rows(
    products: Products, work: ProductWork, n: int, position: Float2, rotation: Float3, g: Float1, jacobian: Float3
) -> None:
    """Write values ``g`` (nr,) and the Jacobian ``jacobian`` (nr, 2, 6), by side, of the rows of joint n.

    ``position`` (nb + 1, 3), m, and ``rotation`` (nb + 1, 3, 3): poses of the bodies.
    e_w changes with X [theta_b - R^T theta_a], e_v by R_E^T A^T (dx_b - dx_a) + R_E^T (p x theta_a).
    """
    a, b, side = products.body[n, 0], products.body[n, 1], products.side[n]
    turn, shift = relative_pose(rotation[a], rotation[b], position[a], position[b])
    solution = solve(products, work, n, turn, shift)
    for i in range(6 - count(products.table, products.start[n])):
        r = products.row[n] + i
        g[r] = _write_row(
            products, work, n, i, rotation[a], turn, shift, solution, jacobian[r, side], jacobian[r, 1 - side]
        )


@indirect(seconds=2, what="joints as products of exponentials")
def product_row(
    products: Products, work: ProductWork, n: int, i: int,
    x_a: Float1, A: Float2, x_b: Float1, B: Float2, G_a: Float1, G_b: Float1,
) -> float:  # fmt: skip
    """Return the value of row i of joint n, or of a coordinate (see `_covector_at`), and write its gradient.

    ``x_a``, ``x_b`` (3,), m, world, and ``A``, ``B`` (3, 3): poses of the two bodies; ``G_a``, ``G_b`` (6,), written.
    """
    turn, shift = relative_pose(A, B, x_a, x_b)
    solution = solve(products, work, n, turn, shift)
    return _write_row(products, work, n, i, A, turn, shift, solution, G_a, G_b)


@njit
def _change_of_covector(products, work, n, covector, q_change, X, X_change, e_v, e_v_change):
    """Return the changes of c_w and c_v if X, e_v and the coordinates change: dc M = -c dM, so dc = -(c dM) (P M)^-1 P.

    covector : c_w, c_v
    q_change : (k,) change of the coordinates
    X, e_v : see `error_of`; X_change, e_v_change: their changes
    """
    table, start, length = products.table, products.start[n], products.length[0]
    k, (c_w, c_v) = count(table, start), covector
    half, trace, growth = 0.5 * length, _trace(X), _trace(X_change)
    dc_w, dc_v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(k):
        (w, _), (dw, dv) = twist_and_change(table, start, work.trial[n], j, q_change)
        y = rows_back(X, w)
        dy = add(rows_back(X_change, w), rows_back(X, dw))
        turn = add(scale(growth, y), sub(scale(trace, dy), add(rows_back(X_change, y), rows_back(X, dy))))
        lever = add(cross(dw, e_v), cross(w, e_v_change))
        along = -half * dot(c_w, turn) - dot(c_v, add(dv, lever))
        for c in range(k):
            p_w, p_v = unit_pair(work.order[n, c])
            factor = along * work.matrix[n, (INVERSE + j) * k + c]
            dc_w, dc_v = sub(dc_w, scale(factor, p_w)), sub(dc_v, scale(factor, p_v))
    return dc_w, dc_v


@indirect(seconds=2, what="joints as products of exponentials")
def curve_product_row(
    products: Products, work: ProductWork, n: int, i: int, x_a: Float1, A: Float2, x_b: Float1, B: Float2,
    motions: tuple[Float1, Float1], out: tuple[Float1, Float1],
) -> None:  # fmt: skip
    """Write the change of the gradient of row i of joint n, or of a coordinate, along motions of its bodies.

    ``x_a``, ``x_b`` (3,), m, world, and ``A``, ``B`` (3, 3): poses of the two bodies. ``motions``: the motions (6,) of
    both, m, world, then rad, body axes. Writes ``out``, the changes (6,) of both gradients, ``work.best``, the change
    of the coordinates, and the arrays of `solve`.
    """
    table, start, length = products.table, products.start[n], products.length[0]
    k = count(table, start)
    turn, shift = relative_pose(A, B, x_a, x_b)
    e_w, e_v, X, R = solve(products, work, n, turn, shift)
    motion_a, motion_b = motions
    turn_a, turn_b = vector(motion_a[3:]), vector(motion_b[3:])
    spin = sub(turn_b, rows_back(turn, turn_a))  # of T, in axes of b
    dshift = sub(rotate_back(A, sub(vector(motion_b), vector(motion_a))), cross(turn_a, shift))
    de_w, de_v = _tilt(X, spin, length), rows_back(R, dshift)
    q_change = work.best[n]
    for r in range(k):
        q_change[r] = 0.0
        for c in range(k):
            q_change[r] -= work.matrix[n, (INVERSE + r) * k + c] * component(de_w, de_v, work.order[n, c])
    w, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(k):
        own_w, own_v = twist_of(table, start, work.trial[n], j)
        w, v = add(w, scale(q_change[j], own_w)), add(v, scale(q_change[j], own_v))
    X_change = (
        add(cross(X[0], spin), sub(scale(w[2], X[1]), scale(w[1], X[2]))),
        add(cross(X[1], spin), sub(scale(w[0], X[2]), scale(w[2], X[0]))),
        add(cross(X[2], spin), sub(scale(w[1], X[0]), scale(w[0], X[1]))),
    )
    e_v_change = sub(de_v, add(v, cross(w, e_v)))
    c_w, c_v, _ = _covector_at(work, n, k, i, e_w, e_v)
    dc_w, dc_v = _change_of_covector(products, work, n, (c_w, c_v), q_change, X, X_change, e_v, e_v_change)
    torque, force = _push(X, R, c_w, c_v, length)
    dtorque, dforce = _push(X, R, dc_w, add(dc_v, cross(w, c_v)), length)
    half = 0.5 * length
    dtorque = add(dtorque, sub(scale(half * _trace(X_change), c_w), scale(half, _rows_times(X_change, c_w))))
    push = rotate(A, add(dforce, cross(turn_a, force)))
    facing = _rows_times(turn, add(dtorque, cross(spin, torque)))
    lever = add(cross(dshift, force), cross(shift, dforce))
    out_a, out_b = out
    for m in range(3):
        out_a[m], out_b[m] = -push[m], push[m]
        out_a[3 + m], out_b[3 + m] = -facing[m] - lever[m], dtorque[m]
