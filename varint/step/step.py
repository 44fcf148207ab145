"""Steps, sub-steps and runs of the node-momentum form (docs/theory.md section 3).

A step of size h takes (x, q, p, l) at one node to the next, with c = h / 2:

    m v = p + c f + (G^T multiplier)_x          start momentum of w = l + c tau + (G^T multiplier)_theta
    x' = x + h v,  q' = q (sqrt(1 - |c w|^2), c w),  g(x', q') = 0
    p' = m v + c f'                             l' = end momentum of w + c tau'

The normal part of (p', l') is left in: it lies in the range of G^T, where the next multiplier
absorbs it. `project` removes it where velocities are reported.
"""

import math

from varint.base.numba import Float1, Float2, Float3, Int1, ReadOnly, njit
from varint.mathematics.sums import two_sum, two_sums
from varint.mathematics.vectors import add, dot, scale, sub, turn_of, vector, write
from varint.step.bearings.steps import solve_bearings
from varint.step.compliant.ringing import extrapolate_ringing
from varint.step.configuration import follow_products, place
from varint.step.contacts.rows import has_contacts
from varint.step.contacts.steps import solve_contacts
from varint.step.damping.choice import choose_leads
from varint.step.damping.relaxing import first_share
from varint.step.dense import copy_motions
from varint.step.derivatives.tape import keep_load, keep_stage
from varint.step.double.increment import TAKEN, UNSOLVED, finish_extended, sharpen
from varint.step.energy.balance import is_off, leave_energy, pass_on, weigh_node
from varint.step.energy.entries import add_load
from varint.step.inputs import Inputs, set_inputs, set_load
from varint.step.intervals import Interval, NodeGrid
from varint.step.limits.impacts import act_event, begin_events, judge_trial, renew_events, retry_events
from varint.step.limits.rows import leaps
from varint.step.momentum import angular_momentum
from varint.step.newton import CONVERGED, EPSILON, NOT_CONVERGED, NOTHING, solve_step
from varint.step.pace import keep_pace
from varint.step.plan import HISTORY, LONG_HISTORY, Plan, Workspace
from varint.step.projection import node_works, project
from varint.step.restart import ACCEPTED, AT_START, SHORTEST_SHARE, copy_start, go_back
from varint.step.roles import aim_roles, finish_roles, remember_roles, start_roles
from varint.step.stage_starts import add_expected_error

MOST_TRIALS = 500  # of a sub-step that events end; then it is divided, for they follow one another without end
SAME_TIME = 1e-9  # of dt: a node that is as near as this to the end of a run is its end
OPEN, SLACK = 1e-9, 10.0  # of the size of a part, and of the tolerance of a step: so far a joint may be open
NEAR_ENOUGH = 1e-4  # of the square of a velocity: by how much less a start value may have missed the last one
SMOOTH = 1e-8  # the same, from which on more than HISTORY differences are looked at: others are small by chance
EXACT_ENOUGH = 8.0 * EPSILON * NOTHING  # of the square of size over step: one increment from there leaves NOTHING


@njit(inline="always")
def _extrapolate(velocity, history, depth, length, still, enough):
    """Write to ``velocity`` (nb, 6) the start value of Newton's iteration, from ``history`` (n, nb, 6).

    ``history`` holds the velocity of the same stage in the last step, and its backward differences; its first ``depth``
    entries, three at least, are up to date. The degree of the polynomial is the one that would have predicted the last
    step best, or 2 if none came close. Newton's method then stays on the motion's branch more often. ``length``, m,
    scales rad/s to m/s. Velocities below ``still``, m/s, are round-off, which differences would amplify from step to
    step: they start from the last. No degree is sought beyond one that missed by less than the root of ``enough``.
    Returns by how much such a start value missed the last velocities, m/s, infinity where none came close; the degree;
    and how many entries are worth keeping up to date.
    """
    # The difference D^k of order k is what the polynomial of degree k - 1 missed at the last step, so that the smallest
    # |D^k| < sqrt(NEAR_ENOUGH) |D^0| chooses the degree; the start value is the sum of D^0, D^1, ..., D^degree.
    degree, least, scale, missed = 2, NEAR_ENOUGH, 0.0, math.inf
    for k in range(depth):
        if k == HISTORY and least > SMOOTH:
            depth = k  # the next difference is added after the step
            break
        line = turn = 0.0
        for i in range(velocity.shape[0]):
            d = history[k, i]
            line += d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
            turn += d[3] * d[3] + d[4] * d[4] + d[5] * d[5]
        size = line + length * length * turn
        if k == 0:
            scale = size
        elif size < least * scale:
            degree, least, missed = k - 1, size / scale, size
            if size < enough:
                depth = max(k, 2)
                break
    if scale < still * still:
        degree, missed = 0, scale
    for i in range(velocity.shape[0]):
        d = history[0, i]
        v0, v1, v2, v3, v4, v5 = d[0], d[1], d[2], d[3], d[4], d[5]
        for j in range(1, degree + 1):
            d = history[j, i]
            v0, v1, v2, v3, v4, v5 = v0 + d[0], v1 + d[1], v2 + d[2], v3 + d[3], v4 + d[4], v5 + d[5]
        v = velocity[i]
        v[0], v[1], v[2], v[3], v[4], v[5] = v0, v1, v2, v3, v4, v5
    return math.sqrt(missed), degree, depth


@njit
def _remember(velocity, history, count):
    """Replace the first ``count`` backward differences ``history`` (n, nb, 6), now up to ``velocity`` (nb, 6)."""
    for i in range(velocity.shape[0]):
        v = velocity[i]
        v0, v1, v2, v3, v4, v5 = v[0], v[1], v[2], v[3], v[4], v[5]
        for j in range(count):
            d = history[j, i]
            d0, d1, d2, d3, d4, d5 = d[0], d[1], d[2], d[3], d[4], d[5]
            d[0], d[1], d[2], d[3], d[4], d[5] = v0, v1, v2, v3, v4, v5
            v0, v1, v2, v3, v4, v5 = v0 - d0, v1 - d1, v2 - d2, v3 - d3, v4 - d4, v5 - d5


@njit
def remember_step(plan, ws):
    """Keep the velocities of the stages of a step, ``ws.saved_step.velocity``, for the start values of the next.

    Changes the differences ``ws.history`` and their numbers ``ws.depth``.
    """
    for stage in range(ws.history.shape[0]):
        ws.depth[stage] = min(ws.depth[stage] + 1, ws.history.shape[1])
        _remember(ws.saved_step.velocity[stage], ws.history[stage], ws.depth[stage])
    remember_roles(plan, ws)


@njit
def _kick(ws, half_step):
    """Write to ``ws.goal`` the momenta that a stage starts from: ``ws.momentum`` + ``half_step`` (s) ``ws.load``."""
    for i in range(ws.goal.shape[0]):
        p, p_rest, load = ws.momentum[i], ws.momentum_rest[i], ws.load[i]
        line, line_rest = two_sums(vector(p), scale(half_step, vector(load)))
        turn, turn_rest = two_sums(turn_of(p), scale(half_step, turn_of(load)))
        line, line_rest = two_sums(line, add(line_rest, vector(p_rest)))
        turn, turn_rest = two_sums(turn, add(turn_rest, turn_of(p_rest)))
        write(ws.goal[i], line, turn)
        write(ws.goal_rest[i], line_rest, turn_rest)


@njit(inline="always")
def _finish(plan, ws, half_step):
    """Replace ``ws.momentum`` by the momenta at the end of a stage, and account for the work of the load over it.

    They follow from the velocities that were solved for and ``ws.load`` (nb, 6) at the end. What Newton's method left
    of the residuals is taken off, which makes the balance of momentum exact at any tolerance. ``half_step``: half the
    size of the stage, s.
    """
    mass = plan.bodies.mass
    for i in range(mass.size):
        v, p, load, start = ws.velocity[i], ws.momentum[i], ws.load[i], ws.goal[i]
        left, rest = ws.residual_body[i], ws.goal_rest[i]
        push, twist = scale(half_step, vector(load)), scale(half_step, turn_of(load))
        line, turn = sub(vector(start), vector(p)), sub(turn_of(start), turn_of(p))  # the kick at the start
        add_load(plan, ws, i, dot(add(line, push), vector(v)) + dot(add(turn, twist), turn_of(v)))
        line = add(sub(scale(mass[i], vector(v)), vector(start)), sub(push, vector(left)))
        turn = sub(angular_momentum(plan.bodies.inertia[i], turn_of(v), -half_step), turn_of(start))
        turn = add(turn, sub(twist, turn_of(left)))
        line, line_rest = two_sums(vector(start), add(vector(rest), line))
        turn, turn_rest = two_sums(turn_of(start), add(turn_of(rest), turn))
        write(p, line, turn)
        write(ws.momentum_rest[i], line_rest, turn_rest)


@njit
def begin_part(plan, ws, inputs, h, stage, extrapolate, when, warm):
    """Write load, inputs and first iterates of a stage of ``h`` seconds; see `_try_part`.

    Iterates in ``ws.velocity`` (nb, 6) and ``ws.multiplier`` (nr,). ``warm``: share of the last multipliers that
    multipliers start from. Also sets ``ws.depth`` and clears ``ws.extended.used``. Returns how wrong the velocities may
    be, m/s.
    """
    half_step = 0.5 * h
    set_load(plan, ws, inputs, when.node, when.before)
    _kick(ws, half_step)
    set_inputs(ws, inputs, when.node, 0.5 * (when.before + when.after))
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = warm * ws.last_multiplier[r] if warm != 0.0 else 0.0
    missed = math.inf
    if extrapolate:
        still = ws.starts.still[0]
        if plan.compliant.joint_row.size:
            extrapolate_ringing(ws, stage, plan.bodies.length[0], still)
        else:
            history, length = ws.history[stage], plan.bodies.length[0]
            enough = EXACT_ENOUGH * (length / h) ** 2 if history.shape[0] == LONG_HISTORY else 0.0
            missed, degree, ws.depth[stage] = _extrapolate(ws.velocity, history, ws.depth[stage], length, still, enough)
            if ws.history.shape[0] > 1 and missed >= still:
                add_expected_error(ws, stage, degree)
            for r in range(ws.multiplier.size if missed < still and ws.ldu.K.size == 0 else 0):
                ws.multiplier[r] = ws.last_multiplier[r]
    aim_roles(plan, ws, inputs, when, h, extrapolate)
    ws.extended.used[0] = False
    return missed


@njit
def _try_part(plan, ws, inputs, pose, h, tol, stage, extrapolate, when):
    """Solve a stage of ``h`` seconds from ``pose`` to the pose 1 - ``pose``; momenta and works stay.

    ``inputs``: an `Inputs`; ``stage``: its number in the step; ``when``: its `Interval`; ``tol``: m/s, see
    `solve_step`. ``extrapolate``: whether velocities start from those of the last steps. Returns as `solve_step`, with
    the solution in ``ws.velocity`` (nb, 6) and ``ws.multiplier`` (nr,). Also sets ``ws.extended.used`` and, in plans of
    trees without events, ``ws.last_multiplier`` (nr,).
    """
    alone = ws.history.shape[0] == 1
    # multipliers of redundant closures would grow from step to step, and those of a step with contacts lead the states
    # of contacts astray where they change: a slider-crank with clearance then gains energy. Where the motion is so even
    # that its start value is that of the last step to CALM, at rest or while sliding, they are those of this step too
    plain = ws.ldu.K.size == 0 and not ws.search.any_events[0]
    warm = 1.0 if plain and extrapolate else 0.0
    if not alone and warm > 0.0:  # impulses are in proportion to the size of a stage
        before = ws.balance.size[0]
        warm = h / before if before != 0.0 else 0.0
    if ws.damping.active[0]:
        choose_leads(plan, ws, pose, h)
    missed = begin_part(plan, ws, inputs, h, stage, extrapolate, when, warm)
    sharpened = ws.extended.impulse.shape[0] > 0
    further = 1 if alone or sharpened else 2
    if has_contacts(plan):
        upper = pose
        status, iterations = solve_contacts(plan, ws, pose, 1 - pose, h, tol)
    elif plan.bearings.row.size > 0:
        status, iterations, upper = solve_bearings(plan, ws, pose, h, tol, further, missed)
    else:
        status, iterations, upper = solve_step(plan, ws, pose, 1 - pose, h, tol, further, sharpened, missed)
        if sharpened and status == CONVERGED and upper == pose:
            increment = sharpen(plan, ws, pose, 1 - pose, h, tol)
            ws.extended.used[0] = increment == TAKEN
            status = NOT_CONVERGED if increment == UNSOLVED else CONVERGED
            iterations += 1
    for r in range(ws.multiplier.size if plain else 0):
        ws.last_multiplier[r] = ws.multiplier[r]
    return status, iterations, upper


@njit
def _finish_part(plan, ws, inputs, pose, h, tol, when, last):
    """Bring momenta, works, states of laws and counted turns to the end of a solved stage, the pose 1 - ``pose``.

    Takes the arguments of `_try_part`. At the first stage of a step the energy at its node is checked
    (energy/balance.py). Product joints keep their choice of solved components until the ``last`` stage, so that all
    stages of a step belong to one map; at mid-stage, where it is slightly open, laws would see a switch. Momenta are in
    ``ws.momentum`` (nb, 6); ``ws.balance.size`` is set. Returns whether the joints are closed: where coordinates were
    not found, as near a fold of a surface, the rows that were solved are not theirs.
    """
    half_step, end = 0.5 * h, 1 - pose
    if ws.balance.at_node[0]:
        weigh_node(plan, ws, pose, h)
    if inputs.loads.shape[0]:
        set_load(plan, ws, inputs, when.node, when.after)
    if ws.extended.used[0]:
        finish_extended(plan, ws, half_step)
    else:
        _finish(plan, ws, half_step)
    finish_roles(plan, ws, pose, end, h)
    ws.balance.size[0] = h
    if plan.products.start.size:
        follow_products(plan, ws, ws.position[end], ws.rotation[end], last)
        gap = place(plan, ws, end)  # their rows may be other ones now
        return gap <= OPEN * plan.bodies.length[0] + SLACK * tol * abs(h)
    return True


@njit
def advance_step(plan, ws, inputs, pose, stages, tol, extrapolate, node, width, dt):
    """Take a step of the scheme from ``node``, in one piece or in sub-steps of the whole scheme.

    A sub-step is repeated at half its size where it is not solved or, with ``ws.balance.redo``, energy comes from
    nowhere; it also ends at events. ``pose``: of the state. ``stages`` (n,): shares of the step, ``width`` times ``dt``
    s. Changes ``ws.damping.longest_share``, ``ws.tape``. Returns (status, pose, iterations, further sub-steps).
    """
    # shares of the step: done, of a sub-step that no event ends, that is tried, and the longest (damping/relaxing.py)
    done, size, part, iterations, pieces, events, longest_share = 0.0, 1.0, 1.0, 0, 0, 0, ws.damping.longest_share
    redo, has_events, taping = ws.balance.redo[0], ws.search.any_events[0], ws.tape.h.size > 0
    if has_events:
        begin_events(plan, ws, pose, width * dt)
    kept = stages.size > 1 or redo or has_events or plan.products.start.size > 0
    if redo:
        leave_energy(plan, ws, pose, 0)
    while done < 1.0:
        if longest_share[0] == 0.0:
            longest_share[0], part = first_share(plan, ws, pose, width * dt), 1.0
        longest = min(size, 1.0 - done, longest_share[0])
        part = min(part, longest)
        if kept:
            copy_start(plan, ws, pose, False)
        status, verdict, end, before, least, taped = CONVERGED, ACCEPTED, pose, width * done, 0.0, ws.tape.count[0]
        for stage in range(stages.size):
            share = width * part * stages[stage]
            when = Interval(node, before, before + share, dt)
            whole = extrapolate and part == 1.0
            status, count, upper = _try_part(plan, ws, inputs, end, dt * share, tol, stage, whole, when)
            iterations += count
            if plan.limits.measure.size > 0 and status == CONVERGED and leaps(plan, ws, 1 - end):
                status = NOT_CONVERGED
            if status != CONVERGED:
                break
            if taping:
                keep_stage(plan, ws, end, upper, dt * share, node, 0.5 * (before + when.after))
            if not _finish_part(plan, ws, inputs, end, dt * share, tol, when, stage == stages.size - 1):
                status = NOT_CONVERGED
                break
            if taping:
                keep_load(plan, ws)
            end, before = 1 - end, when.after
            copy_motions(ws.velocity, ws.saved_step.velocity[stage])
        if has_events and status == CONVERGED:
            span = Interval(node, width * done, before, dt)
            verdict, least = judge_trial(plan, ws, inputs, pose, end, span, part, longest, stages.size > 1)
            events += verdict != ACCEPTED
            status, events = (NOT_CONVERGED, 0) if events > MOST_TRIALS else (status, events)
        if redo and status == CONVERGED and verdict == ACCEPTED:
            status = NOT_CONVERGED if is_off(plan, ws, end) and min(size, part) > SHORTEST_SHARE else status
        if status != CONVERGED or verdict != ACCEPTED:
            ws.tape.count[0] = taped
            if kept:
                go_back(plan, ws, pose)
        if status != CONVERGED:
            size = 0.5 * (size if ws.search.limit[0] >= 0 else min(size, part))  # trials for an event may be short
            if size < SHORTEST_SHARE * longest_share[0]:
                return status, pose, iterations, pieces
            part = min(size, 1.0 - done, longest_share[0])
            if has_events:
                retry_events(plan, ws, pose, width * dt * part)
            copy_motions(ws.history[0, 0], ws.velocity)
            continue
        if verdict != ACCEPTED:
            if verdict == AT_START:
                act_event(plan, ws, pose, False)
            part = least
            continue
        done = 1.0 if done + part > 1.0 - 1e-14 else done + part
        pose, events, part, pieces = end, 0, 1.0, pieces + 1
        pass_on(ws.balance)
        if has_events:
            if ws.search.limit[0] >= 0:
                act_event(plan, ws, pose, True)
                size = 1.0
            renew_events(plan, ws, pose, width * dt * (1.0 - done))
        while size < 1.0 and math.floor(done / (2.0 * size)) == done / (2.0 * size):  # `done`: a multiple of twice it
            size *= 2.0
    remember_step(plan, ws)
    return CONVERGED, pose, iterations, pieces - 1


@njit
def start_momentum(plan, ws, half_step):
    """Write the momenta (nb, 6) at the first node to ``ws.momentum``: m v and J w for ``half_step`` = 0.

    With half the size of a step, s, they are those that a step before, of the same velocity, would have left: the start
    of VI, v_1 = v(0). Other roles than bodies know ``half_step`` = 0 alone. Clears ``ws.goal``, ``ws.goal_rest`` and
    ``ws.residual_body``.
    """
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.residual_body[i, k] = ws.goal[i, k] = ws.goal_rest[i, k] = 0.0
    _finish(plan, ws, half_step)
    start_roles(plan, ws, 0)


@njit(seconds=9, what="steps in maximal coordinates", ahead="the solver of joints")
def run(
    plan: Plan, ws: Workspace, inputs: Inputs, pose: int, grid: NodeGrid,
    stages: ReadOnly[Float1], tol: float, interval_velocity: bool,
    out: tuple[Float3, Float3, Float3, Float2, Float2, Int1, Float1, Int1],
) -> tuple[int, int, int, int]:  # fmt: skip
    """Take steps from a node on and record; adaptive ones stop at the last node before the end.

    ``pose``: the one that holds the state. ``stages`` (n,): their sizes over that of the step. ``interval_velocity``:
    record the velocity of the last step (order 1), not the projected one at the node. Sets ``ws.pace.time`` and
    ``ws.balance``.

    ``out``, in kernel order: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6), work (T, ne), states of laws
    (T, n), slot of a body that was not resolved since the record before (T,), -1 for none; time (T,), s; Newton
    iterations and sub-steps (2,), which are added to. Returns (status, pose, steps done, records written).
    """
    node, steps, stride, dt, end = grid.node, grid.steps, grid.stride, grid.dt, grid.end
    position, quat, velocity, work, state, unresolved, time, counts = out
    record, pace, width = 0, ws.pace, 1.0
    adaptive = pace.factor[0] > 0.0
    for step in range(steps):
        if adaptive:
            width = 1.0 / pace.density[0]
            if pace.time[0] + dt * width > end + SAME_TIME * dt:
                return CONVERGED, pose, step, record
        status, pose, iterations, pieces = advance_step(
            plan, ws, inputs, pose, stages, tol, node + step >= 3, node + step, width, dt
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
    """Write the present node to ``out``; ``interval_velocity`` as in `run`.

    ``out``: position (nb, 3), quat (nb, 4), velocity (nb, 6), work (ne,), states of laws (n,).
    """
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
    if interval_velocity:
        for e in range(work.size):
            work[e] = ws.efforts.work[e]
    else:
        node_works(plan, ws, work)
    for n in range(state.size):
        state[n] = ws.efforts.state[n]


@njit
def worst_residual(plan, ws):
    """Find the body (slot) and the joint (number) with the largest residual of a step that failed.

    Residuals are those that the last `evaluate_step` left, scaled to m/s; NaN counts as the largest. All rows are
    compared, released ones too: of efforts and open limits, whose residual is zero. -1 where a plan has no joint.
    """
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
