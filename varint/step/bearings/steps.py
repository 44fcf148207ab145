"""Newton's method for a step with bearings: those that slid go on at first, and are turned round where they do not."""

import math

from varint.base.numba import indirect, njit
from varint.step.bearings.rows import WHAT, begin_bearings, turn_round
from varint.step.dense import copy_motions
from varint.step.newton import CONVERGED, NOT_CONVERGED, solve_step
from varint.step.plan import Plan, Workspace

ROUNDS = 4  # in which bearings may be found to turn round
SHARES = 10  # in which friction grows where a step is not solved otherwise


@indirect(seconds=8, what=WHAT)
def solve_bearings(
    plan: Plan, ws: Workspace, start: int, h: float, tol: float, further: int, missed: float
) -> tuple[int, int, int]:
    """Solve a step of ``h`` seconds from the pose ``start`` as `newton.solve_step`, whose other arguments these are.

    Iterates in ``ws.velocity`` (nb, 6), ``ws.multiplier`` (nr,). Returns (status, iterations, upper).
    """
    begin_bearings(plan, ws, start)
    count = 0
    for _ in range(ROUNDS):
        status, iterations, upper = _attempt(plan, ws, start, h, tol, further, missed)
        count += iterations
        if status != CONVERGED:
            break
        if not _any_turned(plan, ws):
            return status, count, upper
        missed = math.inf
    status = NOT_CONVERGED
    # one that slid may stop at once, as a drawer that jams: from all that stick, and then from no friction at all
    for share in range(-1, SHARES + 1):
        bound = math.inf if share < 0 else (1.0 if share == 0 else share / SHARES)
        for n in range(plan.bearings.row.size):
            ws.bearings.low[n], ws.bearings.high[n] = -bound, bound
        if share < 0 or status != CONVERGED:
            copy_motions(ws.history[0, 0], ws.velocity)
            ws.multiplier[:] = 0.0
        status, iterations, upper = _attempt(plan, ws, start, h, tol, further, math.inf)
        count += iterations
        if share == 0 and status == CONVERGED:
            break
    return status, count, upper


@njit
def _attempt(plan, ws, start, h, tol, further, missed):
    """Do `newton.solve_step` from the iterate at hand with the bounds of friction at hand."""
    return solve_step(plan, ws, start, 1 - start, h, tol, further, False, missed)


@njit
def _any_turned(plan, ws):
    """Turn round the bearings whose slip does in the solution at hand; return whether there are any."""
    turned = False
    for n in range(plan.bearings.row.size):
        turned = turn_round(ws.bearings, n, ws.bearings.rate[n]) or turned
    return turned
