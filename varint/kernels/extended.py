"""The last increment of a stage, from double-double residuals.

Newton's method in plain numbers leaves residuals of the size of round-off. Their mean is not zero: it depends on pose
and velocity, and acts as a small force. At order 6 a four-bar of 12 J loses 1e-18 J a step by it. Here the residuals
are evaluated in double-double (algebra/double_double.py), from positions, quaternions and momenta that are
double-double themselves. One more increment of Newton's method, with the factors of the last one, makes them some
1e-20 of their terms. The mean energy of the four-bar then changes by less than 1e-21 J a step.

Double-double are positions, rotations and momenta of the bodies, and the rows of joints of the kinds
POINT, AXIS and DISTANCE: those of all lower pairs but the screw. Other rows, laws and loads are plain numbers, and
laws are evaluated before the increment.

``ws.extended.rotation`` holds the rotation matrices of one pose: functions with a ``pose`` need `_rotations` of that
pose first.
"""

import math

from varint._numba import indirect, njit
from varint.algebra.double_double import (
    ZERO,
    add,
    add_vectors,
    cross,
    divide,
    dot,
    dot4,
    exact_product,
    exact_sum,
    joined,
    plain_vector,
    rotate,
    rotate_back,
    scale,
    square_root,
    sub,
    sub_vectors,
    times,
    vector,
    vector_of,
)
from varint.algebra.quaternion import rotation_matrix
from varint.kernels.balance import add_load
from varint.kernels.dense import add_scaled6
from varint.kernels.efforts import apply_efforts
from varint.kernels.measures import AXIS, DISTANCE, POINT
from varint.kernels.newton import EPSILON, evaluate_step, has_efforts, newton_increment
from varint.kernels.plan import JOINT, Plan, Workspace
from varint.kernels.rows import evaluate_rows
from varint.terms.kernels.term_rows import close_rows


@njit(contract=False)
def _half_turn(ws, i, half_step):
    """u = h w / 2 of body i, and c - 1 with c = sqrt(1 - |u|^2), the cosine of half the rotation of the step."""
    w, rest = ws.velocity[i], ws.extended.velocity_rest[i]
    u = scale((half_step, 0.0), vector(w[3:], rest[3:]))
    square = dot(u, u)
    root = square_root(sub((1.0, 0.0), square))
    return u, divide((-square[0], -square[1]), add((1.0, 0.0), root))


@njit(contract=False)
def _advance(plan, ws, start, end, h):
    """Write positions and quaternions of the pose ``end`` from those of ``start`` and the velocities.

    Quaternions get the norm 1 again. Rotation matrices stay.
    """
    for i in range(plan.bodies.mass.size):
        v, rest = ws.velocity[i], ws.extended.velocity_rest[i]
        x, x_rest = ws.position, ws.position_rest
        for k in range(3):
            change = times((h, 0.0), (v[k], rest[k]))
            x[end, i, k], x_rest[end, i, k] = add((x[start, i, k], x_rest[start, i, k]), change)
        u, c_less_one = _half_turn(ws, i, 0.5 * h)
        (u0, u1, u2), (s0, s1, s2) = u
        q, q_rest = ws.quat[start, i], ws.quat_rest[start, i]
        a, b, c, d = (q[0], q_rest[0]), (q[1], q_rest[1]), (q[2], q_rest[2]), (q[3], q_rest[3])
        square = dot4((a, b, c, d), (a, b, c, d))
        missing_norm = 0.5 * ((1.0 - square[0]) - square[1])
        scalar = add(c_less_one, (missing_norm, 0.0))
        x_, y_, z_ = (u0, s0), (u1, s1), (u2, s2)
        nx, ny, nz = (-u0, -s0), (-u1, -s1), (-u2, -s2)
        out, out_rest = ws.quat[end, i], ws.quat_rest[end, i]
        out[0], out_rest[0] = add(a, dot4((a, b, c, d), (scalar, nx, ny, nz)))
        out[1], out_rest[1] = add(b, dot4((a, b, c, d), (x_, scalar, z_, ny)))
        out[2], out_rest[2] = add(c, dot4((a, b, c, d), (y_, nz, scalar, x_)))
        out[3], out_rest[3] = add(d, dot4((a, b, c, d), (z_, y_, nx, scalar)))


@njit(contract=False)
def _shift(plan, ws, end, h):
    """Move the pose ``end`` by ``ws.increment_body``, which the velocities have just got.

    To first order, as it is of the size of round-off. With c and u as in `_half_turn`, and du the change of u, the
    rotation of the step changes by (c, -u) (-u . du / c, du), a quaternion in axes of the body at the end.
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
    """Write rotation matrices of the pose to ``ws.extended``."""
    for i in range(plan.bodies.mass.size):
        q, rest = ws.quat[pose, i], ws.quat_rest[pose, i]
        w, x, y, z = (q[0], rest[0]), (q[1], rest[1]), (q[2], rest[2]), (q[3], rest[3])
        xx, yy, zz = times(x, x), times(y, y), times(z, z)
        xy, xz, yz = times(x, y), times(x, z), times(y, z)
        wx, wy, wz = times(w, x), times(w, y), times(w, z)
        R, R_rest = ws.extended.rotation[i], ws.extended.rotation_rest[i]
        R[0, 0], R_rest[0, 0] = _one_minus_twice(add(yy, zz))
        R[1, 1], R_rest[1, 1] = _one_minus_twice(add(xx, zz))
        R[2, 2], R_rest[2, 2] = _one_minus_twice(add(xx, yy))
        R[0, 1], R_rest[0, 1] = _twice(sub(xy, wz))
        R[1, 0], R_rest[1, 0] = _twice(add(xy, wz))
        R[0, 2], R_rest[0, 2] = _twice(add(xz, wy))
        R[2, 0], R_rest[2, 0] = _twice(sub(xz, wy))
        R[1, 2], R_rest[1, 2] = _twice(sub(yz, wx))
        R[2, 1], R_rest[2, 1] = _twice(add(yz, wx))


@njit(contract=False, inline="always")
def _twice(x):
    return 2.0 * x[0], 2.0 * x[1]


@njit(contract=False, inline="always")
def _one_minus_twice(x):
    """1 - 2 x."""
    return sub((1.0, 0.0), (2.0 * x[0], 2.0 * x[1]))


@njit(contract=False, inline="always")
def _is_extended(plan, r):
    """Whether the value of row r is extended."""
    kind = plan.measures.kind[r]
    return (kind == POINT or kind == AXIS or kind == DISTANCE) and plan.rows.role[r] == JOINT


@njit(contract=False, inline="always")
def _shares_lever(plan, r, before):
    """Whether `_lever` gives the same for rows r and ``before`` of a joint; False where ``before`` is -1."""
    if before < 0 or plan.measures.kind[r] != plan.measures.kind[before]:
        return False
    w, other = plan.measures.w[r], plan.measures.w[before]
    return w[0] == other[0] and w[1] == other[1] and w[2] == other[2]


@njit(contract=False, inline="always")
def _to_world(plan, ws, i, d):
    """A vector given in axes of body i, in those of the world. Slot nb is the world itself."""
    return rotate(ws.extended.rotation[i], ws.extended.rotation_rest[i], d) if i < plan.bodies.mass.size else d


@njit(contract=False, inline="always")
def _to_body(plan, ws, i, d):
    """A vector given in axes of the world, in those of body i. Slot nb is the world itself."""
    return rotate_back(ws.extended.rotation[i], ws.extended.rotation_rest[i], d) if i < plan.bodies.mass.size else d


@njit(contract=False)
def _lever(plan, ws, pose, r, a, b):
    """Vector from the centre of a to the point of b, m; for an AXIS row the direction of b. In axes of a.

    ``a``, ``b``: slots of the first and the second body of the formula in measures/.
    """
    d = _to_world(plan, ws, b, plain_vector(plan.measures.w[r]))
    if plan.measures.kind[r] != AXIS:
        x, x_rest, nb = ws.position[pose], ws.position_rest[pose], plan.bodies.mass.size
        if b != nb:
            d = add_vectors(d, vector(x[b], x_rest[b]))
        if a != nb:
            d = sub_vectors(d, vector(x[a], x_rest[a]))
    return _to_body(plan, ws, a, d)


@njit(contract=False)
def _over_distance(plan, r, lever):
    """n of a DISTANCE row, axes of a: the vector from the point of a to that of b, divided by the wanted distance."""
    (x, y, z), (s, t, v) = sub_vectors(lever, plain_vector(plan.measures.u[r]))
    c = (plan.measures.c[r], 0.0)
    return vector_of(divide((x, s), c), divide((y, t), c), divide((z, v), c))


@njit(contract=False)
def _values(plan, ws, pose, h):
    """Write the values of extended rows at a pose, divided by ``h``, to ``ws.residual_row``; other rows stay.

    With d the `_lever` and u, c of the row: u . d - c of a POINT, u . d of an AXIS, c (n . n - 1) / 2 of a DISTANCE.
    """
    for j in range(plan.joints.side.shape[0]):
        side_a = plan.joints.first_body[j]
        a, b = plan.joints.side[j, side_a], plan.joints.side[j, 1 - side_a]
        before, lever = -1, ZERO
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if not _is_extended(plan, r):
                continue
            if not _shares_lever(plan, r, before):
                lever, before = _lever(plan, ws, pose, r, a, b), r
            c, factor = plan.measures.c[r], 1.0
            if plan.measures.kind[r] == DISTANCE:
                n = _over_distance(plan, r, lever)
                g, factor = sub(dot(n, n), (1.0, 0.0)), 0.5 * c
            else:
                g = dot(plain_vector(plan.measures.u[r]), lever)
                if plan.measures.kind[r] == POINT:
                    g = sub(g, (c, 0.0))
            ws.residual_row[r] = factor * (g[0] + g[1]) / h


@njit(contract=False, inline="always")
def _add(ws, i, first, sign, a):
    """Add ``sign`` times an extended vector to the impulse of body i, from entry ``first`` on: 0 force, 3 torque."""
    p, rest = ws.extended.impulse[i], ws.extended.impulse_rest[i]
    for k in range(3):
        p[first + k], error = exact_sum(p[first + k], sign * a[0][k])
        rest[first + k] += error + sign * a[1][k]


@njit(contract=False)
def _impulses(plan, ws, pose):
    """Add the impulses of the rows that are constraints, along their gradients at a pose, to ``ws.extended.impulse``.

    Extended rows of a joint that share a lever act together: ``push`` is their impulse on b, in axes of a.
    """
    nb = plan.bodies.mass.size
    for j in range(plan.joints.side.shape[0]):
        side_a = plan.joints.first_body[j]
        a, b = plan.joints.side[j, side_a], plan.joints.side[j, 1 - side_a]
        r, last = plan.joints.rows[j], plan.joints.rows[j + 1]
        while r < last:
            if ws.compliance[r] > 0.0:
                r += 1
                continue
            if not _is_extended(plan, r):
                for s in range(2):
                    i = plan.joints.side[j, s]
                    if i != nb:
                        gradient = ws.jacobian[pose, r, s]
                        _add(ws, i, 0, ws.multiplier[r], plain_vector(gradient))
                        _add(ws, i, 3, ws.multiplier[r], plain_vector(gradient[3:]))
                r += 1
                continue
            first, push = r, ZERO
            lever = _lever(plan, ws, pose, r, a, b)
            if plan.measures.kind[r] == DISTANCE:
                push = scale((ws.multiplier[r], 0.0), _over_distance(plan, r, lever))
                lever = plain_vector(plan.measures.u[r])  # the point of a, on the same line
                r += 1
            else:
                while r < last and _is_extended(plan, r) and _shares_lever(plan, r, first):
                    push = add_vectors(push, scale((ws.multiplier[r], 0.0), plain_vector(plan.measures.u[r])))
                    r += 1
            force, is_force = _to_world(plan, ws, a, push), plan.measures.kind[first] != AXIS
            if a != nb:
                _add(ws, a, 3, 1.0, cross(push, lever))
                if is_force:
                    _add(ws, a, 0, -1.0, force)
            if b != nb:
                _add(ws, b, 3, 1.0, cross(plain_vector(plan.measures.w[first]), _to_body(plan, ws, b, force)))
                if is_force:
                    _add(ws, b, 0, 1.0, force)


@njit(contract=False)
def _spin(plan, ws, i, u):
    """Angular momentum J w of body i, and u x J w."""
    w, rest, J = ws.velocity[i], ws.extended.velocity_rest[i], plan.bodies.inertia[i]
    speed = vector(w[3:], rest[3:])
    momentum = vector_of(dot(plain_vector(J[0]), speed), dot(plain_vector(J[1]), speed), dot(plain_vector(J[2]), speed))
    return momentum, cross(u, momentum)


@njit(contract=False, inline="always")
def _missing(momentum, goal, goal_rest, impulse, impulse_rest):
    """momentum - goal - impulse, as a plain number."""
    head, t = exact_sum(momentum[0], -goal)
    head, t2 = exact_sum(head, -impulse)
    return head + ((t + t2) + (momentum[1] - goal_rest - impulse_rest))


@njit(contract=False)
def _residuals(plan, ws, half_step):
    """Write the residuals of the bodies to ``ws.residual_body``: the start momenta of the velocities, less ``ws.goal``
    and the impulses."""
    goal, goal_rest, given, given_rest = ws.goal, ws.goal_rest, ws.extended.impulse, ws.extended.impulse_rest
    for i in range(plan.bodies.mass.size):
        v, out = ws.velocity[i], ws.residual_body[i]
        for k in range(3):
            p = exact_product(plan.bodies.mass[i], v[k])
            out[k] = _missing(p, goal[i, k], goal_rest[i, k], given[i, k], given_rest[i, k])
        u, c_less_one = _half_turn(ws, i, half_step)
        momentum, tilt = _spin(plan, ws, i, u)
        start = add_vectors(scale(add((1.0, 0.0), c_less_one), momentum), tilt)
        for k in range(3):
            p = (start[0][k], start[1][k])
            out[3 + k] = _missing(p, goal[i, 3 + k], goal_rest[i, 3 + k], given[i, 3 + k], given_rest[i, 3 + k])


@njit
def _worst_row(plan, ws):
    """The largest entry of ``ws.residual_row`` of rows that are constraints, in m, or in m/s of values over ``h``."""
    worst = 0.0
    for r in range(plan.rows.role.size):
        if ws.compliance[r] == 0.0:
            worst = max(worst, plan.rows.scale[r] * abs(ws.residual_row[r]))
    return worst


@njit
def _row_round_off(plan, ws):
    """Round-off of the value of a row, m."""
    size = plan.bodies.length[0]
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            size = max(size, max(abs(ws.position[0, i, k]), abs(ws.position[1, i, k])))
    return 8.0 * EPSILON * size


@njit
def _take_increment(plan, ws, start):
    """Add the increment to velocities, multipliers and impulses."""
    nb, work = plan.bodies.mass.size, ws.extended
    for i in range(nb):
        for k in range(6):
            ws.velocity[i, k], work.velocity_rest[i, k] = exact_sum(ws.velocity[i, k], ws.increment_body[i, k])
    for j in range(plan.joints.side.shape[0]):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if ws.compliance[r] > 0.0:
                continue
            ws.multiplier[r] += ws.increment_row[r]
            for s in range(2):
                i = plan.joints.side[j, s]
                if i != nb:
                    add_scaled6(work.impulse_rest[i], ws.increment_row[r], ws.jacobian[start, r, s])


@njit
def _take_back(plan, ws):
    """Undo what `_take_increment` did to velocities and multipliers; velocities come from ``ws.base``."""
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.velocity[i, k] = ws.base[i, k]
    for r in range(plan.rows.role.size):
        if ws.compliance[r] == 0.0:
            ws.multiplier[r] -= ws.increment_row[r]


@indirect(seconds=8, what="steps without drift by round-off", contract=False)
def sharpen(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> bool:
    """Take one more Newton increment of a solved stage of ``h`` seconds, from residuals in double-double.

    Changes velocities, multipliers and the pose ``end`` with its Jacobian. Writes rests of the velocities and the
    impulses of rows and efforts to ``ws.extended``, which `finish_extended` needs. Residuals are invalid afterwards.
    Close to a singular pose an increment may be pure round-off and open rows that were closed. Such an increment is
    rejected: velocities, pose and residuals are then those from before. Returns whether the increment was taken.
    """
    # The increment (dv, dlambda) solves, with the factors of the last one,
    #   D dv - G^T dlambda = -(p(v) - goal - G^T lambda - efforts),   H dv = -g(end) / h,
    # where both right-hand sides are double-double up to the final subtraction. Then v and lambda take it, and the pose
    # ``end`` moves by h dv. It is kept if no row is open by more than before, or by more than round-off.
    nb, work = plan.bodies.mass.size, ws.extended
    before = _worst_row(plan, ws)  # of values over h
    for i in range(nb):
        for k in range(6):
            ws.residual_body[i, k] = work.velocity_rest[i, k] = 0.0
            ws.base[i, k] = ws.velocity[i, k]
    if has_efforts(plan):
        apply_efforts(plan, ws, start, 0.5 * h)  # takes their impulses off ``ws.residual_body``, zero so far
    for i in range(nb):
        for k in range(6):
            work.impulse[i, k], work.impulse_rest[i, k] = -ws.residual_body[i, k], 0.0
    _rotations(plan, ws, start)
    _impulses(plan, ws, start)
    _residuals(plan, ws, 0.5 * h)
    _advance(plan, ws, start, end, h)
    _rotations(plan, ws, end)
    _values(plan, ws, end, h)
    if math.isfinite(newton_increment(plan, ws, end, h, start, True)):
        _take_increment(plan, ws, start)
        _shift(plan, ws, end, h)
        for i in range(nb):
            rotation_matrix(ws.quat[end, i], ws.rotation[end, i])
        evaluate_rows(plan, ws, ws.position[end], ws.rotation[end], ws.residual_row, ws.jacobian[end])
        close_rows(plan, ws, end)
        if _worst_row(plan, ws) / abs(h) <= max(before, _row_round_off(plan, ws) / abs(h)):
            return True
        _take_back(plan, ws)
    evaluate_step(plan, ws, start, end, h, start, 0.0)
    return False


@indirect(seconds=3, what="steps without drift by round-off", contract=False)
def finish_extended(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Replace ``ws.momentum`` by the momenta at the end of a stage, after a `sharpen` that took its increment.

    Accounts for the work of ``ws.load`` over the stage: that of half its impulse at the start and half at the end.
    """
    for i in range(plan.bodies.mass.size):
        work = 0.0
        p, rest, v = ws.momentum[i], ws.momentum_rest[i], ws.velocity[i]
        u, _ = _half_turn(ws, i, half_step)
        _, tilt = _spin(plan, ws, i, u)
        for k in range(6):
            kick = half_step * ws.load[i, k]
            work += (ws.goal[i, k] - p[k] + kick) * v[k]
            total = add(
                (ws.goal[i, k], ws.goal_rest[i, k]), (ws.extended.impulse[i, k], ws.extended.impulse_rest[i, k])
            )
            if k > 2:
                total = sub(total, (2.0 * tilt[0][k - 3], 2.0 * tilt[1][k - 3]))
            p[k], rest[k] = add(total, (kick, 0.0))
        add_load(plan, ws, i, work)
