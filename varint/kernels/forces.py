"""Forces that depend on the motion: scalar gauges, their laws, and their part in a step (docs/theory.md section 10).

A gauge l is a function of the relative pose of two bodies; laws give the effort f(l, dl/dt) along it. Over a step it
acts at the middle pose x = (x + x') / 2,
q = (q + q') / |q + q'|, half of it at either end:

    start  h/2 f (g_x, (I + [T]) g_theta)      end  h/2 f (g_x, (I - [T]) g_theta),    g the gauge's gradient there,

T the tangent of a quarter of the step's rotation along its axis. For f = -dV/dl these are the
derivatives of the discrete Lagrangian -h V(middle): symplectic, symmetric, and with the momenta
conserved; for a stiff spring it is the implicit midpoint rule, stable at any step.

In Newton's matrix an element is one more row with a compliance, f's change h/2 df = -lower . d:

    [ D      -upper^T ]         where both bodies are neighbours in the tree, or in a cluster;
    [ lower   1       ]         its own block, upper lower^T, goes to D where one body is the world.
"""

import math

from varint._jit import njit
from varint.algebra.quaternion import multiply, rotation_matrix
from varint.kernels.dense import add_scaled6, dot6
from varint.kernels.plan import (
    CABLE,
    DRAG,
    FRICTION,
    LENGTH,
    SERVO,
    SPRING,
    STOP,
    TURN,
)  # fmt: skip


@njit
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def _turned(R, a):
    return _dot(R[0], a), _dot(R[1], a), _dot(R[2], a)


@njit
def _turned_back(R, a):
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )


@njit(inline="always")
def _angle(A, B, vectors, gradient):
    """TURN: atan2(u0 . R w0, u1 . R w1), R = A^T B."""
    s_w, c_w = _turned(B, vectors[1]), _turned(B, vectors[3])
    s_w, c_w = _turned_back(A, s_w), _turned_back(A, c_w)
    s, c = _dot(vectors[0], s_w), _dot(vectors[2], c_w)
    s_u, c_u = _turned_back(B, _turned(A, vectors[0])), _turned_back(B, _turned(A, vectors[2]))
    square = s * s + c * c
    fs, fc = c / square, -s / square
    s_a, c_a = _cross(vectors[0], s_w), _cross(vectors[2], c_w)
    s_b, c_b = _cross(vectors[1], s_u), _cross(vectors[3], c_u)
    gradient[0, 0] = gradient[0, 1] = gradient[0, 2] = 0.0
    gradient[1, 0] = gradient[1, 1] = gradient[1, 2] = 0.0
    gradient[0, 3], gradient[1, 3] = fs * s_a[0] + fc * c_a[0], fs * s_b[0] + fc * c_b[0]
    gradient[0, 4], gradient[1, 4] = fs * s_a[1] + fc * c_a[1], fs * s_b[1] + fc * c_b[1]
    gradient[0, 5], gradient[1, 5] = fs * s_a[2] + fc * c_a[2], fs * s_b[2] + fc * c_b[2]
    return math.atan2(s, c)


@njit(inline="always")
def gauge(kind, vectors, x_a, A, x_b, B, gradient):
    """Value of a gauge, m or rad, and its ``gradient`` (2, 6) by the motions of both bodies; see `Plan.gauge_vector`.

    ``x_a``, ``x_b`` (3,) and ``A``, ``B`` (3, 3): pose of the two bodies. A TURN is in [-pi, pi].
    """
    if kind == TURN:
        return _angle(A, B, vectors, gradient)
    u, w = vectors[0], vectors[1]
    arm = _turned(B, w)
    d = (x_b[0] + arm[0] - x_a[0], x_b[1] + arm[1] - x_a[1], x_b[2] + arm[2] - x_a[2])
    if kind == LENGTH:
        start = _turned(A, u)
        d = (d[0] - start[0], d[1] - start[1], d[2] - start[2])
        value = math.sqrt(_dot(d, d))
        along = (d[0] / value, d[1] / value, d[2] / value) if value > 0.0 else (0.0, 0.0, 0.0)
        lever, turned = (u[0], u[1], u[2]), _turned_back(A, along)
    else:  # SLIDE
        along = _turned(A, u)
        value = _dot(along, d) - vectors[2, 0]
        lever, turned = _turned_back(A, d), (u[0], u[1], u[2])
    near, far = _cross(turned, lever), _cross(w, _turned_back(B, along))
    gradient[0, 0], gradient[0, 1], gradient[0, 2] = -along[0], -along[1], -along[2]
    gradient[0, 3], gradient[0, 4], gradient[0, 5] = near
    gradient[1, 0], gradient[1, 1], gradient[1, 2] = along
    gradient[1, 3], gradient[1, 4], gradient[1, 5] = far
    return value


@njit
def measure(plan, position, rotation, gradient, value):
    """Values (ne,) and gradients (ne, 2, 6) of all gauges at a pose (nb + 1, 3), (nb + 1, 3, 3); TURNs in [-pi, pi]."""
    for e in range(plan.gauge_kind.size):
        a, b = plan.gauge_body[e, 0], plan.gauge_body[e, 1]
        value[e] = gauge(
            plan.gauge_kind[e], plan.gauge_vector[e], position[a], rotation[a], position[b], rotation[b], gradient[e]
        )


@njit(inline="always")
def law(kind, p, value, rate, command):
    """Effort (N or N m) along a gauge, and its derivatives by value and rate; parameters as in `Plan.law_parameter`."""
    if kind == SPRING:
        return -p[0] * (value - p[1]) - p[2] * rate, -p[0], -p[2]
    if kind == CABLE or kind == STOP:
        # CABLE pulls beyond p[1]; STOP pushes back below p[3] as well
        low = kind == STOP and value < p[3]
        if not low and value <= p[1]:
            return 0.0, 0.0, 0.0
        effort = -p[0] * (value - (p[3] if low else p[1])) - p[2] * rate
        if (effort < 0.0) == low:
            return 0.0, 0.0, 0.0
        return effort, -p[0], -p[2]
    if kind == FRICTION:
        share = math.tanh(rate / p[1])
        return -p[0] * share, 0.0, -p[0] / p[1] * (1.0 - share * share)
    if kind == DRAG:
        return -p[0] * abs(rate) * rate, 0.0, -2.0 * p[0] * abs(rate)
    if kind == SERVO:
        return -p[0] * (value - command) - p[2] * rate, -p[0], -p[2]
    return command, 0.0, 0.0  # INPUT


@njit
def middle_poses(plan, ws, start, half_step):
    """Middle poses of the bodies with elements, and T."""
    for i in range(plan.mass.size):
        if not plan.forced[i]:
            continue
        v = ws.velocity[i]
        u0, u1, u2 = half_step * v[3], half_step * v[4], half_step * v[5]
        c = math.sqrt(1.0 - (u0 * u0 + u1 * u1 + u2 * u2))
        T = ws.middle_turn[i]
        T[0], T[1], T[2], T[3] = u0 / (1.0 + c), u1 / (1.0 + c), u2 / (1.0 + c), c
        scale = math.sqrt(0.5 * (1.0 + c))
        half = ws.half_turn
        half[0] = scale
        for k in range(3):
            half[1 + k] = scale * T[k]
            ws.middle_position[i, k] = ws.position[start, i, k] + half_step * v[k]
        multiply(ws.quat[start, i], half, ws.middle_quat)
        rotation_matrix(ws.middle_quat, ws.middle_rotation[i])


@njit
def apply_forces(plan, ws, start, upper, lower, half_step):
    """Efforts at the middle of the step: half of them off ``ws.residual_body``, rows into the Jacobians."""
    middle_poses(plan, ws, start, half_step)
    nb = plan.mass.size
    for e in range(plan.gauge_kind.size):
        a, b = plan.gauge_body[e, 0], plan.gauge_body[e, 1]
        gradient = ws.gauge_gradient[e]
        value = gauge(
            plan.gauge_kind[e], plan.gauge_vector[e], ws.middle_position[a], ws.middle_rotation[a],
            ws.middle_position[b], ws.middle_rotation[b], gradient,
        )  # fmt: skip
        if plan.gauge_kind[e] == TURN:
            turn = 2.0 * math.pi
            value += turn * round((ws.gauge_value[e] - value) / turn)
        rate = 0.0
        for s in range(2):
            if plan.gauge_body[e, s] < nb:
                rate += dot6(gradient[s], ws.velocity[plan.gauge_body[e, s]])
        effort = by_value = by_rate = 0.0
        for f in range(plan.gauge_law[e], plan.gauge_law[e + 1]):
            own, slope, damping = law(plan.law_kind[f], plan.law_parameter[f], value, rate, ws.command[f])
            ws.effort[f] = own
            effort, by_value, by_rate = effort + own, by_value + slope, by_rate + damping
        ws.middle_value[e], ws.gauge_rate[e], ws.gauge_effort[e] = value, rate, effort
        r = plan.gauge_row[e]
        if r >= 0 and ws.compliance[r] == 0.0:
            r = -1  # of a closed stop: the row is a constraint
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i == nb:
                continue
            side = s if plan.gauge_flip[e] == 0 else 1 - s
            g = gradient[s]
            up = ws.jacobian[upper, r, side] if r >= 0 else ws.gauge_upper[e, s]
            low = ws.jacobian[lower, r, side] if r >= 0 else ws.gauge_lower[e, s]
            T = ws.middle_turn[i]
            tilt, c = _cross(T, g[3:]), T[3]
            # dw = (c I + [u]) dphi with u = (1 + c) T: the rate's row is c g_theta - (1 + c) T x g_theta
            p, q = -half_step * half_step * by_value, -half_step * by_rate
            straight, across = p + q * c, p + q * (1.0 + c)
            up[0], up[1], up[2] = g[0], g[1], g[2]
            up[3], up[4], up[5] = g[3] + tilt[0], g[4] + tilt[1], g[5] + tilt[2]
            low[0], low[1], low[2] = (p + q) * g[0], (p + q) * g[1], (p + q) * g[2]
            low[3] = straight * g[3] - across * tilt[0]
            low[4] = straight * g[4] - across * tilt[1]
            low[5] = straight * g[5] - across * tilt[2]
            add_scaled6(ws.residual_body[i], -half_step * effort, up)


@njit
def stiffen(plan, ws, half_step):
    """Add to the body pivots ``ws.D`` the elements without a row, and the turning of efforts with the bodies."""
    nb = plan.mass.size
    for e in range(plan.gauge_kind.size):
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i == nb:
                continue
            D = ws.D[i]
            if plan.gauge_row[e] < 0:
                for k in range(6):
                    add_scaled6(D[k], ws.gauge_upper[e, s, k], ws.gauge_lower[e, s])
            if plan.gauge_kind[e] == LENGTH:
                _turn_with_the_body(
                    D, half_step * half_step * ws.gauge_effort[e], ws.gauge_gradient[e, s], ws.middle_value[e],
                    ws.middle_rotation[i], plan.gauge_vector[e, s],
                )  # fmt: skip


@njit
def _turn_with_the_body(D, factor, g, length, R, arm):
    """D -= factor times the second derivative of a LENGTH by the motion of one body, arm (3,) in its axes.

    With n the direction of g_x: x, x: P = (I - n n^T) / l;  x, theta: -P R [arm];  theta, x: [arm] R^T P;
    theta, theta: [arm] R^T P R [arm]^T + [arm] [R^T n].
    """
    n = _turned_back(R, g)
    if length <= 0.0:
        return
    for a in range(3):
        for b in range(3):
            P = ((1.0 if a == b else 0.0) - g[a] * g[b]) / length
            D[a, b] -= factor * P
    # in body axes Q = R^T P R = (I - n n^T) / l
    for a in range(3):
        a1, a2 = (a + 1) % 3, (a + 2) % 3
        for b in range(3):
            b1, b2 = (b + 1) % 3, (b + 2) % 3
            # column b of R Q [arm]^T... with [arm] e_b = arm x e_b
            turn = 0.0
            for k in range(3):
                # (Q [arm])_{k b} = Q_{k b1} arm_{b2} ... from arm x e_b = (e_{b1} arm_{b2} - e_{b2} arm_{b1}) * (+1)
                q1 = ((1.0 if k == b1 else 0.0) - n[k] * n[b1]) / length
                q2 = ((1.0 if k == b2 else 0.0) - n[k] * n[b2]) / length
                turn += R[a, k] * (q1 * arm[b2] - q2 * arm[b1])
            D[a, 3 + b] += factor * turn
            D[3 + b, a] += factor * turn
            # [arm] Q [arm]^T = -[arm] Q [arm]
            q11 = ((1.0 if a1 == b1 else 0.0) - n[a1] * n[b1]) / length
            q12 = ((1.0 if a1 == b2 else 0.0) - n[a1] * n[b2]) / length
            q21 = ((1.0 if a2 == b1 else 0.0) - n[a2] * n[b1]) / length
            q22 = ((1.0 if a2 == b2 else 0.0) - n[a2] * n[b2]) / length
            both = arm[a1] * (q21 * arm[b2] - q22 * arm[b1]) - arm[a2] * (q11 * arm[b2] - q12 * arm[b1])
            D[3 + a, 3 + b] += factor * both
            # [arm] [n] = n arm^T - (arm . n) I; its antisymmetric part goes with the change of T
            turned = 0.5 * (n[a] * arm[b] + arm[a] * n[b])
            D[3 + a, 3 + b] -= factor * (turned - (_dot(arm, n) if a == b else 0.0))


@njit
def finish_forces(plan, ws, half_step):
    """The end's half of the efforts into ``ws.momentum``; work and gauges kept."""
    for e in range(plan.gauge_kind.size):
        ws.gauge_value[e] = ws.middle_value[e]
        for f in range(plan.gauge_law[e], plan.gauge_law[e + 1]):
            ws.work[f] += 2.0 * half_step * ws.effort[f] * ws.gauge_rate[e]
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i < plan.mass.size:
                g, p, share = ws.gauge_gradient[e, s], ws.momentum[i], half_step * ws.gauge_effort[e]
                tilt = _cross(ws.middle_turn[i], g[3:])
                for k in range(3):
                    p[k] += share * g[k]
                    p[3 + k] += share * (g[3 + k] - tilt[k])


@njit
def clear_rows(plan, compliance, jacobian):
    """Take the gauges out of a Jacobian (nr, 2, 6), but for closed stops: a projection has no forces."""
    for e in range(plan.gauge_kind.size):
        if plan.gauge_row[e] >= 0 and compliance[plan.gauge_row[e]] > 0.0:
            for s in range(2):
                for k in range(6):
                    jacobian[plan.gauge_row[e], s, k] = 0.0


@njit
def forces_at_nodes(plan, ws, nodes, command, value, rate, effort, load):
    """Gauges (T, ng), their rates, efforts (T, nf) and the load (T, nb, 6) they make, at given nodes.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6); ``command`` (T, nf). World force,
    body torque; TURNs go on past pi from one node to the next.
    """
    position, quat, velocity = nodes
    load[:] = 0.0
    turn = 2.0 * math.pi
    for node in range(position.shape[0]):
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            rotation_matrix(quat[node, i], ws.rotation[0, i])
        measure(plan, ws.position[0], ws.rotation[0], ws.gauge_gradient, ws.middle_value)
        for e in range(plan.gauge_kind.size):
            if plan.gauge_kind[e] == TURN and node > 0:
                ws.middle_value[e] += turn * round((value[node - 1, e] - ws.middle_value[e]) / turn)
            value[node, e], rate[node, e] = ws.middle_value[e], 0.0
            for s in range(2):
                i = plan.gauge_body[e, s]
                if i < plan.mass.size:
                    rate[node, e] += dot6(ws.gauge_gradient[e, s], velocity[node, i])
            for f in range(plan.gauge_law[e], plan.gauge_law[e + 1]):
                effort[node, f], _, _ = law(
                    plan.law_kind[f], plan.law_parameter[f], value[node, e], rate[node, e], command[node, f]
                )
                for s in range(2):
                    i = plan.gauge_body[e, s]
                    if i < plan.mass.size:
                        add_scaled6(load[node, i], effort[node, f], ws.gauge_gradient[e, s])
