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
from varint.step.contacts.accelerations import take_closed
from varint.step.contacts.events import NOBODY, SETTLED, act_contacts, approaches, settle_near, settles
from varint.step.contacts.finding import SHORTEST, choose_features, overlooks_features
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
from varint.step.contacts.rolling import is_rolling
from varint.step.contacts.rows import TOUCHING, contact_gap, has_contacts, normal_rate
from varint.step.contacts.steps import solve_contacts
from varint.step.dense import copy_motions
from varint.step.derivatives.tape import keep_event
from varint.step.energy.entries import add_event, add_landing
from varint.step.inputs import Inputs, set_inputs, set_load
from varint.step.intervals import Interval
from varint.step.ldu import solve_newton
from varint.step.limits.bracket import SEARCH, crossing, is_lost, narrow
from varint.step.limits.clearances import clearance, contact_of, first_beyond, is_closed
from varint.step.limits.impact_rows import (
    CHANGED,
    CYCLES,
    MOST_CHANGES,
    PARTING,
    approach_limits,
    change_sides,
    close_limits,
    rounds_of,
    take_limits,
    write_rebounds,
)
from varint.step.limits.returning import close_on_floors
from varint.step.limits.rows import (
    any_limit_closed,
    limit_row,
    release_pulling,
    set_closed,
    unit_of_limit,
)
from varint.step.momentum import momenta_of
from varint.step.pace import accelerate_node, sum_of_forces
from varint.step.plan import Plan, Workspace
from varint.step.projection import momenta_and_rates, project
from varint.step.restart import ACCEPTED, AGAIN, AT_START, GROWTH, SHORTEST_SHARE, go_back
from varint.step.roles import add_role_works, aim_roles, brace_roles, place_role_rows
from varint.step.sizes import length_unit

RUN_STARTS = -2  # in place of the limit that is searched for: the next step is the first of a run
MANY_CHANGES = 60  # in one step: a body that rocks lands again and again; what then lands once more just closes
LOSS = 15  # changes that an event counts for whose instant is lost
LEAST_FORCE = 1e-10  # relative to the sum of the forces on the bodies: a smaller pull counts as zero


@njit
def _has_rims(plan):
    """Return whether a shape that may touch others is a cylinder."""
    for s in range(plan.contacts.shapes.kind.size if plan.contacts.pair_shape.size else 0):
        if plan.contacts.shapes.kind[s] == CYLINDER:
            return True
    return False


@indirect(seconds=1, what="hard stops and contacts")
def begin_events(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """Reset the search, ``ws.search.impacts`` (nl,) among it, at the start of a step of ``h`` seconds, at a pose.

    ``ws.contacts.hits`` (nc,), of listed contacts, become zero too. In the first step of a run what touches and
    approaches has its impact: a strong damper beside it would end the approach before the end of the step is beyond the
    limit.
    """
    search, starts = ws.search, ws.search.limit[0] == RUN_STARTS
    search.limit[0], search.changes[0] = -1, 0
    if ws.efforts.come_back[0] > 0.0:
        close_on_floors(plan, ws, pose)
    for n in range(search.impacts.size):
        search.impacts[n] = 0
    for n in range(ws.contacts.near_count[0]):
        ws.contacts.hits[ws.contacts.near[n]] = 0
    renew_events(plan, ws, pose, h)
    if starts:
        meet_at_start(plan, ws, pose)


@indirect(seconds=1, what="hard stops and contacts")
def renew_events(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """Choose the features of shapes, ``ws.contacts.near`` (nc,), that could meet from a pose on in ``h`` seconds."""
    if h > 0.0 and plan.contacts.pair_shape.size:
        choose_features(plan, ws, pose, h)
        fix_rims(plan, ws, pose, h)


@indirect(seconds=1, what="hard stops and contacts")
def retry_events(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """End the search, ``ws.search.limit`` (1,), after a trial that was not solved; ``h`` seconds are tried next."""
    ws.search.limit[0] = -1
    if any_rim_point(plan, ws):
        renew_events(plan, ws, pose, h)


@indirect(seconds=1, what="hard stops")
def find_pushes(plan: Plan, ws: Workspace, inputs: Inputs, pose: int, node: int, share: float, dt: float) -> None:
    """Write to ``ws.search.push`` (nl,) how hard closed limits push at a pose, ``share`` of ``dt`` s after a node.

    Normalised by LEAST_FORCE times the sum of the applied and the centripetal forces on all bodies. Closed contacts
    take part by their law: ``ws.contacts.z``, their forces (nk, 3), N, and ``rate``, m/s^2. ``pose``: its number in the
    workspace; ``inputs``: `Inputs` of the run; ``node``: number of the node in it. Also writes ``ws.pace.velocity``
    (nb, 6), the velocities at the pose.
    """
    search, velocity = ws.search, ws.pace.velocity
    set_load(plan, ws, inputs, node, share)
    set_inputs(ws, inputs, node, share)
    aim_roles(plan, ws, inputs, Interval(node, share, share, dt), 0.0, True)
    project(plan, ws, pose)
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            velocity[i, k] = ws.increment_body[i, k]
    if ws.contacts.near_count[0]:
        take_closed(plan, ws, pose, velocity)
    accelerate_node(plan, ws, pose, velocity)
    largest = sum_of_forces(plan, ws)
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
    """Return the verdict on a trial that took the share ``part``, (0, 1], of a step.

    ``start``, ``end``: poses of the trial; its start is in ``ws.saved_step``. ``inputs``: `Inputs` of the run.
    ``when``: its `Interval`. ``whole``: the share to try next after AT_START. ``forces``: whether closed limits let go
    where their force is zero; else by their impulse over the step.

    Returns ACCEPTED, or AGAIN or AT_START and the share of the next trial. Accepted with ``ws.search.limit`` set: the
    trial ends at the event of this limit. AT_START: the event is at its start. A contact whose event is lost counts in
    ``ws.contacts.hits``.
    """
    search = ws.search
    if forces:
        if any_limit_closed(ws):
            find_pushes(plan, ws, inputs, end, when.node, when.after, when.dt)
    elif search.changes[0] < MOST_CHANGES and release_pulling(plan, ws, ws.multiplier):
        search.changes[0] += 1
        return AGAIN, part
    if _has_rims(plan):
        verdict, share = _judge_rims(plan, ws, start, end, part)
        if verdict != ACCEPTED:
            return verdict, share
    value = 0.0
    if search.limit[0] < 0:
        forces = forces and search.changes[0] < MOST_CHANGES
        search.limit[0] = first_beyond(plan, ws, end, forces)
        if search.limit[0] < 0:
            return _accept(plan, ws, start, end, part)
        if _is_worn(plan, ws, contact_of(plan, search.limit[0])):
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
    if abs(value) > 1.0 and contact_of(plan, search.limit[0]) >= 0 and is_lost(search):
        # the end of the trial jumps past the contact: the sub-step ends before that, or the contact closes at its start
        search.changes[0] += LOSS
        if search.low[0] > SHORTEST_SHARE and search.changes[0] < MANY_CHANGES:
            search.limit[0] = -1
            return AGAIN, search.low[0]
        search.changes[0] = MANY_CHANGES + 1
        ws.contacts.hits[contact_of(plan, search.limit[0])] += 1
        return AT_START, whole
    if abs(value) > 1.0 and search.trials[0] <= SEARCH:
        narrow(search, part, value)
        if search.low_value[0] > 0.0:
            return AGAIN, crossing(search)
        if not is_closed(plan, ws, search.limit[0]) and search.high[0] > SHORTEST_SHARE:
            return AGAIN, 0.5 * search.high[0]  # not yet a share at which the gap is open
    earlier = first_beyond(plan, ws, end, forces) if abs(value) <= 1.0 else -1
    if earlier >= 0 and _is_worn(plan, ws, contact_of(plan, earlier)):
        search.changes[0], search.limit[0] = search.changes[0] + 1, earlier
        return AT_START, whole
    if earlier >= 0 and (search.changes[0] < MOST_CHANGES or contact_of(plan, earlier) >= 0):
        verdict, share = _turn_to(plan, ws, inputs, start, end, when, part, earlier)
        if verdict != ACCEPTED:
            return verdict, whole if verdict == AT_START else share
        value = search.high_value[0]
    if search.low_value[0] < 0.0 and abs(value) > 1.0:
        # at the limit from the start: an impact or a rest at the node, or a closed limit that opens there
        search.changes[0] += 1
        return AT_START, whole
    return _end_at_event(plan, ws, start, end, part)


@njit
def _turn_to(plan, ws, inputs, start, end, when, part, earlier):
    """Search for the event of ``earlier`` in a trial that ends at that of another one; return verdict and next share.

    ``part``, (0, 1]: of a step, of the trial. Undoes the trial. ACCEPTED: the event is at the start. Writes of
    ``ws.search`` ``limit``, ``trials``, ``was_beyond``, ``low``, ``high`` and ``high_value``, and counts a change in
    ``ws.search.changes``.
    """
    search = ws.search
    search.changes[0] += 1
    search.limit[0], search.trials[0], search.was_beyond[0] = earlier, 0, True
    search.low[0], search.high[0], search.high_value[0] = 0.0, part, clearance(plan, ws, end, earlier)
    _look_at_start(plan, ws, inputs, start, when)
    if settles(plan, ws, start, contact_of(plan, earlier)):
        return AT_START, part
    if search.low_value[0] > 0.0:
        return AGAIN, crossing(search)
    if _is_met_at_start(plan, ws, start):
        return AT_START, part
    if not is_closed(plan, ws, earlier) and part > SHORTEST_SHARE:
        return AGAIN, 0.5 * part  # it touches at the start, parts, and comes back: not yet where it is open
    return ACCEPTED, part


@njit
def _end_at_event(plan, ws, start, end, part):
    """Return verdict and next share (0, 1] of a trial that ends at the event that was searched for.

    Where shapes met without a slot, ``ws.search.limit`` is set to -1: the search begins anew.
    """
    if overlooks_features(plan, ws, start, end, part):
        ws.search.limit[0] = -1
        return AGAIN, 0.5 * part
    return ACCEPTED, part


@njit
def _is_worn(plan, ws, k):
    """Return whether contact k, or -1, has acted in a step with `MANY_CHANGES`, so that it just closes."""
    return k >= 0 and ws.search.changes[0] >= MANY_CHANGES and ws.contacts.hits[k] > 0


@njit
def _judge_rims(plan, ws, start, end, part):
    """Return the verdict on a trial by the rims of points, see `look_at_rims`, and the share (0, 1] to try next.

    A trial that begins anew with other points has the same share. Sets ``ws.search.limit`` to the contact of a new
    point, or -1.
    """
    asked = look_at_rims(plan, ws, start, end)
    if asked != AS_IT_IS:
        ws.search.limit[0] = -1
    if asked >= 0:
        ws.search.limit[0] = plan.limits.measure.size + asked
        return AT_START, part
    if asked == REPEAT:
        return AGAIN, part
    return (AGAIN, 0.5 * part) if asked == HALVE and part > SHORTEST else (ACCEPTED, part)


@njit
def _accept(plan, ws, start, end, part):
    """Return verdict and next share (0, 1] of a trial that passed no event; where a rim has landed that is one.

    ``ws.search.limit`` is set to its contact then. The next trial may be longer where strong dampers made it short:
    ``ws.damping.longest_share`` (1,) is increased.
    """
    if overlooks_features(plan, ws, start, end, part):
        return AGAIN, 0.5 * part
    if part == ws.damping.longest_share[0]:
        ws.damping.longest_share[0] = min(1.0, GROWTH * part)
    landed = landed_point(plan, ws) if _has_rims(plan) else -1
    if landed >= 0:
        ws.search.limit[0] = plan.limits.measure.size + landed
    return ACCEPTED, part


@njit
def _look_at_start(plan, ws, inputs, start, when):
    """Undo the trial; set ``ws.search.low_value`` (1,) to the clearance at its start, -1 if at or past the event."""
    search = ws.search
    go_back(plan, ws, start)
    if is_closed(plan, ws, search.limit[0]):
        find_pushes(plan, ws, inputs, start, when.node, when.before, when.dt)
    search.low_value[0] = clearance(plan, ws, start, search.limit[0])
    if search.low_value[0] <= 1.0:
        search.low_value[0] = -1.0


@njit
def _is_met_at_start(plan, ws, start):
    """Return whether contact ``ws.search.limit`` (1,) touches at the start of the trial and does not part there."""
    k = contact_of(plan, ws.search.limit[0])
    return k >= 0 and ws.search.low_value[0] < 0.0 and approaches(plan, ws, start, k)


@indirect(seconds=1, what="hard stops")
def meet_at_start(plan: Plan, ws: Workspace, pose: int) -> None:
    """Apply the impacts of all that touches and approaches at node 0, which do not count in the first step.

    ``pose``: number of its pose. Writes ``ws.velocity`` and ``ws.momentum`` (nb, 6). ``ws.search.impacts`` and
    ``ws.contacts.hits`` are zero after.
    """
    for _ in range(rounds_of(plan.limits.measure.size + ws.contacts.near_count[0])):
        approached = False
        if plan.limits.measure.size:
            approach_limits(plan, ws, pose, NOBODY)
        for n in range(plan.limits.measure.size):
            parting = PARTING * unit_of_limit(plan, n)
            approached = approached or (not ws.search.was_closed[n] and ws.search.rate[n] < -parting)
        for n in range(ws.contacts.near_count[0]):
            k = ws.contacts.near[n]
            if is_rolling(plan, k) or is_rim_point(plan, ws, k) or ws.contacts.closed[k]:
                continue
            if contact_gap(plan, ws, pose, k) <= TOUCHING * length_unit(plan):
                approached = approached or normal_rate(plan, ws, pose, k) < -PARTING * length_unit(plan)
        if not approached:
            break
        _act(plan, ws, pose, NOBODY, False)
    ws.search.impacts[:] = 0
    ws.contacts.hits[:] = 0


@indirect(seconds=2, what="hard stops")
def act_event(plan: Plan, ws: Workspace, pose: int, timed: bool) -> None:
    """Apply the event of the limit that was searched for, at a node, and end the search.

    ``ws.search.limit`` is set to -1. A closed limit opens. An open one has an impact, with all that touches, contacts
    too. ``pose``: number of the pose of the node. ``timed``: whether the sub-step before ends where the event is.
    Impacts write ``ws.velocity`` and ``ws.momentum`` (nb, 6), ``ws.contacts.hits`` (nc,), and
    ``ws.damping.longest_share`` (1,), for the sub-steps to come.
    """
    search = ws.search
    n, search.limit[0] = search.limit[0], -1
    if ws.damping.active[0]:
        ws.damping.longest_share[0] = 0.0
    k = contact_of(plan, n)
    if k >= 0 and is_rim_point(plan, ws, k):
        if timed:
            act_contacts(plan, ws, pose, n, False)
        else:
            close_rim_point(plan, ws, pose, k)
        return
    if k >= 0:
        if not timed and (_is_worn(plan, ws, k) or settles(plan, ws, pose, k)):
            if contact_gap(plan, ws, pose, k) > SETTLED * length_unit(plan):
                add_landing(plan, ws, plan.contacts.element[k])
            settle_near(plan, ws, pose, k)
        else:
            act_contacts(plan, ws, pose, n, timed)
            ws.contacts.hits[k] = max(ws.contacts.hits[k], 1)
        if not timed and _has_rims(plan):
            fix_rims(plan, ws, pose, ws.balance.dt[0])
        return
    if ws.efforts.closed[n]:
        _release(plan, ws, pose, n)
        return
    _act(plan, ws, pose, n, timed)


@njit
def _act(plan, ws, pose, met, timed):
    """Apply impacts at a node, as `act_limits` does, in plans with contacts also theirs."""
    if has_contacts(plan):
        act_contacts(plan, ws, pose, met, timed)
    else:
        act_limits(plan, ws, pose, met, timed)


@indirect(seconds=1, what="hard stops")
def _release(plan: Plan, ws: Workspace, pose: int, n: int) -> None:
    """Open limit n at a node; ``ws.momentum`` (nb, 6) becomes that of the projected velocity.

    Clears ``ws.momentum_rest``; writes ``ws.velocity`` (nb, 6) and adds to ``ws.efforts.work`` (ne,), J.
    """
    project(plan, ws, pose)
    copy_motions(ws.increment_body, ws.velocity)
    set_closed(plan, ws, n, False)
    _keep_impact(plan, ws, pose, n, 0.0, False)  # the same map as that of an impact without restitution
    add_role_works(plan, ws, ws.efforts.work, False)
    add_event(ws)
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0


@indirect(seconds=1, what="hard stops")
def act_limits(plan: Plan, ws: Workspace, pose: int, met: int, timed: bool) -> None:
    """Apply the impacts at a node, of limit ``met`` and of limits that approach after, to momenta and energy balance.

    Limits that approach fastest rebound first, with the others that do as fast and all that are closed, each of which
    may open. ``met``: limit, -1 for all that touch; ``timed``: whether the sub-step before ends where the event is.
    Writes ``ws.velocity`` and ``ws.momentum`` (nb, 6), without ``ws.momentum_rest``. Impacts that were not solved leave
    NaN in ``ws.increment_body``.
    """
    first, rounds = True, rounds_of(plan.limits.measure.size)
    if plan.bearings.row.size > 0:
        project(plan, ws, pose)
        place_role_rows(plan, ws, pose)
    else:
        momenta_and_rates(plan, ws, pose)
        place_role_rows(plan, ws, pose)
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
    copy_motions(ws.increment_body, ws.velocity)
    while take_limits(plan, ws, pose, met, approach_limits(plan, ws, pose, met)):
        event = _keep_round(plan, ws, pose, timed and first)
        if first:
            add_role_works(plan, ws, ws.efforts.work, False)
            momenta_of(plan, ws.velocity, ws.momentum)
            ws.momentum_rest[:] = 0.0
        sides, passes = CHANGED, 0
        while sides == CHANGED:
            momenta_and_rates(plan, ws, pose)
            write_rebounds(plan, ws, pose, 1.0)
            brace_roles(plan, ws, pose, True)
            solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
            sides = change_sides(plan, ws, pose, 1.0, passes)
            passes += 1
        rounds -= 1
        if sides == CYCLES or rounds < 0:
            ws.increment_body[:] = math.nan  # with which no step is solved, so that the run ends there
        close_limits(plan, ws, pose, met, event)
        add_role_works(plan, ws, ws.efforts.work, False)
        brace_roles(plan, ws, pose, False)
        add_event(ws)
        copy_motions(ws.increment_body, ws.velocity)
        momenta_of(plan, ws.velocity, ws.momentum)
        ws.momentum_rest[:] = 0.0
        met, first = NOBODY, False


@njit
def _keep_round(plan, ws, pose, timed):
    """Record the impact of the limits ``ws.search.taking`` (nl,) on the tape; return its index, -1: not recorded.

    ``ws.tape.events.limits.together`` becomes 0 for one limit, 1 for several, or for closed ones alone.
    """
    if ws.tape.h.size == 0:
        return -1
    search, limit, count = ws.search, 0, 0
    for n in range(plan.limits.measure.size):
        if search.taking[n] and not search.was_closed[n]:
            limit, count = n, count + 1
    restitution = -search.rebound[limit] / search.rate[limit] if search.rebound[limit] > 0.0 else 0.0
    j = _keep_impact(plan, ws, pose, limit, restitution, timed)
    if j >= 0:
        ws.tape.events.limits.together[j] = 1 if count != 1 else 0
    return j


@njit
def _keep_impact(plan, ws, pose, n, restitution, timed):
    """Record the impact at limit n on the tape, if there is one; return its index, -1: not recorded.

    In row j of ``ws.tape.events.limits.limit``, ``restitution``, ``together`` (ne,). ``timed``: see `Events`.
    """
    j = keep_event(plan, ws, pose, timed) if ws.tape.h.size else -1
    if j >= 0:
        kept = ws.tape.events.limits
        kept.limit[j], kept.restitution[j], kept.together[j] = n, restitution, 0
    return j


EVENTS = begin_events, renew_events, retry_events, judge_trial, act_event, meet_at_start
OF_LIMITS = approach_limits, take_limits, write_rebounds, change_sides, close_limits, act_limits, _release


def prepare_events(plan: Plan, stages: int) -> None:
    """Compile the functions that steps of ``stages`` stages call by pointer."""
    limits, contacts = plan.limits.measure.size > 0, plan.contacts.body.size > 0
    for function in (
        EVENTS * (limits or contacts)
        + (solve_contacts, act_contacts) * contacts
        + OF_LIMITS * limits
        + (find_pushes, accelerate_node) * (limits and stages > 1)
    ):
        function.prepare()
