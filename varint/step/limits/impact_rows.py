"""Hard limits as rows of an impact at a node, alone (impacts.py) or beside contacts (contacts/events.py).

For the limits that take part, u are the gap rates after the impact, r the required rebound rates, and z the impulses:

    u >= r,    z >= 0,    z (u - r) = 0.

A limit is active (u = r, a row of the system) or inactive (z = 0). The contacts are solved with the active limits held;
then one limit changes its status, an active one with z < 0 or an inactive one with u < r, until none violates the law.
If an active limit misses its rebound, as its row depends on other rows, the limits that reach theirs open together.
Early passes pick the largest violation, of z first, then of u; later passes the lowest index (Murty), which does not
cycle. In the code ``taking`` means that a limit takes part in this impact, ``closed`` that its row is active.
"""

import math

from varint.base.numba import indirect, njit
from varint.mathematics.vectors import dot, vector
from varint.step.limits.rows import TOUCHING, gap_with_rate, limit_gap, limit_row, set_closed, unit_of_limit
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

MOST_CHANGES = 20  # closings and openings of limits in one step, after which closed limits stay closed
# Rebounds of a limit in one step: so many are always allowed; at most so many, and one more for each other limit and
# contact, as in a row of balls; it closes once restitution**count is not above this share.
FEW_IMPACTS, MOST_IMPACTS, REST_SHARE = 3, 20, 1e-3
PARTING = 1e-10  # threshold of rates, in `unit_of_limit` a second, and of negative impulses relative to the momenta
ALIKE = 1e-9  # relative difference up to which two rates count as equal
SHORTFALL = 1e-6  # of the largest rate: a smaller shortfall of an active limit is round-off
ANY = -1  # in place of a component: limits of all components
OUT_OF_REACH = 1.0  # m/s or rad/s: rate entered for a limit that does not touch, any above zero
LAWFUL, CHANGED, CYCLES = range(3)  # results of `change_sides`
FURTHEST = 2  # times the number of limits: passes that pick the largest violation
MOST_PASSES = 20  # times the number of limits: passes in all


def rebounds_again(restitution: float, count: int, rows: int) -> bool:
    """Return whether a limit with ``restitution`` that has rebounded ``count`` times in a step rebounds again.

    The first `FEW_IMPACTS` rebounds are always allowed. After that the limit closes once restitution**count <=
    `REST_SHARE`, or after `MOST_IMPACTS` and one for each of the ``rows`` of limits and contacts. Restitution near one
    needs many: a light body trapped between a limit and an approaching heavier body does not slow down, and of n + 1
    equal balls in a row two neighbours may meet n times.
    """
    return count < FEW_IMPACTS or (count < MOST_IMPACTS + rows and restitution**count > REST_SHARE)


def most_rounds(count: int) -> int:
    """Return how many rounds of impacts ``count`` limits and contacts may have at one instant.

    Each may rebound in so many of them as `rebounds_again` lets it; after one without a rebound what touches is closed.
    """
    return 2 * (MOST_IMPACTS + count + 1) * (count + 1)


may_rebound, rounds_of = njit(rebounds_again), njit(most_rounds)  # the same, for kernels


@njit
def _restitution(plan, ws, n):
    """Return the restitution of limit n in its next impact; zero if ``ws.search.impacts`` (nl,) lets it close."""
    restitution = plan.limits.restitution[n]
    rows = plan.limits.measure.size + ws.contacts.near_count[0]
    return restitution if may_rebound(restitution, ws.search.impacts[n], rows) else 0.0


@indirect(seconds=1, what="hard stops")
def approach_limits(plan: Plan, ws: Workspace, pose: int, met: int) -> float:
    """Return the highest approach rate, >= 0, of the open limits with restitution; write the rates of all that touch.

    m/s, of angles their rates times the size of the parts, so that angles compare with lengths in any unit.
    ``met``: limit whose event was located, included even if its gap is not zero; -1 for none. Writes
    ``ws.search.rate`` (nl,), m/s or rad/s, the gap rates at ``ws.velocity`` of limits that are closed or touch, and
    `OUT_OF_REACH` for the others. Sets ``ws.search.was_closed`` and ``ws.search.taking`` to the limits that are closed,
    and ``ws.search.rebound`` to zero, or to the return rate of a closed limit that is exceeded. Without contacts only
    touching limits of one component of the mechanism are included: other components have impacts of their own, with
    derivatives.
    """
    search, fastest, component, alone = ws.search, 0.0, ANY, plan.contacts.body.size == 0
    if met >= 0 and alone:
        component = plan.components.of_element[plan.limits.element[met]]
    for n in range(plan.limits.measure.size):
        closed, its_component = ws.efforts.closed[n], plan.components.of_element[plan.limits.element[n]]
        search.was_closed[n], search.taking[n], search.rebound[n], search.rate[n] = closed, closed, 0.0, OUT_OF_REACH
        gap, rate = gap_with_rate(plan, ws, pose, n, ws.velocity)
        if closed and ws.efforts.floor[n] < 0.0:  # exceeded: it keeps its return rate
            search.rebound[n] = -plan.limits.sign[n] * ws.efforts.target_rate[limit_row(plan, n)]
        unit = unit_of_limit(plan, n)
        if not closed and ((n != met and gap > TOUCHING * unit) or component not in (ANY, its_component)):
            continue
        search.rate[n], restitution = rate, _restitution(plan, ws, n)
        if not closed and restitution > 0.0:
            fastest = max(fastest, -rate * plan.rows.scale[limit_row(plan, n)])
        if not closed and rate <= (unit if restitution == 0.0 else -unit) * PARTING and alone:
            component = its_component
    return fastest


@indirect(seconds=1, what="hard stops")
def take_limits(plan: Plan, ws: Workspace, pose: int, met: int, fastest: float) -> bool:
    """Choose the limits of the next impact and their rebounds, after `approach_limits`; return whether any is hit.

    Closed limits take part, and touching limits without restitution that do not separate. Of the touching limits with
    restitution, those that approach at the rate ``fastest``, m/s, rebound. Limit ``met`` (-1: none) takes
    part, unless it has restitution and approaches more slowly than ``fastest``. Writes ``ws.search.taking``,
    ``ws.search.rebound`` and ``ws.search.impacts`` (nl,); closes the limits that take part.
    """
    search, any_hit = ws.search, False
    for n in range(plan.limits.measure.size):
        rate, parting = search.rate[n], PARTING * unit_of_limit(plan, n)
        if search.was_closed[n]:
            any_hit = any_hit or rate < -parting
        elif rate <= parting or n == met:
            restitution = _restitution(plan, ws, n)
            if restitution == 0.0 or rate >= -parting:
                # met, but no longer approaching, e.g. because of a strong damper: takes part without a rebound
                search.taking[n] = restitution == 0.0 or n == met
            elif -rate * plan.rows.scale[limit_row(plan, n)] >= fastest * (1.0 - ALIKE):
                search.taking[n], search.rebound[n] = True, -restitution * rate
                search.impacts[n] += 1
            any_hit = any_hit or search.taking[n]
        if search.taking[n]:
            set_closed(plan, ws, n, True)
    return any_hit


@indirect(seconds=1, what="hard stops")
def write_rebounds(plan: Plan, ws: Workspace, pose: int, share: float) -> None:
    """Write the rows of the active limits to ``ws.jacobian``, and their rebounds to ``ws.increment_row`` (nr,).

    ``pose``: number of the pose of the node. ``share``, 0 to 1: factor on the rebounds. Rows that no active limit has
    become zero.
    """
    for n in range(plan.limits.measure.size):
        r = limit_row(plan, n)
        limit_gap(plan, ws, pose, n)
        if ws.efforts.closed[n]:
            ws.increment_row[r] = -plan.limits.sign[n] * share * ws.search.rebound[n]
        elif ws.released[r] > 0.0:
            ws.jacobian[pose, r] = 0.0


@indirect(seconds=1, what="hard stops")
def change_sides(plan: Plan, ws: Workspace, pose: int, share: float, passes: int) -> int:
    """Change the status of limits for the next pass and return CHANGED, or LAWFUL or CYCLES without a change.

    One limit that violates the law changes; or, where an active one misses its rebound, see `_open_others`. LAWFUL: no
    active limit that may open pulls, and none falls short. CYCLES: after `MOST_PASSES` passes for each limit, or where
    an active one misses its rebound, which other rows forbid, and no change is left. Call after the solution for the
    active limits. ``share``: factor on the rebounds, as in `write_rebounds`. ``passes``: number of changes before.
    Writes ``ws.search.after`` (nl,), gap rates after the impact, m/s or rad/s, and ``ws.search.impulse`` (nl,), N s or
    N m s. After `MOST_CHANGES` in a step limits that were closed before the impact stay closed: limits that open in
    each other's impacts could repeat for ever.
    """
    search, momenta, count = ws.search, 0.0, plan.limits.measure.size
    for i in range(plan.bodies.mass.size):
        p, L = vector(ws.momentum[i]), vector(ws.momentum[i, 3:])
        momenta += math.sqrt(dot(p, p)) + math.sqrt(dot(L, L)) / plan.bodies.length[0]
    pulls, driven, puller, beyond, missed = PARTING, PARTING, -1, -1, -1
    most = _small_rate(plan, ws)
    furthest, stay = passes < FURTHEST * count, search.changes[0] >= MOST_CHANGES
    for n in range(count):
        search.impulse[n] = 0.0
        if not search.taking[n]:
            continue
        r = limit_row(plan, n)
        search.after[n] = gap_with_rate(plan, ws, pose, n, ws.increment_body)[1]
        if ws.efforts.closed[n]:
            z = -plan.limits.sign[n] * ws.increment_row[r]
            search.impulse[n] = max(z, 0.0)
            if _shortfall(plan, ws, n, share) > most:
                most, missed = _shortfall(plan, ws, n, share), n
            pull = -z / plan.rows.scale[r] / (momenta + _lighter_mass(plan, n) * length_unit(plan))
            if stay and search.was_closed[n]:
                continue
            if pull > pulls and not _is_shared(plan, ws, n) and (furthest or puller < 0):
                pulls, puller = pull, n
        elif _shortfall(plan, ws, n, share) > driven and (furthest or beyond < 0):
            driven, beyond = _shortfall(plan, ws, n, share), n
    if missed >= 0 and passes < MOST_PASSES * count and _open_others(plan, ws, missed, share, stay):
        return CHANGED
    if puller < 0 and beyond < 0:
        return CYCLES if missed >= 0 else LAWFUL
    if passes >= MOST_PASSES * count:
        return CYCLES
    first = puller >= 0 and (furthest or beyond < 0 or puller < beyond)
    set_closed(plan, ws, puller if first else beyond, not first)
    return CHANGED


@njit
def _shortfall(plan, ws, n, share):
    """Return the shortfall of limit n from a ``share`` of its rebound, in `unit_of_limit` a second."""
    return (share * ws.search.rebound[n] - ws.search.after[n]) / unit_of_limit(plan, n)


@njit
def _small_rate(plan, ws):
    """Return the `_shortfall` that counts as round-off, by the rates before, ``ws.search.rate`` (nl,), m/s or rad/s."""
    fastest = 0.0
    for n in range(ws.search.taking.size):
        if ws.search.taking[n]:
            fastest = max(fastest, abs(ws.search.rate[n]) / unit_of_limit(plan, n))
    return max(PARTING, SHORTFALL * fastest)


@njit
def _open_others(plan, ws, missed, share, stay):
    """Open the active limits that reach their rebounds, for active limit ``missed`` that does not; return if any did.

    The row of ``missed`` depends linearly on theirs, so that all their rebounds cannot hold at once. Limits that the
    rebound of ``missed`` leaves below their own become active again. ``share``: factor on the rebounds. Limits with a
    floor stay active, and with ``stay`` those that were closed before the impact. Changes ``ws.efforts.closed`` (nl,).
    """
    search, any_opened, tolerance = ws.search, False, _small_rate(plan, ws)
    for n in range(search.taking.size):
        kept = n == missed or (stay and search.was_closed[n]) or ws.efforts.floor[n] < 0.0
        if ws.efforts.closed[n] and not kept and _shortfall(plan, ws, n, share) <= tolerance:
            set_closed(plan, ws, n, False)
            any_opened = True
    return any_opened


@njit
def _lighter_mass(plan, n):
    """Return the lighter mass of the bodies of limit n, kg; times `length_unit` a second it scales impulses."""
    lighter = math.inf
    for s in range(2):
        i = plan.measures.body[plan.limits.measure[n], s]
        if i < plan.bodies.mass.size:
            lighter = min(lighter, plan.bodies.mass[i])
    return lighter


@njit
def _is_shared(plan, ws, n):
    """Return whether the limit on the other side of the measure of limit n is active, ``ws.efforts.closed`` (nl,)."""
    for m in range(plan.limits.measure.size):
        if m != n and ws.efforts.closed[m] and limit_row(plan, m) == limit_row(plan, n):
            return True
    return False


@njit
def work_of_limits(ws):
    """Return the work of the limits in an impact, J, and the sum of the sizes of its terms.

    Each term is an impulse times the mean of the gap rates before and after.
    """
    search, total, size = ws.search, 0.0, 0.0
    for n in range(search.taking.size):
        if search.taking[n]:
            half = 0.5 * search.impulse[n]
            total += half * (search.rate[n] + search.after[n])
            size += half * (abs(search.rate[n]) + abs(search.after[n]))
    return total, size


@indirect(seconds=1, what="hard stops")
def close_limits(plan: Plan, ws: Workspace, pose: int, met: int, event: int) -> None:
    """Add the work of the limits after an impact; open the limits that separate, close the others.

    ``met``: limit whose event was located, -1 for none; it closes if it has no rebound. ``event``: index of the impact
    on the derivative tape, negative if it is not recorded. Writes ``ws.efforts.work`` (ne,), J, ``ws.efforts.rest_gap``
    and ``ws.efforts.floor`` (nl,), ``ws.efforts.target_rate`` (nr,) and rows of ``ws.jacobian``; on the tape
    ``ws.tape.events.limits.closed``, 0: the limit was open before, 1: closed before and active in the impact, 2: closed
    before and released by the impact; and ``ws.tape.events.limits.together``, set to 1 if a limit that was open before
    ends inactive.
    """
    search = ws.search
    for n in range(plan.limits.measure.size):
        if not search.taking[n]:
            continue
        separating = search.after[n] > PARTING * unit_of_limit(plan, n)
        if event >= 0:
            kept, active = ws.tape.events.limits, ws.efforts.closed[n]
            if search.was_closed[n]:
                kept.closed[event, n] = 1 if active else 2  # 2: released by the impact
            else:
                kept.closed[event, n] = 0
                kept.together[event] = kept.together[event] if active else 1
        ws.efforts.work[plan.limits.element[n]] += 0.5 * search.impulse[n] * (search.rate[n] + search.after[n])
        returns = search.was_closed[n] and ws.efforts.closed[n] and ws.efforts.floor[n] < 0.0
        stays = not separating or returns or (n == met and search.rebound[n] == 0.0)
        set_closed(plan, ws, n, stays)
        gap = limit_gap(plan, ws, pose, n)
        if stays and not search.was_closed[n]:
            ws.efforts.rest_gap[n] = gap
        if stays and ws.efforts.floor[n] < 0.0:
            ws.efforts.floor[n] = min(gap, 0.0)
            ws.efforts.target_rate[limit_row(plan, n)] = -plan.limits.sign[n] * max(search.after[n], 0.0)
    for n in range(plan.limits.measure.size):
        if ws.released[limit_row(plan, n)] > 0.0:
            ws.jacobian[pose, limit_row(plan, n)] = 0.0
