"""Floors that rise: the gaps of limits which a start is beyond, in a step (returning.py).

All floors are zero, and nothing is done here, but in runs whose start comes back.
"""

import math

from varint.base.numba import Float1, indirect, njit
from varint.step.inputs import Inputs
from varint.step.intervals import Interval
from varint.step.limits.rows import TOUCHING, limit_row, unit_of_limit
from varint.step.plan import Plan, Workspace


@njit
def risen(efforts, sign, n, r, h):
    """Return the floor, m or rad, of limit n with row r and ``sign`` 1 or -1, and its rate, after ``h`` seconds."""
    b, floor = efforts.come_back[0], efforts.floor[n]
    steepness, decay = b * floor - sign * efforts.target_rate[r], math.exp(-b * h)
    later = (floor + steepness * h) * decay
    return later, steepness * decay - b * later


@njit
def raise_floor(plan, efforts, n, floor, rate):
    """Let closed limit n keep a ``floor``, m or rad, from the end of a step on; ``rate``: that of its row there.

    Zero, as any other limit, once the floor has risen to it. Writes ``efforts.floor``, ``rest_gap`` (nl,) and
    ``target_rate`` (nr,).
    """
    if floor >= -TOUCHING * unit_of_limit(plan, n):
        floor = rate = 0.0
    efforts.floor[n] = efforts.rest_gap[n] = floor
    efforts.target_rate[limit_row(plan, n)] = rate


@indirect(seconds=1, what="hard stops")
def aim_floors(plan: Plan, ws: Workspace, inputs: Inputs, when: Interval, h: float, kept: bool) -> None:
    """Write the floors at the end of a stage of ``h`` seconds to ``ws.efforts.rest_gap`` (nl,), of closed limits."""
    for n in range(plan.limits.measure.size):
        if ws.efforts.floor[n] < 0.0 and ws.efforts.closed[n]:
            ws.efforts.rest_gap[n], _ = risen(ws.efforts, plan.limits.sign[n], n, limit_row(plan, n), h)


@indirect(seconds=1, what="hard stops")
def finish_floors(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Raise ``ws.efforts.floor`` (nl,) over ``h`` s; add the works of its impulses to ``work`` (ne,)."""
    efforts = ws.efforts
    for n in range(plan.limits.measure.size):
        if not efforts.floor[n] < 0.0:
            continue
        r, sign = limit_row(plan, n), plan.limits.sign[n]
        if not efforts.closed[n]:
            efforts.target_rate[r] = 0.0
            continue
        efforts.work[plan.limits.element[n]] += ws.multiplier[r] * efforts.target_rate[r]
        floor, rate = risen(efforts, sign, n, r, h)
        raise_floor(plan, efforts, n, floor, -sign * rate)


@indirect(seconds=1, what="hard stops")
def add_floor_works(plan: Plan, ws: Workspace, work: Float1, slip: bool) -> None:
    """Add to ``work`` (ne,), J, that of the impulses ``ws.increment_row`` at a node, at the rates of floors."""
    for n in range(plan.limits.measure.size):
        if ws.efforts.floor[n] < 0.0 and ws.efforts.closed[n]:
            r = limit_row(plan, n)
            work[plan.limits.element[n]] += ws.increment_row[r] * ws.efforts.target_rate[r]


@indirect(seconds=1, what="hard stops")
def drive_floors(plan: Plan, ws: Workspace, share: float) -> None:
    """Add to ``ws.balance.driven`` the work, J, of a ``share`` of the impulses of a step at the rates of floors.

    ``driven``: (components,). ``share``: a factor on ``ws.multiplier`` (nr,).
    """
    for n in range(plan.limits.measure.size):
        if ws.efforts.floor[n] < 0.0 and ws.efforts.closed[n]:
            r, c = limit_row(plan, n), plan.components.of_element[plan.limits.element[n]]
            ws.balance.driven[c] += share * ws.multiplier[r] * ws.efforts.target_rate[r]
