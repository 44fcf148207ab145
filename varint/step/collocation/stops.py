"""Hard stops in a collocation step: rows of closed ones, and where they are met or let go (docs/theory.md section 16).

A closed stop is a row that keeps its gap at the nodes after the start, as closures are (closures.py).

The gap of an open stop is a polynomial through its values at the nodes of a solved step: the stop is met where that
falls below zero, at a node or between two. A closed stop opens where its force, by the accelerations at the end of a
step, would pull; where its impulse pulls at a node within a step, the part up to there is tried first. `march_nodes`
rejects a step with an event. Python takes it in parts that end at the events
(methods/variational/collocation_events.py), with the impacts of the other steps.
"""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import (
    CompiledRecord,
    Float1,
    Float2,
    Float3,
    Int1,
    Int2,
    copy_spans,
    indirect,
    natural,
    njit,
    record_at,
)
from varint.mathematics.vectors import dot, rotate, turn_of, vector
from varint.step.collocation.contacts import (
    any_contact_closed,
    contact_changes,
    meets_contacts,
    note_slips,
    place_contacts,
)
from varint.step.collocation.facing import begin_facing, move_bodies
from varint.step.collocation.gap_polynomials import UNRESOLVED, WHOLE, first_pull, look_along
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.shown import bring_node, show_bodies
from varint.step.configuration import follow_measured
from varint.step.inputs import Inputs
from varint.step.limits.floors import raise_floor, risen
from varint.step.limits.impacts import RUN_STARTS, find_pushes
from varint.step.limits.rows import (
    LEAP,
    NEAR,
    TOUCHING,
    any_limit_closed,
    gap_near,
    gap_with_rate,
    leap_at,
    limit_row,
    unit_of_limit,
    write_closed_rows,
)
from varint.step.plan import Plan, Workspace
from varint.step.projection import node_works, project
from varint.step.restart import copy_start, go_back

# values of work.watch: no stops in the mechanism; reject a step that has an event; solve it as a part, judged after
NOTHING, STOPS, TRIAL = range(3)


@dataclass(frozen=True, eq=False)
class StopWatch(CompiledRecord, writable=True):
    """The saved start of a step, inputs at both ends of it, and what closed stops keep at its nodes."""

    spans: Int2  # memory of all that steps depend on, see `varint.base.numba.spans`
    kept: Int1  # buffer: its values at the start of the step
    inputs: Inputs  # at the start and the end of the last step; written into ...
    input: Annotated[Float2, "2 ne"]  # ... their memory
    rate: Annotated[Float2, "2 ne"]  # of the inputs, a second
    loads: Annotated[Float3, "2 nb 6"]  # N, world, and N m, body axes
    held_gap: Annotated[Float2, "s limits"]  # that closed stops keep at the nodes, m or rad
    held_rate: Annotated[Float2, "s limits"]  # the rate of their measures, minus sign times that of the gap


watch_at = record_at(StopWatch)


@indirect(seconds=1, what="hard stops in collocation")
def place_stops(plan: Plan, ws: Workspace, closures: ClosedLoops, work: NodeWorkspace, k: int) -> None:
    """Write the rows of closed limits at node k, after `show_bodies` there.

    Gradients go to ``work.closures.gradient``, residuals against the gaps they keep, m or rad, to
    ``work.closures.value``. At node 0 the rows of closed limits are marked in ``work.closures.held`` (rows,).
    """
    own, held, position = work.closures, watch_at(work.stops[0]).held_gap[k], work.body_position[k]
    for n in range(plan.limits.measure.size if k == 0 else 0):
        own.held[limit_row(plan, n)] = ws.released[limit_row(plan, n)] == 0.0
    write_closed_rows(plan, ws, held, position, work.body_rotation[k], own.value[k], own.gradient[k])
    if ws.contacts.near_count[0]:
        place_contacts(plan, ws, closures, work, k)


@indirect(seconds=1, what="hard stops in collocation")
def keep_start(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace, h: float
) -> None:
    """Write the gaps that closed stops keep at the nodes of a step of ``h`` s, and their rates.

    To ``held_gap``, m or rad, and ``held_rate`` (s, limits) of the `StopWatch`. If any is closed, saves the state,
    which `lets_go` goes back to.
    """
    watch, efforts = watch_at(work.stops[0]), ws.efforts
    if work.touch.seen.size and work.watch[0] == STOPS:
        begin_facing(plan, ws, tree, work, h)
        place_contacts(plan, ws, closures, work, 0)
    for n in range(efforts.closed.size):
        if not efforts.closed[n]:
            continue
        for k in range(rule.node.size):
            watch.held_gap[k, n], watch.held_rate[k, n] = efforts.rest_gap[n], 0.0
            if efforts.floor[n] < 0.0:
                sign = plan.limits.sign[n]
                gap, rate = risen(efforts, sign, n, limit_row(plan, n), h * rule.node[k])
                watch.held_gap[k, n], watch.held_rate[k, n] = gap, -sign * rate
    if any_contact_closed(ws) or any_limit_closed(ws):
        copy_spans(watch.spans, 0, watch.kept, False)


@indirect(seconds=1, what="hard stops in collocation")
def meets_stops(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace
) -> bool:
    """Return whether an open stop or contact is met, or a closed one may open, in a solved step, after `place_nodes`.

    Also True in the first step of a run, while a stop still comes back (`comes_back`), where turns of a joint leap, and
    where a closed stop misses its gap. Writes ``work.meets`` (2,): the first share of the step at which a stop was seen
    beyond its gap, having been open before in the step, or may have opened, WHOLE if there is none, UNRESOLVED after a
    leap or a missed gap; and the share at which this stop is expected to be met, -1 where that is not known. Leaves
    ``ws.products`` at the last node.
    """
    s, q = rule.weight.size, rule.weight.size - 1
    work.meets[0], work.meets[1] = WHOLE, -1.0
    met = ws.search.limit[0] == RUN_STARTS or comes_back(ws)
    for k in range(s):
        show_bodies(tree, work, k)
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n]:
            if not _is_kept(plan, ws, work, n, q):
                work.meets[0], work.meets[1] = UNRESOLVED, -1.0
                return True
            share = _first_pull(plan, rule, work, n)
            if share < work.meets[0]:
                met, work.meets[0], work.meets[1] = True, share, -1.0
        elif not ws.efforts.floor[n] < 0.0:
            if _leaps_along(plan, ws, work, n):
                work.meets[0], work.meets[1] = UNRESOLVED, -1.0
                return True
            met = look_along(rule, work.gap, work.meets, q, TOUCHING * unit_of_limit(plan, n)) or met
    if ws.contacts.near_count[0]:
        met = meets_contacts(plan, ws, closures, rule, work) or met
    return met


@njit
def _leaps_along(plan, ws, work, n):
    """Return whether turns of the joint of limit n leap between two nodes; if not, its gaps are in ``work.gap`` (s,).

    Gaps are in m or rad. ``ws.efforts.change`` is scratch. Leaves ``ws.products`` at the last node.
    """
    m = plan.limits.measure[n]
    near, joint = ws.efforts.value_near[m], plan.measures.product[m]
    for k in range(work.gap.size):
        position, rotation = work.body_position[k], work.body_rotation[k]
        work.gap[k] = gap_near(plan, ws, n, near, position, rotation, ws.efforts.change)
        near = plan.limits.value[n] - plan.limits.sign[n] * work.gap[k]
        if joint >= 0:
            if k > 0 and leap_at(plan, ws, joint) > LEAP:
                return True
            follow_measured(plan, ws, position, rotation)
    return False


@njit
def _is_kept(plan, ws, work, n, q):
    """Return whether closed limit n has its gap at the end of a step, node ``q``; not where other rows hold it off."""
    near = ws.efforts.value_near[plan.limits.measure[n]]
    gap = gap_near(plan, ws, n, near, work.body_position[q], work.body_rotation[q], ws.efforts.change)
    return abs(gap - watch_at(work.stops[0]).held_gap[q, n]) <= NEAR * unit_of_limit(plan, n)


@njit
def _first_pull(plan, rule, work, n):
    """Return the share of the first inner node where the impulse of closed limit n pulls, by PULLS; WHOLE for none.

    Reads ``work.closures.multiplier`` (closed,), N s or N m s.
    """
    q, own = work.position.shape[0] - 1, work.closures
    return first_pull(rule, own.multiplier, _first_multiplier(plan, work, n), q, plan.limits.sign[n])


@indirect(seconds=1, what="hard stops in collocation")
def lets_go(
    plan: Plan, ws: Workspace, tree: LinkTree, work: NodeWorkspace, given: Float2, rates: Float2, h: float
) -> bool:
    """Return whether a closed stop pulls, or a closed contact has an event, at the end of a step of ``h`` s.

    If so, goes back to the state of its start. The caller brings back the poses. False where ``work.watch`` is TRIAL.
    Raises the floors of stops that come back, and keeps inputs and loads at both ends of the step. ``given``, ``rates``
    (s, ne): inputs, and their rates.
    """
    watch, last = watch_at(work.stops[0]), natural(given.shape[0] - 1)
    if comes_back(ws):
        _raise_floors(plan, ws, work, watch, last)
    for e in range(given.shape[1]):
        watch.input[0, e], watch.input[1, e] = given[0, e], given[last, e]
        watch.rate[0, e], watch.rate[1, e] = rates[0, e], rates[last, e]
    for b in range(watch.loads.shape[1]):
        for a in range(6):
            watch.loads[0, b, a] = work.given[0, b, a] if work.is_given[0] else 0.0
            watch.loads[1, b, a] = work.given[last, b, a] if work.is_given[0] else 0.0
    if work.watch[0] != STOPS or not (any_contact_closed(ws) or any_limit_closed(ws)):
        return False
    bring_node(plan, ws, tree, work, 0)
    if any_contact_closed(ws):
        note_slips(plan, ws, work, 0)
    find_pushes(plan, ws, watch.inputs, 0, 0, 1.0, h)
    for n in range(ws.efforts.closed.size):
        if ws.efforts.closed[n] and ws.search.push[n] < -1.0:
            copy_spans(watch.spans, 0, watch.kept, True)
            return True
    if any_contact_closed(ws) and contact_changes(plan, ws, work, 0):
        copy_spans(watch.spans, 0, watch.kept, True)
        return True
    return False


@njit
def comes_back(ws):
    """Whether a stop that the start was beyond has not yet come back (step/limits/returning.py)."""
    for n in range(ws.efforts.floor.size if ws.efforts.come_back[0] > 0.0 else 0):
        if ws.efforts.floor[n] < 0.0:
            return True
    return False


@njit
def _raise_floors(plan, ws, work, watch, last):
    """Bring closed stops that come back to the end of a step, node ``last``, as `finish_floors` of limits/floors.py.

    Writes floors and gaps, m or rad, and rates of rows, zero for open stops; adds the works of the impulses at the
    floors' rates, J, to ``ws.efforts.work``.
    """
    efforts = ws.efforts
    for n in range(efforts.floor.size):
        if not efforts.floor[n] < 0.0:
            continue
        efforts.target_rate[limit_row(plan, n)] = 0.0
        if not efforts.closed[n]:
            continue
        first = _first_multiplier(plan, work, n)
        for j in range(last):
            efforts.work[plan.limits.element[n]] += work.closures.multiplier[first + j] * watch.held_rate[j, n]
        raise_floor(plan, efforts, n, watch.held_gap[last, n], watch.held_rate[last, n])


@njit
def _first_multiplier(plan, work, n):
    """Return the index in ``work.closures.multiplier`` of limit n at node 0; those of nodes 1 to q - 1 follow."""
    q, own = work.position.shape[0] - 1, work.closures  # closures have the last rows of the plan
    return (limit_row(plan, n) - (own.gradient.shape[1] - own.multiplier.size // q)) * q


@indirect(seconds=1, what="hard stops in collocation")
def show_at(plan: Plan, ws: Workspace, tree: LinkTree, work: NodeWorkspace, pose: int) -> None:
    """Write the poses of the present node to a ``pose``, 0 or 1, and its momenta to ``ws.momentum`` (nb, 6).

    Quaternions have the sign that is near those at pose 0.
    """
    if pose == 1:
        for b in range(tree.link.size):
            for k in range(4):
                ws.quat[1, b, k] = ws.quat[0, b, k]
    bring_node(plan, ws, tree, work, pose)
    if pose == 0 and work.touch.seen.size:
        move_bodies(plan, ws)


@indirect(seconds=1, what="hard stops in collocation")
def take_momenta(ws: Workspace, tree: LinkTree, work: NodeWorkspace) -> None:
    """Give the links the momenta ``ws.momentum`` (nb, 6) of their bodies after an impact, turns in world axes."""
    for b in range(tree.link.size):
        n = natural(tree.link[b])
        R, p = ws.rotation[0, b], ws.momentum[b]
        for k in range(3):
            work.momentum[n, k] = p[k]
            work.momentum[n, 3 + k] = R[k, 0] * p[3] + R[k, 1] * p[4] + R[k, 2] * p[5]


@indirect(seconds=1, what="hard stops in collocation")
def gap_and_rate(plan: Plan, ws: Workspace, pose: int, n: int) -> tuple[float, float]:
    """Return the gap of open limit n, m or rad, at a ``pose``, and its rate, m/s or rad/s.

    By the projected velocities, which are written to ``ws.increment_body`` (nb, 6).
    """
    project(plan, ws, pose)
    return gap_with_rate(plan, ws, pose, n, ws.increment_body)


@indirect(seconds=1, what="hard stops in collocation")
def energies_at(plan: Plan, ws: Workspace, pose: int, works: Float1) -> tuple[float, float]:
    """Return the kinetic energy at a pose by the projected velocities, J, and the work of all elements up to there, J.

    ``works`` (ne,): scratch.
    """
    project(plan, ws, pose)
    kinetic = work = 0.0
    for i in range(plan.bodies.mass.size):
        v, w = vector(ws.increment_body[i]), turn_of(ws.increment_body[i])
        kinetic += 0.5 * (plan.bodies.mass[i] * dot(v, v) + dot(w, rotate(plan.bodies.inertia[i], w)))
    for c in range(ws.balance.further.size):
        kinetic += ws.balance.further[c]
    node_works(plan, ws, works)
    for e in range(works.size):
        work += works[e]
    return kinetic, work


@indirect(seconds=1, what="hard stops in collocation")
def keep_trial(plan: Plan, ws: Workspace, back: bool) -> None:
    """Keep the state of the other steps' arrays at pose 0 before a part of a step, or go back to it if ``back``."""
    if back:
        go_back(plan, ws, 0)
    else:
        copy_start(plan, ws, 0, False)
