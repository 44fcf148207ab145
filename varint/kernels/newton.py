"""One step's equations and Newton's method for them (VI section 4.1, in node-momentum form).

Unknown: the velocities (v, w), constant over the step, and the row impulses. Residuals

    body   [m v; c J w + u x J w] - target - G^T multiplier          (VI eqs. 26, 33)
    row    g(x + h v, q (c, u)) / h                                  (VI eqs. 27, 32)

with G at the start of the step. The multipliers enter linearly, so Newton's iterates of the
velocities do not depend on their start value: every step starts them at zero, and redundant
closures never gather any.
"""

import math

from varint._numba import njit
from varint.algebra.quaternion import advance, rotation_matrix
from varint.algebra.sums import two_sum
from varint.algebra.vectors import dot, vector
from varint.kernels.dense import add_scaled6
from varint.kernels.efforts import apply_efforts, stiffen
from varint.kernels.ldu import solve_newton
from varint.kernels.limits import close_limits
from varint.kernels.measures import POINT
from varint.kernels.momentum import angular_momentum, momentum_derivative
from varint.kernels.plan import JOINT
from varint.kernels.refine import solve_again
from varint.kernels.rows import evaluate_rows

CONVERGED, NOT_CONVERGED = 0, 1
ITERATIONS = 25
HALVINGS = 12
ATTACH_ABOVE = 1e-3  # m/s; smaller increments leave joints closed enough, and the momenta balanced to round-off
ROTATION_BOUND = 0.25  # of |h w / 2|: a body turns at most 29 degrees in a step, beyond that it is cut in two
DIRECTION_BOUND = 0.15  # rad: a rod or a taut tether turns no further, beyond that the step is cut in two as well
LEAST_COSINE = math.cos(DIRECTION_BOUND)
SHRUNK = 0.01  # of a residual: then the next increment takes the same factors
SHARP = 0.125  # of the floor of a residual: nothing but round-off
ROUND_OFF = 1e4  # times the floor of a residual
EPSILON = 2.220446049250313e-16


@njit
def has_efforts(plan):
    """Whether laws or loads act."""
    return plan.laws.kind.size + plan.loads.kind.size > 0


@njit
def _attach(plan, i, position, rotation):
    """Shift body i so that its tree joint's POINT rows hold, its parent being in place.

    Newton's method then only has rotations to find where anchors coincide. Near a singular pose that
    keeps it on its branch.
    """
    side_a = plan.joints.first_body[i]
    a, b = plan.joints.side[i, side_a], plan.joints.side[i, 1 - side_a]
    A, B = rotation[a], rotation[b]
    sign = 1.0 if side_a == 0 else -1.0
    for r in range(plan.joints.rows[i], plan.joints.rows[i + 1]):
        if plan.measures.kind[r] != POINT or plan.rows.role[r] != JOINT:
            continue
        u, w = plan.measures.u[r], plan.measures.w[r]
        d0 = A[0, 0] * u[0] + A[0, 1] * u[1] + A[0, 2] * u[2]
        d1 = A[1, 0] * u[0] + A[1, 1] * u[1] + A[1, 2] * u[2]
        d2 = A[2, 0] * u[0] + A[2, 1] * u[1] + A[2, 2] * u[2]
        off = -plan.measures.c[r]
        off += d0 * (position[b, 0] - position[a, 0] + B[0, 0] * w[0] + B[0, 1] * w[1] + B[0, 2] * w[2])
        off += d1 * (position[b, 1] - position[a, 1] + B[1, 0] * w[0] + B[1, 1] * w[1] + B[1, 2] * w[2])
        off += d2 * (position[b, 2] - position[a, 2] + B[2, 0] * w[0] + B[2, 1] * w[1] + B[2, 2] * w[2])
        position[i, 0] += sign * off * d0
        position[i, 1] += sign * off * d1
        position[i, 2] += sign * off * d2


@njit
def _directions_kept(plan, ws, start, end):
    """Whether no row that points from one point to another turns further than the impulse at its start can follow."""
    for n in range(plan.rows.pointing.size):
        r = plan.rows.pointing[n]
        if ws.compliance[r] > 0.0:
            continue
        a, b = vector(ws.jacobian[start, r, 0]), vector(ws.jacobian[end, r, 0])
        if not dot(a, b) >= LEAST_COSINE * math.sqrt(dot(a, a) * dot(b, b)):
            return False
    return True


@njit
def evaluate_step(plan, ws, start, end, h, upper, increment):
    """Move to the end pose, fill the residuals, return (merit, largest residual, unbalanced, size of the terms).

    The largest residual is in m/s. The size is what its round-off is relative to: velocities, and positions over the
    step. Unbalanced is the largest residual of a body over the largest momentum. Returns NaN where a body or a rod
    turns further than a step can. ``increment``: the largest of a velocity (m/s) that led here.
    """
    nb = plan.bodies.mass.size
    half_step = 0.5 * h
    fastest = farthest = 0.0
    for i in range(nb):
        v = ws.velocity[i]
        turn = half_step * half_step * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
        if not turn <= ROTATION_BOUND * ROTATION_BOUND:
            return math.nan, math.nan, math.nan, math.nan
        q, q_rest = ws.quat, ws.quat_rest
        advance(q[start, i], q_rest[start, i], v[3], v[4], v[5], half_step, q[end, i], q_rest[end, i])
        rotation_matrix(ws.quat[end, i], ws.rotation[end, i])
        x, x_rest = ws.position[end, i], ws.position_rest[end, i]
        for k in range(3):
            x[k], x_rest[k] = two_sum(ws.position[start, i, k], ws.position_rest[start, i, k] + h * v[k])
        if increment > ATTACH_ABOVE:
            _attach(plan, i, ws.position[end], ws.rotation[end])
            for k in range(3):
                x_rest[k] = 0.0
                v[k] = (x[k] - ws.position[start, i, k] - ws.position_rest[start, i, k]) / h
        for k in range(3):
            farthest = max(farthest, abs(x[k]))
            fastest = max(fastest, abs(v[k]))
        r = ws.residual_body[i]
        angular_momentum(plan.bodies.inertia[i], v[3], v[4], v[5], half_step, r)
        for k in range(3):
            r[k] = plan.bodies.mass[i] * v[k]
        for k in range(6):
            r[k] -= ws.goal[i, k]
    evaluate_rows(plan, ws, ws.position[end], ws.rotation[end], ws.residual_row, ws.jacobian[end])
    if has_efforts(plan):
        apply_efforts(plan, ws, start, half_step)
        close_limits(plan, ws, end)
    if plan.rows.pointing.size and not _directions_kept(plan, ws, start, end):
        return math.nan, math.nan, math.nan, math.nan
    merit = worst = unbalanced = moved = 0.0
    for j in range(plan.joints.side.shape[0]):
        near, far = plan.joints.side[j, 0], plan.joints.side[j, 1]
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if ws.compliance[r] > 0.0:
                continue
            ws.residual_row[r] /= h
            size = plan.rows.scale[r] * abs(ws.residual_row[r])
            merit += size * size
            worst = max(worst, size)
            if near != nb:
                add_scaled6(ws.residual_body[near], -ws.multiplier[r], ws.jacobian[upper, r, 0])
            if far != nb:
                add_scaled6(ws.residual_body[far], -ws.multiplier[r], ws.jacobian[upper, r, 1])
    for i in range(nb):
        r = ws.residual_body[i]
        linear, angular = plan.bodies.scale[i, 0], plan.bodies.scale[i, 1]
        for k in range(3):
            a, b = linear * abs(r[k]), angular * abs(r[3 + k])
            moved = max(moved, max(linear * abs(ws.goal[i, k]), angular * abs(ws.goal[i, 3 + k])))
            merit += a * a + b * b
            unbalanced = max(unbalanced, max(a, b))
    if not math.isfinite(merit):
        return math.nan, math.nan, math.nan, math.nan
    relative = unbalanced / moved if moved > 0.0 else 0.0
    return merit, max(worst, unbalanced), relative, fastest + farthest / abs(h)


@njit
def _newton_increment(plan, ws, end, h, upper, factored):
    """Fill the increments with the solution of Newton's system (VI eq. 39); return the largest of a velocity.

    ``factored``: by the factors of the increment before, of nearly the same system.
    """
    half_step = 0.5 * h
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = -ws.residual_body[i, k]
    for r in range(plan.rows.role.size):
        ws.increment_row[r] = -ws.residual_row[r]
    if factored:
        solve_again(plan, ws, (upper, end, h), ws.increment_body, ws.increment_row)
    else:
        for i in range(plan.bodies.mass.size):
            w = ws.velocity[i]
            momentum_derivative(plan.bodies.mass[i], plan.bodies.inertia[i], w[3], w[4], w[5], half_step, ws.ldu.D[i])
        if has_efforts(plan):
            stiffen(plan, ws, upper, end, half_step)
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, upper, end)
    largest = 0.0
    for i in range(plan.bodies.mass.size):
        w, d = ws.velocity[i], ws.increment_body[i]
        x, y, z = half_step * w[3], half_step * w[4], half_step * w[5]
        c = math.sqrt(1.0 - (x * x + y * y + z * z))
        a, b, e = d[3], d[4], d[5]
        d[3] = c * a + y * e - z * b
        d[4] = c * b + z * a - x * e
        d[5] = c * e + x * b - y * a
        for k in range(3):
            largest = max(largest, abs(d[k]))
    return largest


@njit
def _keep(velocity, base):
    for i in range(velocity.shape[0]):
        for k in range(6):
            base[i, k] = velocity[i, k]


@njit
def _move(base, velocity, share, increment_body):
    for i in range(velocity.shape[0]):
        for k in range(6):
            velocity[i, k] = base[i, k] + share * increment_body[i, k]


@njit
def _add(multiplier, share, increment_row):
    for r in range(multiplier.size):
        multiplier[r] += share * increment_row[r]


@njit(inline="always")
def solve_step(plan, ws, start, end, h, tol):
    """Solve one step of size ``h`` from ``ws.goal`` and the velocities given as start values.

    Converged when no residual exceeds ``tol`` (m/s), or when the increment is at round-off. One more increment, by the
    factors at hand, then takes the momenta to round-off: what Newton's method leaves would move the mean energy.
    Returns (status, iterations); the pose and Jacobian ``end`` are then filled.

    From a singular pose some rows have no impulse of their own. Where one then stays open, the impulses
    of this step act along the rows at its end instead.
    """
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = 0.0
    upper, increment, factored, last = start, math.inf, False, False
    merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
    if not math.isfinite(merit):
        return NOT_CONVERGED, 0
    for iteration in range(1, ITERATIONS + 1):
        increment = _newton_increment(plan, ws, end, h, upper, factored)
        if not math.isfinite(increment):
            return NOT_CONVERGED, iteration
        previous, share = merit, 1.0
        _keep(ws.velocity, ws.base)
        _move(ws.base, ws.velocity, share, ws.increment_body)
        _add(ws.multiplier, share, ws.increment_row)
        merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
        floor = 8.0 * EPSILON * size
        halvings = 0
        while not (merit < previous or worst <= floor):
            if factored:
                break
            if increment <= 64.0 * floor and math.isfinite(merit):
                if worst <= max(tol, ROUND_OFF * floor):
                    return CONVERGED, iteration
                if upper == end:
                    return NOT_CONVERGED, iteration
                upper = end
                for r in range(ws.multiplier.size):
                    ws.multiplier[r] = 0.0
                merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
                break
            halvings += 1
            if halvings > HALVINGS:
                return NOT_CONVERGED, iteration
            share *= 0.5
            _move(ws.base, ws.velocity, share, ws.increment_body)
            _add(ws.multiplier, -share, ws.increment_row)
            merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, increment)
        if factored and not (merit < previous or worst <= floor):  # these factors no longer serve
            _move(ws.base, ws.velocity, 0.0, ws.increment_body)
            _add(ws.multiplier, -1.0, ws.increment_row)
            merit, worst, unbalanced, size = evaluate_step(plan, ws, start, end, h, upper, 0.0)
            if last:
                return CONVERGED, iteration
            factored = False
            continue
        if share == 1.0 and (worst <= tol or worst <= floor):
            if last or upper == end or (unbalanced <= 4.0 * EPSILON and worst <= SHARP * floor):
                return CONVERGED, iteration
            last = factored = True
        else:
            factored = share == 1.0 and upper == start and merit < SHRUNK * SHRUNK * previous
    return CONVERGED if last else NOT_CONVERGED, ITERATIONS
