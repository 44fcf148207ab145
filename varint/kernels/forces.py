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

from varint._numba import call_back, njit
from varint.algebra.quaternion import multiply, rotation_matrix
from varint.kernels.dense import add_scaled6, dot6
from varint.kernels.gauges import cross, dot, measure, on_from, turned_back
from varint.kernels.plan import (
    CABLE,
    COULOMB,
    DEAD,
    DRAG,
    FOLLOWER,
    FRICTION,
    HOLD,
    INVERSE_SQUARE,
    LENGTH,
    MOTOR,
    SERVO,
    SLIDE,
    SLIP,
    SPEED,
    SPRING,
    STOP,
    STRAIN,
    TABLE,
    TURN,
    USER,
)  # fmt: skip


@njit(inline="always")
def _along(plan, ws, e):
    """Value and rate that the laws of gauge e see, from ``ws.middle_value`` and ``ws.gauge_gradient``."""
    value = rate = 0.0
    part = e
    while part == e or (part < plan.gauge_kind.size and plan.gauge_law[part] == plan.gauge_law[part + 1]):
        ws.middle_value[part] = on_from(plan.gauge_kind[part], ws.gauge_value[part], ws.middle_value[part])
        value += ws.middle_value[part]
        for s in range(2):
            i = plan.gauge_body[part, s]
            if i < plan.mass.size:
                rate += dot6(ws.gauge_gradient[part, s], ws.velocity[i])
        part += 1
    return value, rate


@njit(inline="always")
def law(kind, p, value, rate, command, table):
    """Effort (N or N m) along a gauge, and its derivatives by value and rate; parameters as in `Plan.law_parameter`.

    ``command``: the input of a law that has one, for COULOMB the normal force.
    """
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
    if kind == FRICTION or kind == MOTOR:
        share = math.tanh((rate - (command if kind == MOTOR else 0.0)) / p[1])
        return -p[0] * share, 0.0, -p[0] / p[1] * (1.0 - share * share)
    if kind == DRAG:
        return -p[0] * abs(rate) * rate, 0.0, -2.0 * p[0] * abs(rate)
    if kind == SERVO:
        return -p[0] * (value - command) - p[2] * rate, -p[0], -p[2]
    if kind == INVERSE_SQUARE:
        pull = p[0] / (value * value)
        return -pull, 2.0 * pull / value, 0.0
    if kind == STRAIN:
        k = 0.5 * p[0] / (p[1] * p[1])
        square = p[1] * p[1]
        return -k * (value * value - square) * value - p[2] * rate, -k * (3.0 * value * value - square), -p[2]
    if kind == COULOMB:
        share = math.tanh(rate / p[1])
        return -p[0] * command * share, 0.0, -p[0] * command / p[1] * (1.0 - share * share)
    if kind == TABLE:
        low, high = int(p[0]), int(p[0] + p[1])
        while high - low > 1:
            middle = (low + high) // 2
            if table[middle, 0] <= value:
                low = middle
            else:
                high = middle
        c, x = table[low], value - table[low, 0]
        effort = c[1] + x * (c[2] + x * (c[3] + x * c[4]))
        return effort - p[2] * rate, c[2] + x * (2.0 * c[3] + 3.0 * x * c[4]), -p[2]
    if kind == HOLD:
        return 0.0, 0.0, 0.0
    if kind == USER:
        return call_back(int(p[0]), value, rate)
    return command, 0.0, 0.0  # INPUT


@njit
def middle_poses(plan, ws, start, half_step):
    """Middle poses of the bodies with elements, and T."""
    for i in range(plan.mass.size):
        if not plan.forced[i]:
            continue
        v = ws.velocity[i]
        x, y, z = half_step * v[3], half_step * v[4], half_step * v[5]
        c = math.sqrt(1.0 - (x * x + y * y + z * z))
        share = 1.0 / (1.0 + c)
        T = ws.middle_turn[i]
        T[0], T[1], T[2], T[3] = share * x, share * y, share * z, c
        for k in range(3):
            ws.middle_position[i, k] = ws.position[start, i, k] + half_step * v[k]
        _turn(multiply(ws.quat[start, i], (1.0 + c, x, y, z)), share, ws.middle_rotation[i])


@njit(inline="always")
def _turn(q, s, R):
    """Rotation matrix of a quaternion (4,) that is not normalised, s = 2 / |q|^2, to ``R``."""
    w, x, y, z = q
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


@njit
def apply_forces(plan, ws, start, upper, lower, half_step):
    """Efforts at the middle of the step: half of them off ``ws.residual_body``, rows into the Jacobians."""
    middle_poses(plan, ws, start, half_step)
    nb = plan.mass.size
    measure(plan, ws.middle_position, ws.middle_rotation, ws.velocity, ws.gauge_gradient, ws.middle_value)
    effort = by_value = by_rate = 0.0
    for e in range(plan.gauge_kind.size):
        first, last, turning = plan.gauge_law[e], plan.gauge_law[e + 1], plan.gauge_kind[e] == TURN
        if first < last:
            value, rate = _along(plan, ws, e)
            effort = by_value = by_rate = 0.0
            for f in range(first, last):
                kind, p = plan.law_kind[f], plan.law_parameter[f]
                command = ws.effort[int(p[2])] if kind == COULOMB else ws.command[f]
                own, slope, damping = law(kind, p, value, rate, command, plan.table)
                if kind == SERVO:
                    own -= p[1] * (ws.integral[f] + half_step * (value - command))
                    slope -= p[1] * half_step
                ws.effort[f] = own
                effort, by_value, by_rate = effort + own, by_value + slope, by_rate + damping
            ws.gauge_sum[e], ws.gauge_rate[e] = value, rate
            if plan.gauge_kind[e] >= SPEED:
                ws.gauge_damping[e] = -effort / rate if rate > 0.0 else -by_rate
        ws.gauge_effort[e] = effort
        r = plan.gauge_row[e]
        if r >= 0 and ws.compliance[r] == 0.0:
            r = -1  # of a closed stop: the row is a constraint
        p, q, push = -half_step * half_step * by_value, -half_step * by_rate, -half_step * effort
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i == nb:
                continue
            side = s if plan.gauge_flip[e] == 0 else 1 - s
            up = ws.jacobian[upper, r, side] if r >= 0 else ws.gauge_upper[e, s]
            low = ws.jacobian[lower, r, side] if r >= 0 else ws.gauge_lower[e, s]
            g, T, residual = ws.gauge_gradient[e, s], ws.middle_turn[i], ws.residual_body[i]
            tilt, c = cross(T, g[3:]), T[3]
            # dw = (c I + [u]) dphi with u = (1 + c) T: the rate's row is c g_theta - (1 + c) T x g_theta
            straight, across = p + q * c, p + q * (1.0 + c)
            up[3], up[4], up[5] = g[3] + tilt[0], g[4] + tilt[1], g[5] + tilt[2]
            low[3] = straight * g[3] - across * tilt[0]
            low[4] = straight * g[4] - across * tilt[1]
            low[5] = straight * g[5] - across * tilt[2]
            start_at = 3
            if not turning:  # a turn has no part in x: those entries stay zero
                start_at = 0
                up[0], up[1], up[2] = g[0], g[1], g[2]
                low[0], low[1], low[2] = (p + q) * g[0], (p + q) * g[1], (p + q) * g[2]
            for k in range(start_at, 6):
                residual[k] += push * up[k]


@njit
def stiffen(plan, ws, half_step):
    """Add to the body pivots ``ws.D`` the elements without a row, and the turning of efforts with the bodies."""
    nb = plan.mass.size
    for e in range(plan.gauge_kind.size):
        if plan.gauge_row[e] >= 0 and plan.gauge_kind[e] == TURN:
            continue  # most gauges, in most mechanisms
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i == nb:
                continue
            D = ws.D[i]
            if plan.gauge_row[e] < 0:
                for k in range(6):
                    add_scaled6(D[k], ws.gauge_upper[e, s, k], ws.gauge_lower[e, s])
            kind, vectors, R = plan.gauge_kind[e], plan.gauge_vector[e], ws.middle_rotation[i]
            if kind >= SPEED:
                _damp_across(
                    D, half_step * ws.gauge_damping[e], kind, vectors, ws.gauge_gradient[e, s], R, ws.middle_turn[i]
                )
                continue
            factor, g = half_step * half_step * ws.gauge_effort[e], ws.gauge_gradient[e, s]
            if kind == LENGTH:
                _turn_with_the_body(D, factor, g, ws.middle_value[e], R, vectors[s])
            elif kind == FOLLOWER:
                _follow(D, factor, vectors[0], R)
            elif kind == DEAD or (kind == SLIDE and s == 1):
                _turn_a_push(D, factor, g, vectors[2] if kind == DEAD else vectors[1], R)
            else:
                continue
            _add_cross(D, -0.5 * factor, g[3:])  # T, in its first order half a turn


@njit
def _add_cross(D, factor, a):
    """D -= factor [a] in its lower right part."""
    for k in range(3):
        k1, k2 = (k + 1) % 3, (k + 2) % 3
        D[3 + k, 3 + k1] += factor * a[k2]
        D[3 + k, 3 + k2] -= factor * a[k1]


@njit
def _damp_across(D, factor, kind, vectors, g, R, T):
    """D += factor times the damping across the direction of motion, whose size alone the gauge sees."""
    c = T[3]
    if kind == SLIP:
        n, p = vectors[0], vectors[1]
        across = cross(n, g)
        lever = cross(p, turned_back(R, across))
        tilt = cross(T, lever)
        for a in range(6):
            left = across[a] if a < 3 else lever[a - 3] + tilt[a - 3]
            for b in range(3):
                D[a, b] += factor * left * across[b]
                D[a, 3 + b] += factor * left * (c * lever[b] - (1.0 + c) * tilt[b])
        return
    first = 0 if kind == SPEED else 3
    for a in range(3):
        for b in range(3):
            share = (1.0 if a == b else 0.0) - g[first + a] * g[first + b]
            D[first + a, first + b] += factor * share * (1.0 if kind == SPEED else c)
    if kind != SPEED:  # dw = (c I + [u]) dphi, u = (1 + c) T along g
        _add_cross(D, -factor * (1.0 + c), T)


@njit
def _follow(D, factor, force, R):
    """D -= factor times the change -R [f] of a force that turns with its body, force (3,) in its axes."""
    for a in range(3):
        for b in range(3):
            b1, b2 = (b + 1) % 3, (b + 2) % 3
            D[a, 3 + b] += factor * (R[a, b1] * force[b2] - R[a, b2] * force[b1])


@njit
def _turn_a_push(D, factor, g, point, R):
    """D -= factor times the derivative of a push fixed in the world by the turn of its body, point (3,) in its axes.

    With f the force and t the torque in axes of the body, g_theta = p x f + t: [p] [f] + [t].
    """
    force = turned_back(R, g)
    moment = cross(point, force)
    _add_cross(D, factor, (g[3] - moment[0], g[4] - moment[1], g[5] - moment[2]))
    along = dot(point, force)
    for a in range(3):
        for b in range(3):
            D[3 + a, 3 + b] -= factor * (force[a] * point[b] - (along if a == b else 0.0))


@njit
def _turn_with_the_body(D, factor, g, length, R, arm):
    """D -= factor times the second derivative of a LENGTH by the motion of one body, arm (3,) in its axes.

    With n the direction of g_x: x, x: P = (I - n n^T) / l;  x, theta: -P R [arm];  theta, x: [arm] R^T P;
    theta, theta: [arm] R^T P R [arm]^T + [arm] [R^T n].
    """
    n = turned_back(R, g)
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
            turn = 0.0
            for k in range(3):
                # Q [arm], of which the columns are Q (arm x e_b)
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
            # [arm] [n] = n arm^T - (arm . n) I
            D[3 + a, 3 + b] -= factor * (n[a] * arm[b] - (dot(arm, n) if a == b else 0.0))


@njit
def finish_forces(plan, ws, half_step):
    """The end's half of the efforts into ``ws.momentum``; work and gauges kept."""
    for e in range(plan.gauge_kind.size):
        ws.gauge_value[e] = ws.middle_value[e]
        for f in range(plan.gauge_law[e], plan.gauge_law[e + 1]):
            ws.work[f] += 2.0 * half_step * ws.effort[f] * ws.gauge_rate[e]
            if plan.law_kind[f] == SERVO:
                ws.integral[f] += 2.0 * half_step * (ws.gauge_sum[e] - ws.command[f])
        for s in range(2):
            i = plan.gauge_body[e, s]
            if i < plan.mass.size:
                g, p, share = ws.gauge_gradient[e, s], ws.momentum[i], half_step * ws.gauge_effort[e]
                tilt = cross(ws.middle_turn[i], g[3:])
                add_scaled6(p, share, g)
                p[3], p[4], p[5] = p[3] - share * tilt[0], p[4] - share * tilt[1], p[5] - share * tilt[2]


@njit
def clear_rows(plan, compliance, jacobian):
    """Take the gauges out of a Jacobian (nr, 2, 6), but for closed stops: a projection has no forces."""
    for e in range(plan.gauge_kind.size):
        if plan.gauge_row[e] >= 0 and compliance[plan.gauge_row[e]] > 0.0:
            for s in range(2):
                for k in range(6):
                    jacobian[plan.gauge_row[e], s, k] = 0.0


@njit
def _keep_turns(ws):
    for e in range(ws.gauge_value.size):
        ws.gauge_value[e] = ws.middle_value[e]


@njit
def forces_at_nodes(plan, ws, t, nodes, command, value, rate, effort, load):
    """What each law sees (T, nf), its rate, its effort, and the load (T, nb, 6) of all, at given nodes.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6); ``command`` (T, nf). World force,
    body torque; TURNs go on past pi from one node to the next. ``t`` (T,): integrals of SERVOs are sums of trapezoids.
    """
    position, quat, velocity = nodes
    load[:] = 0.0
    for node in range(position.shape[0]):
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(6):
                ws.velocity[i, k] = velocity[node, i, k]
            rotation_matrix(quat[node, i], ws.rotation[0, i])
        measure(plan, ws.position[0], ws.rotation[0], ws.velocity, ws.gauge_gradient, ws.middle_value)
        if node == 0:
            _keep_turns(ws)
        total = 0.0
        for e in range(plan.gauge_kind.size):
            first, last = plan.gauge_law[e], plan.gauge_law[e + 1]
            if first < last:
                total = 0.0
                seen, seen_rate = _along(plan, ws, e)
                for f in range(first, last):
                    kind, p = plan.law_kind[f], plan.law_parameter[f]
                    given = effort[node, int(p[2])] if kind == COULOMB else command[node, f]
                    effort[node, f], _, _ = law(kind, p, seen, seen_rate, given, plan.table)
                    value[node, f], rate[node, f] = seen, seen_rate
                    if kind == SERVO:
                        if node > 0:
                            both = seen - given + value[node - 1, f] - command[node - 1, f]
                            ws.integral[f] += 0.5 * (t[node] - t[node - 1]) * both
                        effort[node, f] -= p[1] * ws.integral[f]
                    total += effort[node, f]
            for s in range(2):
                i = plan.gauge_body[e, s]
                if i < plan.mass.size:
                    add_scaled6(load[node, i], total, ws.gauge_gradient[e, s])
        _keep_turns(ws)
