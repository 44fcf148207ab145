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
from varint.kernels.configuration import follow_products, mass_pivots, place
from varint.kernels.couplings import aim_held, pass_held
from varint.kernels.forces import clear_rows, finish_forces
from varint.kernels.ldu import solve_newton
from varint.kernels.momentum import angular_momentum
from varint.kernels.newton import CONVERGED, solve_step
from varint.kernels.stops import (
    MOST_CHANGES,
    MOST_IMPACTS,
    SEARCH,
    TOUCHING,
    first_beyond,
    impact,
    measure_stop,
    open_pulling,
)

DEEPEST_SUBSTEP = 12  # a step is halved at most so many times


@njit
def set_load(load, mass, gravity, constant, series, first_node, node, share):
    """Fill ``load`` (nb, 6): gravity + ``constant`` (nb, 6) + ``series`` at ``node + share``, linear between nodes.

    ``series`` (T, nb, 6) starts at node ``first_node``; T = 0 means none.
    """
    for i in range(mass.size):
        for k in range(6):
            load[i, k] = constant[i, k]
        for k in range(3):
            load[i, k] += mass[i] * gravity[k]
    if series.shape[0]:
        left = node - first_node
        right = min(left + 1, series.shape[0] - 1)
        for i in range(mass.size):
            for k in range(6):
                load[i, k] += (1.0 - share) * series[left, i, k] + share * series[right, i, k]


@njit
def set_command(command, commands, first_node, node, share):
    """Fill ``command`` (nf,) with ``commands`` (T, nf) at ``node + share``, linear between nodes; T = 1: constant."""
    left = right = 0
    if commands.shape[0] > 1:
        left = node - first_node
        right = min(left + 1, commands.shape[0] - 1)
    for e in range(command.size):
        command[e] = (1.0 - share) * commands[left, e] + share * commands[right, e]


@njit
def _extrapolate(velocity, history):
    """Start value of Newton's iteration: quadratic extrapolation of this stage's last three steps (3, nb, 6)."""
    for i in range(velocity.shape[0]):
        for k in range(6):
            velocity[i, k] = 3.0 * (history[0, i, k] - history[1, i, k]) + history[2, i, k]


@njit
def _remember(velocity, history):
    for i in range(velocity.shape[0]):
        for k in range(6):
            history[2, i, k] = history[1, i, k]
            history[1, i, k] = history[0, i, k]
            history[0, i, k] = velocity[i, k]


@njit
def _kick(target, momentum, load, half_step):
    for i in range(target.shape[0]):
        for k in range(6):
            target[i, k] = momentum[i, k] + half_step * load[i, k]


@njit
def _finish(momentum, velocity, mass, inertia, residual, load, half_step):
    """Momenta at the end node, from the converged velocities and what is left of the residual.

    Taking the residual off makes the momentum balance exact at any Newton tolerance.
    """
    for i in range(mass.size):
        v, p = velocity[i], momentum[i]
        angular_momentum(inertia[i], v[3], v[4], v[5], -half_step, p)
        for k in range(3):
            p[k] = mass[i] * v[k]
        for k in range(6):
            p[k] += half_step * load[i, k] - residual[i, k]


@njit(inline="always")
def advance_stage(plan, ws, pose, h, tol, stage, extrapolate, loads, node, share, width):
    """One composition stage of size ``h``, in sub-steps where Newton does not converge.

    The load goes from node share ``share`` to ``share + width``. Returns (status, pose,
    iterations, sub-steps beyond the first).
    """
    constant, series, first_node, commands, command_rates, command_node = loads
    smallest = 1.0 / (1 << DEEPEST_SUBSTEP)
    done, size, iterations, pieces = 0.0, 1.0, 0, 0
    # the search for an impact: stop, last fractions of the sub-step before and after it, and the gaps there
    stop, low, high, low_gap, high_gap, trials, impacts, changes = -1, 0.0, 0.0, 0.0, 0.0, 0, 0, 0
    part, was_beyond = 1.0, False
    while done < 1.0:
        half_step = 0.5 * h * part
        before = share + width * done
        set_load(ws.load, plan.mass, plan.gravity, constant, series, first_node, node, before)
        _kick(ws.target, ws.momentum, ws.load, half_step)
        set_command(ws.command, commands, command_node, node, before + 0.5 * width * part)
        if plan.held_row.size:
            aim_held(plan, ws, commands, command_rates, command_node, node, before + width * part, h / width)
        if extrapolate and part == 1.0:
            _extrapolate(ws.velocity, ws.history[stage])
        status, count = solve_step(plan, ws, pose, 1 - pose, h * part, tol)
        iterations += count
        if status != CONVERGED:
            size = 0.5 * (size if stop >= 0 else min(size, part))  # a trial of the search may be as short as it likes
            if size < smallest:
                return status, pose, iterations, pieces
            part, stop = size, -1
            for i in range(plan.mass.size):
                for k in range(6):
                    ws.velocity[i, k] = ws.history[stage, 0, i, k]
            continue
        if plan.stop_gauge.size:
            if changes < MOST_CHANGES and open_pulling(plan, ws):
                changes += 1
                continue
            if stop < 0:
                stop = first_beyond(plan, ws, 1 - pose)
                if stop >= 0:
                    low, low_gap, trials = 0.0, measure_stop(plan, ws, pose, stop, ws.jacobian[pose]), 0
                    was_beyond = False
                    if low_gap <= TOUCHING:
                        low_gap = -1.0  # not known to be open anywhere
            if stop >= 0:
                gap = measure_stop(plan, ws, 1 - pose, stop, ws.jacobian[1 - pose])
                trials += 1
                if abs(gap) > TOUCHING and trials <= SEARCH:
                    beyond = gap < 0.0
                    if beyond:
                        high, high_gap = part, gap
                        if low_gap > 0.0 and was_beyond:
                            low_gap *= 0.5  # Illinois: an end that stays twice counts half
                    else:
                        low, low_gap = part, gap
                        if not was_beyond:
                            high_gap *= 0.5
                    was_beyond = beyond
                    if low_gap > 0.0:
                        part = low + (high - low) * low_gap / (low_gap - high_gap)
                        continue
                    if high > smallest:
                        part = 0.5 * high  # not yet a fraction at which the gap is open
                        continue
                earlier = first_beyond(plan, ws, 1 - pose) if abs(gap) <= TOUCHING else -1
                if earlier >= 0 and changes < MOST_CHANGES:
                    changes += 1
                    stop, high, trials, was_beyond = earlier, part, 0, True
                    high_gap = measure_stop(plan, ws, 1 - pose, stop, ws.jacobian[1 - pose])
                    low, low_gap = 0.0, measure_stop(plan, ws, pose, stop, ws.jacobian[pose])
                    if low_gap > TOUCHING:
                        part = high * low_gap / (low_gap - high_gap)
                        continue
                    low_gap = -1.0
                    gap = high_gap
                if low_gap < 0.0 and abs(gap) > TOUCHING:
                    # it starts at the limit and goes beyond: an impact at the node, or it rests there
                    impacts += 1
                    changes += 1
                    impact(plan, ws, pose, stop, plan.stop_restitution[stop] if impacts <= MOST_IMPACTS else 0.0)
                    stop, part = -1, min(size, 1.0 - done)
                    continue
        done = 1.0 if done + part > 1.0 - 1e-14 else done + part
        set_load(ws.load, plan.mass, plan.gravity, constant, series, first_node, node, share + width * done)
        _finish(ws.momentum, ws.velocity, plan.mass, plan.inertia, ws.residual_body, ws.load, half_step)
        if plan.gauge_kind.size:
            finish_forces(plan, ws, half_step)
        pose = 1 - pose
        if plan.held_row.size:
            aim_held(plan, ws, commands, command_rates, command_node, node, share + width * done, h / width)
            pass_held(plan, ws, pose)
        if plan.product_joint.size:
            follow_products(plan, ws.position[pose], ws.rotation[pose], ws.row_near)
            place(plan, ws, pose)  # their rows may be other ones now
        pieces += 1
        if stop >= 0:
            impacts += 1
            restitution = plan.stop_restitution[stop]
            if impacts > MOST_IMPACTS:
                restitution = 0.0
            impact(plan, ws, pose, stop, restitution)
            stop, size = -1, 1.0
        while size < 1.0 and math.floor(done / (2.0 * size)) == done / (2.0 * size):
            size *= 2.0
        part = min(size, 1.0 - done)
    _remember(ws.velocity, ws.history[stage])
    return CONVERGED, pose, iterations, pieces - 1


@njit(inline="always")
def project(plan, ws, pose):
    """Velocities at a node: (v, w) = M^-1 (p, l) without the part that the rows forbid, G (v, w) = their rate.

    Written to ``ws.increment_body``, the impulses to ``ws.increment_row``.
    """
    mass_pivots(plan, ws.D)
    clear_rows(plan, ws.compliance, ws.jacobian[pose])
    for i in range(plan.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = ws.momentum[i, k]
    for r in range(plan.row_c.size):
        ws.increment_row[r] = ws.row_rate[r]
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)


@njit
def start_momentum(plan, ws, half_step):
    """Momenta at the first node from ``ws.velocity``; half_step = 0: m v and J w.

    With half the step size they are what a preceding step of that velocity would have left: the
    start of VI, v_1 = v(0).
    """
    for i in range(plan.mass.size):
        for k in range(6):
            ws.residual_body[i, k] = 0.0
    _finish(ws.momentum, ws.velocity, plan.mass, plan.inertia, ws.residual_body, ws.load, half_step)


@njit
def run(plan, ws, pose, node, steps, stride, dt, stages, tol, interval_velocity, loads, out):
    """Advance ``steps`` steps from ``node`` and record every node that ``stride`` divides.

    ``stages``: sizes of the composition stages over dt. ``interval_velocity``: report the velocity
    of the last interval (order 1) instead of the projected one at the node. ``loads``: constant
    (nb, 6), series (T, nb, 6) and the node where it starts, inputs of laws and their rates (T, nf) and the node
    where they start. ``out``: position (T, nb, 3), quat
    (T, nb, 4), velocity (T, nb, 6), work (T, nf) in kernel order; Newton iterations and sub-steps (2,), added to.
    Returns (status, pose, steps done, records written).
    """
    position, quat, velocity, work, counts = out
    record = 0
    for step in range(steps):
        share = 0.0
        for stage in range(stages.size):
            status, pose, iterations, pieces = advance_stage(
                plan, ws, pose, dt * stages[stage], tol, stage, node + step >= 3, loads, node + step, share,
                stages[stage],
            )  # fmt: skip
            counts[0] += iterations
            counts[1] += pieces
            if status != CONVERGED:
                return status, pose, step, record
            share += stages[stage]
        if (node + step + 1) % stride == 0:
            record_node(
                plan, ws, pose, interval_velocity, position[record], quat[record], velocity[record], work[record]
            )
            record += 1
    return CONVERGED, pose, steps, record


@njit
def record_node(plan, ws, pose, interval_velocity, position, quat, velocity, work):
    """Write pose, velocities and work of the present node: (nb, 3), (nb, 4), (nb, 6), (nf,)."""
    nb = plan.mass.size
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
    for f in range(plan.law_kind.size):
        work[f] = ws.work[f]
    for h in range(0 if interval_velocity else plan.held_row.size):
        r = plan.held_row[h]  # what is left for this node of the impulses that make the rates
        work[plan.held_law[h]] += ws.increment_row[r] * ws.row_rate[r]


@njit
def worst_residual(plan, ws):
    """Body and joint with the largest residual of the last iterate, scaled to m/s; -1 where there is none."""
    body = joint = -1
    largest = -1.0
    for i in range(plan.mass.size):
        for k in range(6):
            size = plan.body_scale[i, k // 3] * abs(ws.residual_body[i, k])
            if size > largest or math.isnan(size):
                largest, body = size, i
    largest = -1.0
    for j in range(plan.side.shape[0]):
        for r in range(plan.joint_rows[j], plan.joint_rows[j + 1]):
            size = plan.row_scale[r] * abs(ws.residual_row[r])
            if size > largest or math.isnan(size):
                largest, joint = size, j
    return body, joint
