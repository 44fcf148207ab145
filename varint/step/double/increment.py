"""The last increment of a stage, from double-double residuals.

Newton's method in plain numbers leaves residuals of the size of round-off. Their mean is not zero: it depends on pose
and velocity, and acts as a small force. At order 6 a four-bar of 12 J loses 1e-18 J a step by it. Here the residuals
are evaluated in double-double (mathematics/double_double.py), from positions, quaternions and momenta that are
double-double themselves. One more increment of Newton's method, with the factors of the last one, makes them some
1e-20 of their terms. The mean energy of the four-bar then changes by less than 1e-21 J a step.

Double-double are positions, rotations and momenta of the bodies, and the rows of joints of the kinds
POINT, AXIS and DISTANCE: those of all lower pairs but the screw. Other rows, laws and loads are plain numbers, and
laws are evaluated before the increment.
"""

import math

from varint.base.numba import fma, four, indirect, njit
from varint.mathematics.double_double import (
    add,
    add_vectors,
    cross,
    divide,
    dot,
    dot4,
    dot_plain,
    exact_product,
    exact_sum,
    joined,
    scale,
    scale_by_plain,
    square_root,
    sub,
    times,
    vector_of,
)
from varint.mathematics.quaternion import rotation_matrix
from varint.step.dense import add_scaled6
from varint.step.double.rows import add_impulses, evaluate_extended, find_levers
from varint.step.energy.entries import add_load
from varint.step.lane_picks import block, pick, pick_pair, pick_row, pick_three, put, put_pair
from varint.step.newton import EPSILON, evaluate_step, newton_increment
from varint.step.plan import Plan, Workspace
from varint.step.roles import add_residuals, place_role_rows
from varint.step.rows import evaluate_rows

LEFT, TAKEN, UNSOLVED = range(3)  # what became of the increment of `sharpen`


@njit(contract=False, inline="always")
def _half_turn(ws, i, half_step):
    """Return u = h w / 2 of four bodies, and c - 1 with c = sqrt(1 - |u|^2), the cosine of half the rotation."""
    u = scale_by_plain(half_step, (pick_three(ws.velocity, i, 3), pick_three(ws.extended.velocity_rest, i, 3)))
    square = dot(u, u)
    c = square_root(sub((1.0, 0.0), square))
    return u, divide((-square[0], -square[1]), add((1.0, 0.0), c))


@njit(contract=False, inline="always")
def _spin(plan, ws, i, u):
    """Return the angular momentum J w of four bodies, and u x J w."""
    speed = pick_three(ws.velocity, i, 3), pick_three(ws.extended.velocity_rest, i, 3)
    J = plan.bodies.inertia
    momentum = vector_of(
        dot_plain(pick_row(J, i, 0), speed), dot_plain(pick_row(J, i, 1), speed), dot_plain(pick_row(J, i, 2), speed)
    )
    return momentum, cross(u, momentum)


@njit(contract=False, inline="always")
def _missing(ws, i, k, momentum):
    """Write the residual of four bodies, as plain numbers: an entry of their momenta, less goal and impulse."""
    goal, goal_rest = pick_pair(ws.goal, ws.goal_rest, i, k)
    impulse, impulse_rest = pick_pair(ws.extended.impulse, ws.extended.impulse_rest, i, k)
    head, t = exact_sum(momentum[0], -goal)
    head, t2 = exact_sum(head, -impulse)
    put(ws.residual_body, i, k, head + ((t + t2) + (momentum[1] - goal_rest - impulse_rest)))


@njit(contract=False)
def _residuals(plan, ws, start, end, h):
    """Write the residuals of the bodies to ``ws.residual_body``: the start momenta of the velocities, less ``ws.goal``
    and the impulses; and positions and quaternions of the pose ``end``.

    Quaternions get the norm 1 again. Rotation matrices stay.
    """
    nb = plan.bodies.mass.size
    for first in range(0, nb, 4):
        i = block(first, nb)
        m = plan.bodies.mass
        mass = four(m[i[0]], m[i[1]], m[i[2]], m[i[3]])
        for k in range(3):
            v = pick_pair(ws.velocity, ws.extended.velocity_rest, i, k)
            p, rest = exact_product(mass, v[0])
            _missing(ws, i, k, (p, fma(mass, v[1], rest)))
            moved = times((h, 0.0), v)
            x = pick_pair(ws.position[start], ws.position_rest[start], i, k)
            put_pair(ws.position[end], ws.position_rest[end], i, k, add(x, moved))
        u, c_less_one = _half_turn(ws, i, 0.5 * h)
        momentum, tilt = _spin(plan, ws, i, u)
        (a0, a1, a2), (r0, r1, r2) = add_vectors(scale(add((1.0, 0.0), c_less_one), momentum), tilt)
        _missing(ws, i, 3, (a0, r0))
        _missing(ws, i, 4, (a1, r1))
        _missing(ws, i, 5, (a2, r2))
        (u0, u1, u2), (s0, s1, s2) = u
        q, q_rest = ws.quat[start], ws.quat_rest[start]
        a, b = pick_pair(q, q_rest, i, 0), pick_pair(q, q_rest, i, 1)
        c, d = pick_pair(q, q_rest, i, 2), pick_pair(q, q_rest, i, 3)
        square = dot4((a, b, c, d), (a, b, c, d))
        scalar = add(c_less_one, (0.5 * ((1.0 - square[0]) - square[1]), 0.0))  # with the norm that is missing
        x, y, z = (u0, s0), (u1, s1), (u2, s2)
        nx, ny, nz = (-u0, -s0), (-u1, -s1), (-u2, -s2)
        q, q_rest = ws.quat[end], ws.quat_rest[end]
        put_pair(q, q_rest, i, 0, add(a, dot4((a, b, c, d), (scalar, nx, ny, nz))))
        put_pair(q, q_rest, i, 1, add(b, dot4((a, b, c, d), (x, scalar, z, ny))))
        put_pair(q, q_rest, i, 2, add(c, dot4((a, b, c, d), (y, nz, scalar, x))))
        put_pair(q, q_rest, i, 3, add(d, dot4((a, b, c, d), (z, y, nx, scalar))))


@njit(contract=False)
def _shift(plan, ws, end, h):
    """Move the pose ``end`` by ``ws.increment_body``, which the velocities have just got.

    In ``ws.position``, ``ws.position_rest``, ``ws.quat``, ``ws.quat_rest``. To first order, as it is of the size of
    round-off. With c and u as in `_half_turn`, and du the change of u, the rotation of the step changes by (c, -u) (-u
    . du / c, du), a quaternion in axes of the body at the end.
    """
    half_step = 0.5 * h
    for i in range(plan.bodies.mass.size):
        change, w = ws.increment_body[i], ws.velocity[i]
        x, x_rest = ws.position[end, i], ws.position_rest[end, i]
        for k in range(3):
            x[k], x_rest[k] = joined(x[k], x_rest[k] + h * change[k])
        u, d = (half_step * w[3], half_step * w[4], half_step * w[5]), (change[3], change[4], change[5])
        c = math.sqrt(1.0 - (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]))
        along = (u[0] * d[0] + u[1] * d[1] + u[2] * d[2]) / c
        t = (c * d[0] + u[0] * along, c * d[1] + u[1] * along, c * d[2] + u[2] * along)
        a = half_step * (t[0] - (u[1] * d[2] - u[2] * d[1]))
        b = half_step * (t[1] - (u[2] * d[0] - u[0] * d[2]))
        e = half_step * (t[2] - (u[0] * d[1] - u[1] * d[0]))
        q, rest = ws.quat[end, i], ws.quat_rest[end, i]
        q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
        q[0], rest[0] = joined(q0, rest[0] - q1 * a - q2 * b - q3 * e)
        q[1], rest[1] = joined(q1, rest[1] + q0 * a + q2 * e - q3 * b)
        q[2], rest[2] = joined(q2, rest[2] + q0 * b - q1 * e + q3 * a)
        q[3], rest[3] = joined(q3, rest[3] + q0 * e + q1 * b - q2 * a)


@njit(contract=False)
def _rotations(plan, ws, pose):
    """Write rotation matrices of the pose, and of the world, to ``ws.extended``."""
    nb, R, rest = plan.bodies.mass.size, ws.extended.rotation, ws.extended.rotation_rest
    for k in range(3):
        R[nb, k, k] = 1.0
    for first in range(0, nb, 4):
        i = block(first, nb)
        q, q_rest = ws.quat[pose], ws.quat_rest[pose]
        w, x = pick_pair(q, q_rest, i, 0), pick_pair(q, q_rest, i, 1)
        y, z = pick_pair(q, q_rest, i, 2), pick_pair(q, q_rest, i, 3)
        xx, yy, zz = times(x, x), times(y, y), times(z, z)
        xy, xz, yz = times(x, y), times(x, z), times(y, z)
        wx, wy, wz = times(w, x), times(w, y), times(w, z)
        put_pair(R[:, 0], rest[:, 0], i, 0, _one_minus_twice(add(yy, zz)))
        put_pair(R[:, 1], rest[:, 1], i, 1, _one_minus_twice(add(xx, zz)))
        put_pair(R[:, 2], rest[:, 2], i, 2, _one_minus_twice(add(xx, yy)))
        put_pair(R[:, 0], rest[:, 0], i, 1, _twice(sub(xy, wz)))
        put_pair(R[:, 1], rest[:, 1], i, 0, _twice(add(xy, wz)))
        put_pair(R[:, 0], rest[:, 0], i, 2, _twice(add(xz, wy)))
        put_pair(R[:, 2], rest[:, 2], i, 0, _twice(sub(xz, wy)))
        put_pair(R[:, 1], rest[:, 1], i, 2, _twice(sub(yz, wx)))
        put_pair(R[:, 2], rest[:, 2], i, 1, _twice(add(yz, wx)))


@njit(contract=False, inline="always")
def _twice(x):
    return 2.0 * x[0], 2.0 * x[1]


@njit(contract=False, inline="always")
def _one_minus_twice(x):
    """Return 1 - 2 x."""
    return sub((1.0, 0.0), (2.0 * x[0], 2.0 * x[1]))


@njit
def _worst_row(plan, ws):
    """Return the largest entry of ``ws.residual_row`` of constraint rows, in m, or m/s of values over ``h``."""
    worst = 0.0
    for r in range(plan.rows.role.size):
        if ws.released[r] == 0.0:
            worst = max(worst, plan.rows.scale[r] * abs(ws.residual_row[r]))
    return worst


@njit
def _row_round_off(plan, ws):
    """Return the round-off of the value of a row, m."""
    size = plan.bodies.length[0]
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            size = max(size, max(abs(ws.position[0, i, k]), abs(ws.position[1, i, k])))
    return 8.0 * EPSILON * size


@njit
def _take_increment(plan, ws, start):
    """Add the increment to ``ws.velocity``, ``ws.multiplier`` and the impulses in ``ws.extended``.

    The rests of the velocities go to ``ws.extended.velocity_rest``.
    """
    nb, work = plan.bodies.mass.size, ws.extended
    for i in range(nb):
        for k in range(6):
            ws.velocity[i, k], work.velocity_rest[i, k] = exact_sum(ws.velocity[i, k], ws.increment_body[i, k])
    for j in range(plan.joints.side.shape[0]):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if ws.released[r] > 0.0:
                continue
            ws.multiplier[r] += ws.increment_row[r]
            for s in range(2):
                i = plan.joints.side[j, s]
                if i != nb:
                    add_scaled6(work.impulse_rest[i], ws.increment_row[r], ws.jacobian[start, r, s])


@njit
def _take_back(plan, ws):
    """Reset ``ws.velocity`` and ``ws.multiplier`` to before `_take_increment`; velocities come from ``ws.base``."""
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.velocity[i, k] = ws.base[i, k]
    for r in range(plan.rows.role.size):
        if ws.released[r] == 0.0:
            ws.multiplier[r] -= ws.increment_row[r]


@indirect(seconds=8, what="steps without drift by round-off", contract=False)
def sharpen(plan: Plan, ws: Workspace, start: int, end: int, h: float, tol: float) -> int:
    """Take one more Newton increment of a solved stage of ``h`` seconds, from residuals in double-double.

    Changes velocities, multipliers and the pose ``end`` with its Jacobian. Writes rests of the velocities and the
    impulses of rows and efforts to ``ws.extended``, which `finish_extended` needs. Residuals, ``ws.residual_body``, are
    invalid afterwards. Close to a singular pose an increment may be pure round-off and open rows that were closed. Such
    an increment is rejected: velocities, from ``ws.base``, pose and residuals are then those from before.
    ``ws.extended.evaluated``: whether the stage was evaluated at its velocities. Returns TAKEN, LEFT, or UNSOLVED if it
    was not, and has residuals above ``tol``.
    """
    # The increment (dv, dlambda) solves, with the factors of the last one,
    #   D dv - G^T dlambda = -(p(v) - goal - G^T lambda - efforts),   H dv = -g(end) / h,
    # where both right-hand sides are double-double up to the final subtraction. Then v and lambda take it, and the pose
    # ``end`` moves by h dv. It is kept if no row is open by more than before, or by more than round-off.
    nb, work = plan.bodies.mass.size, ws.extended
    before = _worst_row(plan, ws) if work.evaluated[0] else 0.0  # of values over h
    for i in range(nb):
        for k in range(6):
            ws.residual_body[i, k] = work.velocity_rest[i, k] = 0.0
            ws.base[i, k] = ws.velocity[i, k]
    add_residuals(plan, ws, start, end, h)  # takes their impulses off ``ws.residual_body``, zero so far
    for i in range(nb):
        for k in range(6):
            work.impulse[i, k], work.impulse_rest[i, k] = -ws.residual_body[i, k], 0.0
    if work.lever_end[2] == 0:
        find_levers(plan, ws)
    _rotations(plan, ws, start)
    add_impulses(plan, ws, start)
    _residuals(plan, ws, start, end, h)
    _rotations(plan, ws, end)
    evaluate_extended(plan, ws, end, h)
    if math.isfinite(newton_increment(plan, ws, end, h, start, True)):
        _take_increment(plan, ws, start)
        _shift(plan, ws, end, h)
        for i in range(nb):
            rotation_matrix(ws.quat[end, i], ws.rotation[end, i])
        evaluate_rows(plan, ws, ws.position[end], ws.rotation[end], ws.residual_row, ws.jacobian[end])
        place_role_rows(plan, ws, end)
        if _worst_row(plan, ws) / abs(h) <= max(before, _row_round_off(plan, ws) / abs(h)):
            return TAKEN
        _take_back(plan, ws)
    _, worst, _, size = evaluate_step(plan, ws, start, end, h, start, 0.0)
    return LEFT if work.evaluated[0] or worst <= max(tol, 8.0 * EPSILON * size) else UNSOLVED


@njit(contract=False, inline="always")
def _end_momentum(ws, i, k, half_step, tilt):
    """Write an entry of the momenta of four bodies at the end of a stage."""
    total = add(pick_pair(ws.goal, ws.goal_rest, i, k), pick_pair(ws.extended.impulse, ws.extended.impulse_rest, i, k))
    total = sub(total, (2.0 * tilt[0], 2.0 * tilt[1]))
    put_pair(ws.momentum, ws.momentum_rest, i, k, add(total, (half_step * pick(ws.load, i, k), 0.0)))


@indirect(seconds=3, what="steps without drift by round-off", contract=False)
def finish_extended(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Replace ``ws.momentum`` by the momenta at the end of a stage, after a `sharpen` that took its increment.

    Accounts for the work of ``ws.load`` over the stage: that of half its impulse at the start and half at the end.
    """
    nb = plan.bodies.mass.size
    for i in range(nb):
        p, v, work = ws.momentum[i], ws.velocity[i], 0.0
        for k in range(6):
            work += (ws.goal[i, k] - p[k] + half_step * ws.load[i, k]) * v[k]
        add_load(plan, ws, i, work)
    for first in range(0, nb, 4):
        i = block(first, nb)
        u, _ = _half_turn(ws, i, half_step)
        _, ((t0, t1, t2), (s0, s1, s2)) = _spin(plan, ws, i, u)
        nothing = 0.0 * t0
        _end_momentum(ws, i, 0, half_step, (nothing, nothing))
        _end_momentum(ws, i, 1, half_step, (nothing, nothing))
        _end_momentum(ws, i, 2, half_step, (nothing, nothing))
        _end_momentum(ws, i, 3, half_step, (t0, s0))
        _end_momentum(ws, i, 4, half_step, (t1, s1))
        _end_momentum(ws, i, 5, half_step, (t2, s2))
