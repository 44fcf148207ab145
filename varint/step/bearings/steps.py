"""Newton's method for a step with bearings: those that slid go on at first, and are turned round where they do not."""

import math

from varint.base.numba import indirect, njit
from varint.step.bearings.rows import WHAT, begin_bearings, turn_round
from varint.step.dense import copy_motions
from varint.step.newton import CONVERGED, solve_step
from varint.step.plan import Plan, Workspace

ROUNDS = 4  # in which bearings may be found to turn round


@indirect(seconds=8, what=WHAT)
def solve_bearings(
    plan: Plan, ws: Workspace, start: int, h: float, tol: float, further: int, missed: float
) -> tuple[int, int, int]:
    """Solve a step of ``h`` seconds from the pose ``start`` as `newton.solve_step`, whose other arguments these are.

    Iterates in ``ws.velocity`` (nb, 6), ``ws.multiplier`` (nr,). Returns (status, iterations, upper).
    """
    begin_bearings(plan, ws, start)
    count = 0
    for rounds in range(ROUNDS + 1):
        status, iterations, upper = solve_step(plan, ws, start, 1 - start, h, tol, further, False, missed)
        count += iterations
        if status == CONVERGED and not (rounds < ROUNDS and _any_turned(plan, ws)):
            return status, count, upper
        if status != CONVERGED:
            break
        missed = math.inf
    for n in range(plan.bearings.row.size):  # one that slid may stop at once, as a drawer that jams
        ws.bearings.low[n], ws.bearings.high[n] = -1.0, 1.0
    copy_motions(ws.history[0, 0], ws.velocity)
    ws.multiplier[:] = 0.0
    status, iterations, upper = solve_step(plan, ws, start, 1 - start, h, tol, further, False, math.inf)
    return status, count + iterations, upper


@njit
def _any_turned(plan, ws):
    """Turn round the bearings whose slip does in the solution at hand; return whether there are any."""
    turned = False
    for n in range(plan.bearings.row.size):
        turned = turn_round(ws.bearings, n, ws.bearings.rate[n]) or turned
    return turned
