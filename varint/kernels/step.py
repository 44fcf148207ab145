"""Steps, sub-steps and runs of the node-momentum form (docs/theory.md section 3).

A step of size h takes (x, q, p, l) at one node to the next, with c = h / 2:

    m v = p + c f + (G^T multiplier)_x          start momentum of w = l + c tau + (G^T multiplier)_theta
    x' = x + h v,  q' = q (sqrt(1 - |c w|^2), c w),  g(x', q') = 0
    p' = m v + c f'                             l' = end momentum of w + c tau'

The normal part of (p', l') is left in: it lies in the range of G^T, where the next multiplier
absorbs it. `project` removes it where velocities are reported.
"""

import math

from varint._numba import njit
from varint.algebra.sums import two_sum
from varint.kernels.balance import add_piece, is_off, left_of_energy, weigh_node
from varint.kernels.configuration import follow_products, place
from varint.kernels.constraints import finish_constraints, set_targets
from varint.kernels.efforts import finish_efforts
from varint.kernels.impacts import ACCEPTED, DEEPEST_SUBSTEP, impact_at_end, meet_limits, restart_search
from varint.kernels.inputs import set_inputs, set_load
from varint.kernels.momentum import angular_momentum
from varint.kernels.newton import CONVERGED, NOT_CONVERGED, has_efforts, solve_step
from varint.kernels.pace import keep_pace
from varint.kernels.projection import project
from varint.kernels.restart import go_back, keep_start

SAME_TIME = 1e-9  # of dt: a node as near to the end is the end


@njit
def _extrapolate(velocity, history):
    """Start value of Newton's iteration: quadratic extrapolation of this stage's last three steps (3, nb, 6)."""
    for i in range(velocity.shape[0]):
        for k in range(6):
            velocity[i, k] = 3.0 * (history[0, i, k] - history[1, i, k]) + history[2, i, k]


@njit
def _keep_velocity(velocity, kept):
    for i in range(velocity.shape[0]):
        for k in range(6):
            kept[i, k] = velocity[i, k]


@njit
def _remember(velocity, history):
    for i in range(velocity.shape[0]):
        for k in range(6):
            history[2, i, k] = history[1, i, k]
            history[1, i, k] = history[0, i, k]
            history[0, i, k] = velocity[i, k]


@njit
def _kick(ws, half_step):
    """The momenta that a piece starts from: those at its node and half a kick of the loads."""
    for i in range(ws.goal.shape[0]):
        for k in range(6):
            kick = ws.momentum_rest[i, k] + half_step * ws.load[i, k]
            ws.goal[i, k], ws.goal_rest[i, k] = two_sum(ws.momentum[i, k], kick)


@njit(inline="always")
def _finish(plan, ws, half_step):
    """Momenta at the end node, from the converged velocities and what is left of the residual.

    Taking the residual off makes the momentum balance exact at any Newton tolerance. Returns the work of the load, J.
    """
    work, mass = 0.0, plan.bodies.mass
    for i in range(mass.size):
        v, p, rest, start, load = ws.velocity[i], ws.momentum[i], ws.momentum_rest[i], ws.goal[i], ws.load[i]
        for k in range(6):
            work += (start[k] - p[k]) * v[k]
        angular_momentum(plan.bodies.inertia[i], v[3], v[4], v[5], -half_step, p)
        for k in range(3):
            p[k] = mass[i] * v[k]
        for k in range(6):
            kick = half_step * load[k]
            work += kick * v[k]
            change = (p[k] - start[k]) + (kick - ws.residual_body[i, k])
            p[k], rest[k] = two_sum(start[k], ws.goal_rest[i, k] + change)
    return work


@njit
def _try_part(plan, ws, inputs, pose, h, tol, stage, extrapolate, when):
    """Solve a stage of a (sub-)step, of size ``h``, from ``before`` to ``after`` of the step that starts at a node.

    ``when``: (node, before, after, dt), dt the spacing of the nodes. Returns (status, iterations).
    """
    node, before, after, dt = when
    half_step = 0.5 * h
    set_load(plan, ws, inputs, node, before)
    _kick(ws, half_step)
    set_inputs(ws, inputs, node, 0.5 * (before + after))
    if plan.constraints.row.size:
        set_targets(plan, ws, inputs, node, after, dt)
    if extrapolate:
        _extrapolate(ws.velocity, ws.history[stage])
    return solve_step(plan, ws, pose, 1 - pose, h, tol)


@njit
def _finish_part(plan, ws, inputs, pose, h, when):
    """Momenta, work, states and counted turns at the end of a solved piece; its end is the pose 1 - ``pose``."""
    node, _, after, dt = when
    half_step, end = 0.5 * h, 1 - pose
    if ws.balance.at_node[0]:
        weigh_node(plan, ws, pose, h)
    set_load(plan, ws, inputs, node, after)
    work = _finish(plan, ws, half_step)
    if has_efforts(plan):
        finish_efforts(plan, ws, half_step)
    if plan.constraints.row.size:
        set_targets(plan, ws, inputs, node, after, dt)
        finish_constraints(plan, ws, end)
    add_piece(ws, h, work)
    if plan.products.start.size:
        follow_products(plan, ws, ws.position[end], ws.rotation[end])
        place(plan, ws, end)  # their rows may be other ones now


@njit
def advance_step(plan, ws, inputs, pose, stages, tol, extrapolate, when):
    """A step of the scheme from a node, in sub-steps of the whole scheme where Newton does not converge; up to impacts.

    With ``ws.balance.redo`` also where energy comes from nowhere. ``stages``: their sizes over the step. ``when``:
    (node, width, dt): ``width`` of the spacing dt of the nodes.
    Returns (status, pose, iterations, sub-steps beyond the first).
    """
    node, width, dt = when
    done, size, part, iterations, pieces = 0.0, 1.0, 1.0, 0, 0
    restart_search(ws)
    redo, energy, shortest = ws.balance.redo[0], 0.0, 1.0 / (1 << DEEPEST_SUBSTEP)
    if redo:
        energy = left_of_energy(plan, ws, pose)
    while done < 1.0:
        if stages.size > 1 or redo:
            keep_start(plan, ws, pose)
        status, verdict, end, before, least = CONVERGED, ACCEPTED, pose, width * done, 0.0
        for stage in range(stages.size):
            share = width * part * stages[stage]
            until = before + share
            status, count = _try_part(
                plan, ws, inputs, end, dt * share, tol, stage, extrapolate and part == 1.0, (node, before, until, dt)
            )
            iterations += count
            if status != CONVERGED:
                break
            if plan.limits.measure.size:  # of schemes of one stage only
                verdict, least = meet_limits(plan, ws, pose, part, min(size, 1.0 - done))
                if verdict != ACCEPTED:
                    break
            _finish_part(plan, ws, inputs, end, dt * share, (node, 0.0, until, dt))
            end, before = 1 - end, until
            _keep_velocity(ws.velocity, ws.kept.velocity[stage])
        after = 0.0
        if redo and status == CONVERGED:
            after = left_of_energy(plan, ws, end)
            if min(size, part) > shortest and is_off(ws, energy, after):
                status = NOT_CONVERGED
        if status != CONVERGED:
            size = 0.5 * (size if ws.search.limit[0] >= 0 else min(size, part))  # a trial may be as short as it likes
            if size < shortest:
                return status, pose, iterations, pieces
            part, ws.search.limit[0] = size, -1
            if stages.size > 1 or redo:
                go_back(plan, ws, pose)
            _keep_velocity(ws.history[0, 0], ws.velocity)
            continue
        if verdict != ACCEPTED:
            part = least
            continue
        done = 1.0 if done + part > 1.0 - 1e-14 else done + part
        pose, energy = end, after
        pieces += 1
        if ws.search.limit[0] >= 0:
            impact_at_end(plan, ws, pose)
            size = 1.0
        while size < 1.0 and math.floor(done / (2.0 * size)) == done / (2.0 * size):
            size *= 2.0
        part = min(size, 1.0 - done)
    for stage in range(stages.size):
        _remember(ws.kept.velocity[stage], ws.history[stage])
    return CONVERGED, pose, iterations, pieces - 1


@njit
def start_momentum(plan, ws, half_step):
    """Momenta at the first node from ``ws.velocity``; half_step = 0: m v and J w.

    With half the step size they are what a preceding step of that velocity would have left: the
    start of VI, v_1 = v(0).
    """
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.residual_body[i, k] = ws.goal[i, k] = ws.goal_rest[i, k] = 0.0
    _finish(plan, ws, half_step)


@njit(seconds=6, what="steps in maximal coordinates")
def run(plan, ws, inputs, pose, grid, stages, tol, interval_velocity, out):
    """Advance from a node and record, up to the last node before the end where steps are adaptive.

    ``grid``: (node, steps, stride, dt, end), end in s: every node that ``stride`` divides is recorded. ``stages``:
    sizes of the composition stages over the step. ``interval_velocity``: report the velocity of the last interval
    (order 1) instead of the projected one at the node. ``out``: position (T, nb, 3), quat (T, nb, 4),
    velocity (T, nb, 6), work (T, ne) in kernel order, states of laws (T, n), slot of a body that was not resolved since
    the last record (T,), -1 for none; time (T,), s; Newton iterations and sub-steps (2,), added to. Returns (status,
    pose, steps done, records written).
    """
    node, steps, stride, dt, end = grid
    position, quat, velocity, work, state, unresolved, time, counts = out
    record, pace, width = 0, ws.pace, 1.0
    adaptive = pace.factor[0] > 0.0
    for step in range(steps):
        if adaptive:
            width = 1.0 / pace.density[0]
            if pace.time[0] + dt * width > end + SAME_TIME * dt:
                return CONVERGED, pose, step, record
        status, pose, iterations, pieces = advance_step(
            plan, ws, inputs, pose, stages, tol, node + step >= 3, (node + step, width, dt)
        )
        counts[0] += iterations
        counts[1] += pieces
        if status != CONVERGED:
            return status, pose, step, record
        ws.balance.at_node[0] = True
        if adaptive:
            pace.time[0], pace.time[1] = two_sum(pace.time[0], pace.time[1] + dt * width)
            set_inputs(ws, inputs, node + step, width)
            keep_pace(plan, ws, pose, dt)
        else:
            pace.time[0] = dt * (node + step + 1)
        if (node + step + 1) % stride == 0:
            time[record] = pace.time[0]
            row = (position[record], quat[record], velocity[record], work[record], state[record])
            record_node(plan, ws, pose, interval_velocity, row)
            unresolved[record], ws.balance.unresolved[0] = ws.balance.unresolved[0], -1
            record += 1
    return CONVERGED, pose, steps, record


@njit
def record_node(plan, ws, pose, interval_velocity, out):
    """Write the present node: pose (nb, 3), (nb, 4), velocities (nb, 6), work (ne,), states of laws (n,)."""
    position, quat, velocity, work, state = out
    nb = plan.bodies.mass.size
    source = ws.velocity
    if not interval_velocity:
        project(plan, ws, pose)
        source = ws.increment_body
    for i in range(nb):
        for k in range(3):
            position[i, k] = ws.position[pose, i, k]
        for k in range(4):
            quat[i, k] = ws.quat[pose, i, k]
        for k in range(6):
            velocity[i, k] = source[i, k]
    for e in range(work.size):
        work[e] = ws.efforts.work[e]
    for n in range(state.size):
        state[n] = ws.efforts.state[n]
    for c in range(0 if interval_velocity else plan.constraints.row.size):
        r = plan.constraints.row[c]  # what is left for this node of the impulses that make the rates
        work[plan.constraints.element[c]] += ws.increment_row[r] * ws.efforts.target_rate[r]


@njit
def worst_residual(plan, ws):
    """Body and joint with the largest residual of the last iterate, scaled to m/s; -1 where there is none."""
    body = joint = -1
    largest = -1.0
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            size = plan.bodies.scale[i, k // 3] * abs(ws.residual_body[i, k])
            if size > largest or math.isnan(size):
                largest, body = size, i
    largest = -1.0
    for j in range(plan.joints.side.shape[0]):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            size = plan.rows.scale[r] * abs(ws.residual_row[r])
            if size > largest or math.isnan(size):
                largest, joint = size, j
    return body, joint
