"""Impacts at hard limits (docs/theory.md section 11).

A step that would end beyond a limit is cut at the impact, found by regula falsi in the size of the sub-step, and there
the rate of the measure turns to -e times itself by an impulse along it (Newton's law). A limit that is hit again and
again in one step, or has e = 0, closes.
"""

from varint._numba import indirect, njit
from varint.kernels.balance import add_impact
from varint.kernels.configuration import mass_pivots
from varint.kernels.efforts import clear_rows
from varint.kernels.ldu import solve_newton
from varint.kernels.limits import TOUCHING, first_beyond, leaps, limit_gap, limit_row, open_pulling, set_closed
from varint.kernels.measures import rate_of
from varint.kernels.plan import Plan, Workspace
from varint.kernels.tape import keep_impact

DEEPEST_SUBSTEP = 12  # a step is halved at most so many times
SEARCH = 60  # trials for the instant of an impact
MOST_CHANGES = 20  # of limits that close or open in one step
MOST_IMPACTS = 3  # of a limit in one step, then it closes
ACCEPTED, AGAIN, LEAPT = 0, 1, 2  # verdicts on the end of a trial


@njit
def restart_search(ws):
    """Reset the search for a limit at the start of a stage."""
    search = ws.search
    search.limit[0], search.impacts[0], search.changes[0] = -1, 0, 0


@indirect(seconds=1, what="hard stops")
def meet_limits(plan: Plan, ws: Workspace, pose: int, part: float, whole: float) -> tuple[int, float]:
    """Verdict on a trial that took the share ``part`` of a stage, from ``pose`` to 1 - ``pose``.

    Returns ACCEPTED, or AGAIN and the share of the next trial; ``whole``: that of the next without a limit in the
    way. Accepted with ``ws.search.limit`` set: the trial ends where that limit is met. LEAPT: the trial is too long to
    determine which limits it passes.
    """
    search = ws.search
    if leaps(plan, ws, 1 - pose):
        return LEAPT, part
    if search.changes[0] < MOST_CHANGES and open_pulling(plan, ws):
        search.changes[0] += 1
        return AGAIN, part
    if search.limit[0] < 0:
        search.limit[0] = first_beyond(plan, ws, 1 - pose)
        if search.limit[0] < 0:
            return ACCEPTED, part
        search.trials[0], search.was_beyond[0], search.low[0] = 0, False, 0.0
        search.low_gap[0] = limit_gap(plan, ws, pose, search.limit[0])
        if search.low_gap[0] <= TOUCHING:
            search.low_gap[0] = -1.0  # not known to be open anywhere
    gap = limit_gap(plan, ws, 1 - pose, search.limit[0])
    search.trials[0] += 1
    if abs(gap) > TOUCHING and search.trials[0] <= SEARCH:
        _narrow(search, part, gap)
        if search.low_gap[0] > 0.0:
            return AGAIN, _crossing(search)
        if search.high[0] > 1.0 / (1 << DEEPEST_SUBSTEP):
            return AGAIN, 0.5 * search.high[0]  # not yet a fraction at which the gap is open
    earlier = first_beyond(plan, ws, 1 - pose) if abs(gap) <= TOUCHING else -1
    if earlier >= 0 and search.changes[0] < MOST_CHANGES:
        _turn_to(plan, ws, pose, earlier, part)
        if search.low_gap[0] > TOUCHING:
            return AGAIN, _crossing(search)
        search.low_gap[0] = -1.0
        gap = search.high_gap[0]
    if search.low_gap[0] < 0.0 and abs(gap) > TOUCHING:
        # it starts at the limit and goes beyond: an impact at the node, or it rests there
        search.changes[0] += 1
        impact_at_end(plan, ws, pose, False)
        return AGAIN, whole
    return ACCEPTED, part


@njit
def _narrow(search, part, gap):
    """Take a trial into the bracket of the impact (regula falsi, Illinois: an end that stays twice counts half)."""
    beyond = gap < 0.0
    if beyond:
        search.high[0], search.high_gap[0] = part, gap
        if search.low_gap[0] > 0.0 and search.was_beyond[0]:
            search.low_gap[0] *= 0.5
    else:
        search.low[0], search.low_gap[0] = part, gap
        if not search.was_beyond[0]:
            search.high_gap[0] *= 0.5
    search.was_beyond[0] = beyond


@njit
def _crossing(search):
    """Zero of the line through both ends of the bracket."""
    low, high = search.low_gap[0], search.high_gap[0]
    return search.low[0] + (search.high[0] - search.low[0]) * low / (low - high)


@njit
def _turn_to(plan, ws, pose, limit, part):
    """Search for another limit, which is passed before the end of a trial."""
    search = ws.search
    search.changes[0] += 1
    search.limit[0], search.trials[0], search.was_beyond[0] = limit, 0, True
    search.low[0], search.high[0] = 0.0, part
    search.high_gap[0] = limit_gap(plan, ws, 1 - pose, limit)
    search.low_gap[0] = limit_gap(plan, ws, pose, limit)


@indirect(seconds=1, what="hard stops")
def impact_at_end(plan: Plan, ws: Workspace, pose: int, timed: bool) -> None:
    """The impact at the limit that was searched for, at a node; the search is over.

    ``timed``: whether the stage before ends where the limit is met.
    """
    search = ws.search
    search.impacts[0] += 1
    n, search.limit[0] = search.limit[0], -1
    restitution = plan.limits.restitution[n] if search.impacts[0] <= MOST_IMPACTS else 0.0
    impact(plan, ws, pose, n, restitution, timed)


@njit
def _momenta_and_rates(plan, ws, pose):
    """The right side of a projection at a node: momenta, the rates of constraints, zero for closed limits."""
    clear_rows(plan, ws.compliance, ws.jacobian[pose])
    mass_pivots(plan, ws.ldu.D)
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = ws.momentum[i, k]
    for r in range(ws.increment_row.size):
        ws.increment_row[r] = ws.efforts.target_rate[r]
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n]:
            limit_gap(plan, ws, pose, n)


@njit
def impact(plan, ws, pose, n, restitution, timed):
    """Turn the rate of limit n at a node: momenta, energy lost. Without restitution it closes; closed ones hold."""
    r = limit_row(plan, n)
    body, row = ws.increment_body, ws.increment_row
    _momenta_and_rates(plan, ws, pose)
    solve_newton(plan, ws, body, row, pose, pose)
    limit_gap(plan, ws, pose, n)
    before = rate_of(plan.measures.body[r], ws.jacobian[pose, r], body)
    if plan.limits.sign[n] * before <= 0.0 and restitution > 0.0:
        return
    if ws.tape.h.size:
        keep_impact(ws, pose, n, restitution, timed)
    set_closed(plan, ws, n, True)
    _momenta_and_rates(plan, ws, pose)
    row[r] = -restitution * before
    ws.efforts.rest_gap[n] = limit_gap(plan, ws, pose, n)
    solve_newton(plan, ws, body, row, pose, pose)
    work = 0.5 * row[r] * (1.0 - restitution) * before
    ws.efforts.work[plan.limits.element[n]] += work
    add_impact(ws, work)
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            ws.momentum[i, k] = plan.bodies.mass[i] * body[i, k]
            ws.momentum[i, 3 + k] = 0.0
            for a in range(3):
                ws.momentum[i, 3 + k] += plan.bodies.inertia[i, k, a] * body[i, 3 + a]
        for k in range(6):
            ws.velocity[i, k], ws.momentum_rest[i, k] = body[i, k], 0.0
    set_closed(plan, ws, n, restitution == 0.0)
