"""One step's equations and Newton's method for them (VI section 4.1, in node-momentum form).

Unknown: the velocities (v, w), constant over the step, and the row impulses. Residuals

    body   [m v; c J w + u x J w] - target - G^T multiplier          (VI eqs. 26, 33)
    row    g(x + h v, q (c, u)) / h                                  (VI eqs. 27, 32)

with G at the start of the step. The multipliers enter linearly, so Newton's iterates of the
velocities do not depend on their start value: every step starts them at zero, and redundant
closures never gather any.
"""

import math

from varint._jit import njit
from varint.algebra.quaternion import advance, rotation_matrix
from varint.kernels.dense import add_scaled6
from varint.kernels.ldu import solve_newton
from varint.kernels.momentum import angular_momentum, momentum_derivative
from varint.kernels.rows import evaluate_rows

CONVERGED, NOT_CONVERGED = 0, 1
ITERATIONS = 25
HALVINGS = 12
ROTATION_BOUND = 0.25  # of |h w / 2|: a body turns at most 29 degrees in a step, beyond that it is cut in two
EPSILON = 2.220446049250313e-16


@njit
def _evaluate(plan, ws, start, end, h):
    """Move to the end pose, fill the residuals, and return (merit, largest residual, size of the terms).

    The largest residual is in m/s. The size is what its round-off is relative to: velocities, and
    positions over the step. Returns NaN where a body turns further than a step can.
    """
    nb = plan.mass.size
    half_step = 0.5 * h
    fastest = farthest = 0.0
    for i in range(nb):
        v = ws.velocity[i]
        turn = half_step * half_step * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
        if not turn <= ROTATION_BOUND * ROTATION_BOUND:
            return math.nan, math.nan, math.nan
        for k in range(3):
            x = ws.position[start, i, k] + h * v[k]
            ws.position[end, i, k] = x
            farthest = max(farthest, abs(x))
            fastest = max(fastest, abs(v[k]))
        advance(ws.quat[start, i], v[3], v[4], v[5], half_step, ws.quat[end, i])
        rotation_matrix(ws.quat[end, i], ws.rotation[end, i])
        r = ws.residual_body[i]
        angular_momentum(plan.inertia[i], v[3], v[4], v[5], half_step, r)
        for k in range(3):
            r[k] = plan.mass[i] * v[k]
        for k in range(6):
            r[k] -= ws.target[i, k]
    evaluate_rows(plan, ws.position[end], ws.rotation[end], ws.residual_row, ws.jacobian[end])
    merit = worst = 0.0
    for j in range(plan.side.shape[0]):
        near, far = plan.side[j, 0], plan.side[j, 1]
        for r in range(plan.joint_rows[j], plan.joint_rows[j + 1]):
            ws.residual_row[r] /= h
            size = plan.row_scale[r] * abs(ws.residual_row[r])
            merit += size * size
            worst = max(worst, size)
            if near != nb:
                add_scaled6(ws.residual_body[near], -ws.multiplier[r], ws.jacobian[start, r, 0])
            if far != nb:
                add_scaled6(ws.residual_body[far], -ws.multiplier[r], ws.jacobian[start, r, 1])
    for i in range(nb):
        r = ws.residual_body[i]
        linear, angular = plan.body_scale[i, 0], plan.body_scale[i, 1]
        for k in range(3):
            a, b = linear * abs(r[k]), angular * abs(r[3 + k])
            merit += a * a + b * b
            worst = max(worst, max(a, b))
    if not math.isfinite(merit):
        return math.nan, math.nan, math.nan
    return merit, worst, fastest + farthest / abs(h)


@njit(inline="always")
def _newton_increment(plan, ws, start, end, h):
    """Fill the increments with the solution of Newton's system (VI eq. 39); return the largest of a velocity."""
    half_step = 0.5 * h
    for i in range(plan.mass.size):
        w = ws.velocity[i]
        momentum_derivative(plan.mass[i], plan.inertia[i], w[3], w[4], w[5], half_step, ws.D[i])
        for k in range(6):
            ws.increment_body[i, k] = -ws.residual_body[i, k]
    for r in range(plan.row_c.size):
        ws.increment_row[r] = -ws.residual_row[r]
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, start, end)
    largest = 0.0
    for i in range(plan.mass.size):
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
def _move(velocity, multiplier, share, increment_body, increment_row):
    for i in range(velocity.shape[0]):
        add_scaled6(velocity[i], share, increment_body[i])
    for r in range(multiplier.size):
        multiplier[r] += share * increment_row[r]


@njit(inline="always")
def solve_step(plan, ws, start, end, h, tol):
    """Solve one step of size ``h`` from ``ws.target`` and the velocities given as start values.

    Converged when no residual exceeds ``tol`` (1 m/s + the fastest body), or when the increment
    is at round-off. Returns (status, iterations); the pose and Jacobian ``end`` are then filled.
    """
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = 0.0
    merit, worst, size = _evaluate(plan, ws, start, end, h)
    if not math.isfinite(merit):
        return NOT_CONVERGED, 0
    for iteration in range(1, ITERATIONS + 1):
        increment = _newton_increment(plan, ws, start, end, h)
        if not math.isfinite(increment):
            return NOT_CONVERGED, iteration
        previous, share = merit, 1.0
        _move(ws.velocity, ws.multiplier, share, ws.increment_body, ws.increment_row)
        merit, worst, size = _evaluate(plan, ws, start, end, h)
        floor = 8.0 * EPSILON * size
        halvings = 0
        while not (merit < previous or worst <= floor):
            if increment <= 64.0 * floor and math.isfinite(merit):
                return CONVERGED, iteration
            halvings += 1
            if halvings > HALVINGS:
                return NOT_CONVERGED, iteration
            _move(ws.velocity, ws.multiplier, -0.5 * share, ws.increment_body, ws.increment_row)
            share *= 0.5
            merit, worst, size = _evaluate(plan, ws, start, end, h)
        if share == 1.0 and (worst <= tol or worst <= floor):
            return CONVERGED, iteration
    return NOT_CONVERGED, ITERATIONS
