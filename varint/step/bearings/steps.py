"""Newton's method for a step with bearings: those that slid go on at first, and are turned round where they do not."""

import math

from varint.base.numba import indirect, njit
from varint.step.bearings.rows import HELD, WHAT, begin_bearings, turn_round
from varint.step.dense import copy_motions
from varint.step.newton import (
    CONVERGED,
    EPSILON,
    NOT_CONVERGED,
    add_multipliers,
    evaluate_step,
    move_velocities,
    newton_increment,
    solve_step,
)
from varint.step.plan import Plan, Workspace

ROUNDS = 4  # in which bearings may be found to turn round
SETTLING = 20  # increments in which modes of bearings may change
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
        bound = HELD if share < 0 else (1.0 if share == 0 else share / SHARES)
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
def _any_chooses(plan, ws):
    """Return whether the law has to choose what a bearing does in the step."""
    for n in range(plan.bearings.row.size):
        if ws.bearings.low[n] != ws.bearings.high[n]:
            return True
    return False


@njit
def _settle(plan, ws, start, h, tol):
    """Solve a step by full increments of Newton's method, in which bearings may change; return (status, iterations).

    A search along increments, as `newton.solve_step` has it, ends where many bearings change their modes at once. In
    ``ws.velocity`` (nb, 6), ``ws.multiplier`` (nr,), which are those at the start again where it does not settle.
    ``tol``: m/s, of residuals from which on one more increment leaves round-off.
    """
    work, end, same = ws.bearings, 1 - start, True
    copy_motions(ws.velocity, work.body)
    for r in range(ws.multiplier.size):
        work.right[r] = ws.multiplier[r]
    merit, worst, _, size = evaluate_step(plan, ws, start, end, h, start, math.inf)
    for count in range(1, SETTLING + 1):
        close = same and worst <= max(tol, 8.0 * EPSILON * size)
        for n in range(plan.bearings.row.size):
            work.kept_mode[n] = work.mode[n]
        increment = newton_increment(plan, ws, end, h, start, False) if math.isfinite(merit) else math.nan
        if not math.isfinite(increment):
            break
        copy_motions(ws.velocity, ws.base)
        move_velocities(ws.base, ws.velocity, 1.0, ws.increment_body)
        add_multipliers(ws.multiplier, 1.0, ws.increment_row)
        (merit, worst, _, size), same = evaluate_step(plan, ws, start, end, h, start, increment), True
        for n in range(plan.bearings.row.size):
            same = same and work.mode[n] == work.kept_mode[n]
        if close and same and math.isfinite(merit):
            return CONVERGED, count
    copy_motions(work.body, ws.velocity)
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = work.right[r]
    return NOT_CONVERGED, SETTLING


@njit
def _attempt(plan, ws, start, h, tol, further, missed):
    """Solve a step as `newton.solve_step`, whose arguments these are, from the iterate and the bounds at hand.

    The iterate in ``ws.velocity`` (nb, 6) and ``ws.multiplier`` (nr,), the bounds in ``low``, ``high`` (n,).
    """
    count = 0
    if _any_chooses(plan, ws):
        status, count = _settle(plan, ws, start, h, tol)
        if status == CONVERGED:
            return status, count, start
    status, iterations, upper = solve_step(plan, ws, start, 1 - start, h, tol, further, False, missed)
    return status, count + iterations, upper


@njit
def _any_turned(plan, ws):
    """Turn round the bearings whose slip does in the solution at hand; return whether there are any."""
    turned = False
    for n in range(plan.bearings.row.size):
        turned = turn_round(ws.bearings, n, ws.bearings.rate[n]) or turned
    return turned
