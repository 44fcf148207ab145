"""Events of hard limits within a step (docs/theory.md section 11).

A step that would end beyond a limit is cut where the limit is met, found by regula falsi in the size of the sub-step.
Each sub-step is a step of the whole scheme, which keeps its order between events. At the limit an impulse along the
measure changes its rate to -e times that before (Newton's law). A limit that is hit again and again in one step, or has
e = 0, closes.

A closed limit lets go when it would pull. With a scheme of one stage it opens if its impulse over the step pulls, and
the step is repeated. With composed schemes, whose stages may go back in time, the sub-step ends where the force of the
limit at a node is zero.
"""

import math

from varint.base.numba import indirect, njit
from varint.geometry.shape_records import CYLINDER
from varint.mathematics.vectors import dot, rotate, vector
from varint.step.compliant.braced_joints import brace_rows, release_rows
from varint.step.constraints import add_constraint_works, set_targets
from varint.step.contacts.events import act_contacts, approaches, settle_near, settles
from varint.step.contacts.finding import SHORTEST, choose_features, misses_features
from varint.step.contacts.rims import (
    AS_IT_IS,
    HALVE,
    REPEAT,
    any_rim_point,
    close_rim_point,
    fix_rims,
    is_rim_point,
    landed_point,
    look_at_rims,
)
from varint.step.contacts.rows import has_contacts
from varint.step.dense import copy_motions
from varint.step.derivatives.tape import keep_event
from varint.step.energy.balance import add_event
from varint.step.inputs import Inputs, set_inputs, set_load
from varint.step.intervals import Interval
from varint.step.ldu import solve_newton
from varint.step.limits.clearances import clearance, contact_of, first_beyond, is_closed
from varint.step.limits.impact_rows import (
    MOST_IMPACTS,
    PARTING,
    approach_limits,
    change_sides,
    close_limits,
    take_limits,
    write_rebounds,
)
from varint.step.limits.rows import (
    TOUCHING,
    close_rows,
    leaps,
    limit_gap,
    limit_row,
    place_rows,
    release_pulling,
    set_closed,
)
from varint.step.measures import rate_of
from varint.step.momentum import momenta_of
from varint.step.pace import accelerate_node
from varint.step.plan import Plan, Workspace
from varint.step.projection import momenta_and_rates, project
from varint.step.restart import ACCEPTED, AGAIN, AT_START, DEEPEST_SUBSTEP, go_back

SEARCH = 60  # trials for the instant of an event
SAME = 1e-13  # shares of a step that differ by less are one instant
SHORTEST_SHARE = 1.0 / (1 << DEEPEST_SUBSTEP)  # of a step, of sub-steps on the way to an event
MOST_CHANGES = 20  # of limits that close or open in one step
MANY_CHANGES = 60  # in one step: a body that rocks lands again and again; from then on its contacts just close
LOSS = 15  # changes that an event counts for whose instant is lost
LEAST_FORCE = 1e-10  # relative to the sum of the forces on the bodies: a smaller pull counts as zero


@njit
def _has_rims(plan):
    """Whether a shape is a cylinder."""
    for kind in plan.contacts.shapes.kind:
        if kind == CYLINDER:
            return True
    return False


@njit
def begin_events(plan, ws, pose, h):
    """Reset the search for an event at the start of a step of ``h`` seconds, at a pose."""
    search = ws.search
    search.limit[0], search.changes[0] = -1, 0
    for n in range(search.impacts.size):
        search.impacts[n] = 0
    for n in range(ws.contacts.near_count[0]):
        ws.contacts.hits[ws.contacts.near[n]] = 0
    renew_events(plan, ws, pose, h)


@njit
def renew_events(plan, ws, pose, h):
    """Look, at a pose within a step, for what could meet in ``h`` seconds."""
    if h > 0.0 and plan.contacts.pair_shape.size:
        choose_features(plan, ws, pose, h)
        if _has_rims(plan):
            fix_rims(plan, ws, pose, h)


def prepare_events(plan: Plan, stages: int) -> None:
    """Compile what steps with so many stages call by pointer."""
    if plan.contacts.body.size:
        act_contacts.prepare()
        if plan.limits.measure.size:
            for each in (approach_limits, take_limits, write_rebounds, change_sides, close_limits):
                each.prepare()
    if plan.contacts.pair_shape.size:
        choose_features.prepare()
        misses_features.prepare()
        fix_rims.prepare()
        look_at_rims.prepare()
    if plan.limits.measure.size + plan.contacts.body.size:
        for function in (close_rows, place_rows, leaps, judge_trial, act_event):
            function.prepare()
        if stages > 1:
            find_pushes.prepare()


@njit
def is_searching(ws):
    """Whether the instant of an event is searched for."""
    return ws.search.limit[0] >= 0


@njit
def end_search(ws):
    """Give up the search for the instant of an event."""
    ws.search.limit[0] = -1


@njit
def retry_events(plan, ws, pose, h):
    """Give up the search for an event after a trial from a pose that was not solved; ``h`` seconds are tried next."""
    end_search(ws)
    if plan.contacts.pair_shape.size and any_rim_point(plan, ws):
        renew_events(plan, ws, pose, h)


@njit
def _any_closed(ws):
    for n in range(ws.efforts.closed.size):
        if ws.efforts.closed[n]:
            return True
    return False


@indirect(seconds=3, what="hard stops")
def find_pushes(plan: Plan, ws: Workspace, inputs: Inputs, pose: int, node: int, share: float, dt: float) -> None:
    """Write to ``ws.search.push`` how hard closed limits push at a pose, ``share`` of ``dt`` s after a node.

    Normalised by LEAST_FORCE times the sum of the applied and the centripetal forces on all bodies.
    """
    search, velocity, length = ws.search, ws.pace.velocity, plan.bodies.length[0]
    set_load(plan, ws, inputs, node, share)
    set_inputs(ws, inputs, node, share)
    if plan.constraints.row.size:
        set_targets(plan, ws, inputs, node, share, dt)
    project(plan, ws, pose)
    largest = 0.0
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            velocity[i, k] = ws.increment_body[i, k]
    accelerate_node(plan, ws, pose, velocity)
    for i in range(plan.bodies.mass.size):
        v, w = vector(velocity[i]), vector(velocity[i, 3:])
        largest += (plan.bodies.mass[i] * dot(v, v) + dot(w, rotate(plan.bodies.inertia[i], w))) / length
        for k in range(3):
            largest += abs(ws.goal[i, k]) + abs(ws.goal[i, 3 + k]) / length
    for n in range(plan.limits.measure.size):
        r = limit_row(plan, n)
        least = LEAST_FORCE * largest * plan.rows.scale[r]
        pull = plan.limits.sign[n] * ws.increment_row[r]
        search.push[n] = -pull / least if least > 0.0 else 0.0


@indirect(seconds=1, what="hard stops")
def judge_trial(
    plan: Plan, ws: Workspace, inputs: Inputs, start: int, end: int, when: Interval,
    part: float, whole: float, forces: bool,
) -> tuple[int, float]:  # fmt: skip
    """Verdict on a trial that took the share ``part`` of a step.

    ``start``, ``end``: poses of the trial; its start is in ``ws.saved_step``. ``when``: its `Interval`. ``whole``:
    the share to try next after AT_START. ``forces``: whether closed limits let go where their force is zero; else by
    their impulse over the step.

    Returns ACCEPTED, or AGAIN or AT_START and the share of the next trial. Accepted with ``ws.search.limit`` set: the
    trial ends at the event of this limit. AT_START: the event is at its start.
    """
    search = ws.search
    if forces:
        if _any_closed(ws):
            find_pushes(plan, ws, inputs, end, when.node, when.after, when.dt)
    elif search.changes[0] < MOST_CHANGES and release_pulling(plan, ws, ws.multiplier):
        search.changes[0] += 1
        return AGAIN, part
    if plan.contacts.pair_shape.size and _has_rims(plan):
        verdict, share = _judge_rims(plan, ws, start, end, part)
        if verdict != ACCEPTED:
            return verdict, share
    value = 0.0
    if search.limit[0] < 0:
        forces = forces and search.changes[0] < MOST_CHANGES
        search.limit[0] = first_beyond(plan, ws, end, forces)
        if search.limit[0] < 0:
            return _accept_shapes(plan, ws, start, end, part) if plan.contacts.pair_shape.size else (ACCEPTED, part)
        if search.changes[0] >= MANY_CHANGES and contact_of(plan, search.limit[0]) >= 0:
            search.changes[0] += 1
            return AT_START, whole
        search.trials[0], search.was_beyond[0], search.low[0] = 0, False, 0.0
        value = clearance(plan, ws, end, search.limit[0])
        _look_at_start(plan, ws, inputs, start, when)
        if _is_met_at_start(plan, ws, start) or settles(plan, ws, start, contact_of(plan, search.limit[0])):
            search.changes[0] += 1
            return AT_START, whole
    else:
        value = clearance(plan, ws, end, search.limit[0])
    search.trials[0] += 1
    if abs(value) > 1.0 and contact_of(plan, search.limit[0]) >= 0 and _is_lost(search):
        # the end of the trial jumps past the contact: the sub-step ends before that, or the contact closes at its start
        search.changes[0] += LOSS
        if search.low[0] > SHORTEST_SHARE and search.changes[0] < MANY_CHANGES:
            end_search(ws)
            return AGAIN, search.low[0]
        search.changes[0] = MANY_CHANGES + 1
        return AT_START, whole
    if abs(value) > 1.0 and search.trials[0] <= SEARCH:
        _narrow(search, part, value)
        if search.low_value[0] > 0.0:
            return AGAIN, _crossing(search)
        if not is_closed(plan, ws, search.limit[0]) and search.high[0] > SHORTEST_SHARE:
            return AGAIN, 0.5 * search.high[0]  # not yet a share at which the gap is open
    earlier = first_beyond(plan, ws, end, forces) if abs(value) <= 1.0 else -1
    if earlier >= 0 and contact_of(plan, earlier) >= 0 and search.changes[0] >= MANY_CHANGES:
        search.changes[0], search.limit[0] = search.changes[0] + 1, earlier
        return AT_START, whole
    if earlier >= 0 and (search.changes[0] < MOST_CHANGES or contact_of(plan, earlier) >= 0):
        search.changes[0] += 1
        search.limit[0], search.trials[0], search.was_beyond[0] = earlier, 0, True
        value = clearance(plan, ws, end, earlier)
        search.low[0], search.high[0], search.high_value[0] = 0.0, part, value
        _look_at_start(plan, ws, inputs, start, when)
        if settles(plan, ws, start, contact_of(plan, earlier)):
            return AT_START, whole
        if search.low_value[0] > 0.0:
            return AGAIN, _crossing(search)
        if _is_met_at_start(plan, ws, start):
            return AT_START, whole
    if search.low_value[0] < 0.0 and abs(value) > 1.0:
        # at the limit from the start: an impact or a rest at the node, or a closed limit that opens there
        search.changes[0] += 1
        return AT_START, whole
    return ACCEPTED, part


@njit
def _judge_rims(plan, ws, start, end, part):
    """Verdict on a trial by the rims that points stand for, see `look_at_rims`, and the share to try next.

    A trial that begins anew with other points has the same share.
    """
    found = look_at_rims(plan, ws, start, end)
    if found != AS_IT_IS:
        end_search(ws)
    if found >= 0:
        ws.search.limit[0] = plan.limits.measure.size + found
        return AT_START, part
    if found == REPEAT:
        return AGAIN, part
    return (AGAIN, 0.5 * part) if found == HALVE and part > SHORTEST else (ACCEPTED, part)


@njit
def _accept_shapes(plan, ws, start, end, part):
    """Verdict on a trial at whose end nothing is beyond its event; where a rim has landed that is an event there."""
    if part > SHORTEST and misses_features(plan, ws, start, end):
        return AGAIN, 0.5 * part
    landed = landed_point(plan, ws) if _has_rims(plan) else -1
    if landed >= 0:
        ws.search.limit[0] = plan.limits.measure.size + landed
    return ACCEPTED, part


@njit
def _look_at_start(plan, ws, inputs, start, when):
    """Undo the trial; set ``ws.search.low_value`` to the clearance at its start, -1 if at or past the event."""
    search = ws.search
    go_back(plan, ws, start)
    if is_closed(plan, ws, search.limit[0]):
        find_pushes(plan, ws, inputs, start, when.node, when.before, when.dt)
    search.low_value[0] = clearance(plan, ws, start, search.limit[0])
    if search.low_value[0] <= 1.0:
        search.low_value[0] = -1.0


@njit
def _is_met_at_start(plan, ws, start):
    """Whether the contact that is searched for touches at the start of the trial and does not part there."""
    k = contact_of(plan, ws.search.limit[0])
    return k >= 0 and ws.search.low_value[0] < 0.0 and approaches(plan, ws, start, k)


@njit
def _narrow(search, part, value):
    """Take a trial into the bracket of the event (regula falsi, Illinois: an end that stays twice counts half)."""
    beyond = value < 0.0
    if beyond:
        search.high[0], search.high_value[0] = part, value
        if search.low_value[0] > 0.0 and search.was_beyond[0]:
            search.low_value[0] *= 0.5
    else:
        search.low[0], search.low_value[0] = part, value
        if not search.was_beyond[0]:
            search.high_value[0] *= 0.5
    search.was_beyond[0] = beyond


@njit
def _is_lost(search):
    """Whether the instant of the event is not found: all trials are used up, or their bracket is."""
    return search.trials[0] > SEARCH or (search.low[0] > 0.0 and search.high[0] - search.low[0] < SAME)


@njit
def _crossing(search):
    """Zero of the line through both ends of the bracket."""
    low, high = search.low_value[0], search.high_value[0]
    return search.low[0] + (search.high[0] - search.low[0]) * low / (low - high)


@indirect(seconds=2, what="hard stops")
def act_event(plan: Plan, ws: Workspace, pose: int, timed: bool) -> None:
    """Apply the event of the limit that was searched for, at a node, and end the search.

    A closed limit opens. An open one has an impact, then each other one that touches and is still approached; where
    the plan has contacts, all of them are one problem (contacts/events.py). ``timed``: whether the sub-step before ends where the event is.
    """
    search = ws.search
    n, search.limit[0] = search.limit[0], -1
    k = contact_of(plan, n)
    if k >= 0 and is_rim_point(plan, ws, k):
        if timed:
            act_contacts(plan, ws, pose, n, False)
        else:
            close_rim_point(plan, ws, pose, k)
        return
    if k >= 0:
        if not timed and (search.changes[0] > MANY_CHANGES or settles(plan, ws, pose, k)):
            settle_near(plan, ws, pose, k)
        else:
            act_contacts(plan, ws, pose, n, timed)
        if not timed and plan.contacts.pair_shape.size:
            fix_rims(plan, ws, pose, ws.balance.dt[0])
        return
    if ws.efforts.closed[n]:
        _release(plan, ws, pose, n)
        return
    if has_contacts(plan):
        act_contacts(plan, ws, pose, n, timed)
        return
    while n >= 0:
        search.impacts[n] += 1
        restitution = plan.limits.restitution[n] if search.impacts[n] <= MOST_IMPACTS else 0.0
        impact(plan, ws, pose, n, restitution, timed)
        n, timed = _next_met(plan, ws, pose), False


@njit
def _release(plan, ws, pose, n):
    """Open limit n at a node; momenta become those of the projected velocity, as no multiplier absorbs the rest."""
    project(plan, ws, pose)
    copy_motions(ws.increment_body, ws.velocity)
    set_closed(plan, ws, n, False)
    _keep_impact(plan, ws, pose, n, 0.0, False)  # the same map as that of an impact without restitution
    add_constraint_works(plan, ws, ws.efforts.work)
    add_event(ws)
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0


@njit
def _next_met(plan, ws, pose):
    """Return the touching open limit with the highest approach rate in ``ws.velocity``; -1 for none above PARTING."""
    fastest, limit = PARTING, -1
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n] or limit_gap(plan, ws, pose, n) > TOUCHING:
            continue
        m = plan.limits.measure[n]
        rate = plan.limits.sign[n] * rate_of(plan.measures.body[m], ws.jacobian[pose, limit_row(plan, n)], ws.velocity)
        if rate > fastest and ws.search.impacts[n] <= MOST_IMPACTS:
            fastest, limit = rate, n
    return limit


@njit
def impact(plan, ws, pose, n, restitution, timed):
    """Apply the impact at limit n to momenta and energy balance; e = 0 closes it. Closed limits are constraints.

    Closed limits that the impact would pull let go, the strongest pull first. After MOST_CHANGES in a step they stay
    closed: limits that open in each other's impacts could repeat for ever.
    """
    r, closed = limit_row(plan, n), ws.efforts.closed
    body, row, search = ws.increment_body, ws.increment_row, ws.search
    momenta_and_rates(plan, ws, pose)
    place_rows(plan, ws, pose)
    solve_newton(plan, ws, body, row, pose, pose)
    limit_gap(plan, ws, pose, n)
    before = rate_of(plan.measures.body[r], ws.jacobian[pose, r], body)
    if plan.limits.sign[n] * before <= 0.0 and restitution > 0.0:
        copy_motions(body, ws.velocity)
        return
    for m in range(closed.size):
        search.before[m] = row[limit_row(plan, m)] if closed[m] else 0.0
    copy_motions(body, ws.velocity)
    _keep_impact(plan, ws, pose, n, restitution, timed)
    set_closed(plan, ws, n, True)
    pulls, braced = True, plan.compliant.joint_row.size > 0
    while pulls:
        momenta_and_rates(plan, ws, pose)
        place_rows(plan, ws, pose)
        if braced:
            brace_rows(plan, ws, pose)
        row[r] = -restitution * before
        ws.efforts.rest_gap[n] = limit_gap(plan, ws, pose, n)
        solve_newton(plan, ws, body, row, pose, pose)
        pulls = search.changes[0] < MOST_CHANGES and _let_go(plan, ws, n)
    ws.efforts.work[plan.limits.element[n]] += 0.5 * row[r] * (1.0 - restitution) * before
    add_constraint_works(plan, ws, ws.efforts.work)
    if braced:
        release_rows(plan, ws, pose)
    add_event(ws)
    copy_motions(body, ws.velocity)
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0
    set_closed(plan, ws, n, restitution == 0.0)


@njit
def _let_go(plan, ws, n):
    """Open the closed limit that pulls most in the impact at limit n; whether there was one.

    Momenta are recomputed from the velocities before the impact: the impulse that the limit balanced drops out.
    """
    search, row, limit, most = ws.search, ws.increment_row, -1, 0.0
    for i in range(plan.bodies.mass.size):
        p, L = vector(ws.momentum[i]), vector(ws.momentum[i, 3:])
        most += PARTING * (math.sqrt(dot(p, p)) + math.sqrt(dot(L, L)) / plan.bodies.length[0])
    for m in range(plan.limits.measure.size):
        if m == n or not ws.efforts.closed[m] or limit_row(plan, m) == limit_row(plan, n):
            continue
        r = limit_row(plan, m)
        pull = plan.limits.sign[m] * (row[r] - search.before[m]) / plan.rows.scale[r]
        if pull > most:  # more than round-off of the momenta
            most, limit = pull, m
    if limit < 0:
        return False
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0
    for m in range(plan.limits.measure.size):
        search.before[m] = 0.0
    set_closed(plan, ws, limit, False)
    j = ws.tape.events.count[0] - 1
    if ws.tape.h.size and j < ws.tape.events.stage.size:
        ws.tape.events.limits.closed[j, limit] = 2  # it lets go in the impact
    return True


@njit
def _keep_impact(plan, ws, pose, n, restitution, timed):
    """Keep the impact at limit n that comes now on the tape, if there is one; ``timed``: see `Events`."""
    j = keep_event(plan, ws, pose, timed) if ws.tape.h.size else -1
    if j >= 0:
        ws.tape.events.limits.limit[j], ws.tape.events.limits.restitution[j] = n, restitution
