"""Newton's method for a step with contacts: their states are chosen anew in each of its iterations.

Where it does not settle so, it is tried from contacts that all stick, with friction along the slip of the step alone,
and then with coefficients of friction that grow from zero. A step that is not solved even so is divided, as any.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.step.contacts.broad_phase import clear_impulses
from varint.step.contacts.cones import ALL_APART, ALL_PRESS, ALL_STICK, AS_FOUND, SLIDING, add_changes, add_pushes
from varint.step.contacts.interior import COARSE, SHARP, start_inside
from varint.step.contacts.rows import keep_solution, start_step, write_all_plane_rows
from varint.step.contacts.starts import CALM, weigh_start
from varint.step.dense import copy_motions
from varint.step.intervals import StepSpan
from varint.step.newton import (
    ATTACH_ABOVE,
    CONVERGED,
    EPSILON,
    HALVINGS,
    NOT_CONVERGED,
    NOTHING,
    SHRUNK,
    add_multipliers,
    evaluate_step,
    move_velocities,
    newton_increment,
)
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

ITERATIONS = 25  # of a trial, at most
FREE_PASSES = 2  # of Newton's method with given impulses of contacts
MOST_ROUNDS = 2  # of an approximate solution about the motion by the one before
FORESEEN, BALANCED = 4.0 * EPSILON, 1e-11  # of size, of the largest momentum: what a start value may miss; momenta
# may also miss the round-off of size, which is that of a position over the step: of long chains it is larger
SHARES = 20  # in which friction grows from zero


@indirect(seconds=6, what="contacts")
def solve_contacts(plan: Plan, ws: Workspace, start: int, end: int, h: float, tol: float) -> tuple[int, int]:
    """Solve a step of ``h`` seconds as `newton.solve_step` does, with contacts; return (status, iterations).

    Iterates in ``ws.velocity`` (nb, 6), ``ws.multiplier`` (nr,) and ``ws.contacts.z`` (nk, 3), the solution also in
    ``solved``. Sets ``ws.contacts.share`` and ``ws.contacts.softened``, which are those of the last attempt then.
    """
    if math.isnan(ws.goal[0, 0]) and _has_no_states(ws.contacts):
        return NOT_CONVERGED, 0
    ws.contacts.share[0], ws.contacts.softened[0] = 1.0, False
    start_step(plan, ws, start, h)
    attaches = ws.ldu.K.size > 0 or _any_moves(plan, ws)
    status, count = _solve(plan, ws, StepSpan(start, end, h), tol, math.inf if attaches else 0.0)
    weigh_start(plan, ws, count, h)
    keep_solution(ws)
    return status, count


@njit
def _solve(plan, ws, step, tol, increment):
    """Try the attempts of `solve_contacts`, one after another; return (status, iterations).

    ``increment``: see `_iterate`. Changes ``ws.contacts.forced``, ``ws.contacts.share`` and ``ws.contacts.softened``;
    from the second attempt on ``ws.contacts.slip`` is zero, so that friction acts along the slip of the step alone.
    """
    work = ws.contacts
    work.forced[0] = AS_FOUND if _any_presses(work) else ALL_PRESS
    status, count = _iterate(plan, ws, step, tol, increment)
    if status == CONVERGED:
        return status, count
    work.softened[0] = True
    for n in range(work.near_count[0]):
        work.slip[work.near[n], 0] = work.slip[work.near[n], 1] = 0.0
    for rounds in range(1, MOST_ROUNDS + 1):
        if not _start_inside(plan, ws, step, rounds):
            break
        status, further = _iterate(plan, ws, step, tol, math.inf)
        count += further + 2 * rounds
        if status == CONVERGED:
            return status, count
    _begin_anew(ws)
    work.forced[0] = ALL_STICK
    status, further = _iterate(plan, ws, step, tol, math.inf)
    work.forced[0] = AS_FOUND
    count += further
    for n in range(SHARES + 1 if status != CONVERGED else 0):
        if status != CONVERGED:
            _begin_anew(ws)
        work.share[0] = n / SHARES
        status, further = _iterate(plan, ws, step, tol, math.inf)
        count += further
    return status, count


@njit
def _evaluate(plan, ws, step, increment):
    """Evaluate a step as `evaluate_step`, whose results it returns, at positions that ``ws.velocity`` leads to exactly.

    Where joints were closed, after a large ``increment``, ``ws.position_rest`` of the end becomes zero.
    """
    start, end, h = step.upper, step.end, step.h
    missed = evaluate_step(plan, ws, start, end, h, start, increment)
    if increment > ATTACH_ABOVE:
        for i in range(ws.velocity.shape[0]):
            rest = ws.position_rest[end, i]
            rest[0] = rest[1] = rest[2] = 0.0
    return missed


@njit
def _has_no_states(work):
    """Return whether the momenta are the result of an impact that was not solved.

    ``missed`` (nk,) is then below zero for its contacts, and stays so.
    """
    for k in range(work.missed.size):
        if work.missed[k] < 0.0:
            return True
    return False


@njit
def _any_moves(plan, ws):
    """Return whether a body moves, by the start values, faster than round-off."""
    for i in range(ws.velocity.shape[0]):
        for k in range(6):
            if abs(ws.velocity[i, k]) > CALM * length_unit(plan):
                return True
    return False


@njit
def _any_presses(work):
    """Return whether a contact has an impulse at the start of the iteration."""
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k] and work.z[k, 0] != 0.0:
            return True
    return False


@njit
def _start_inside(plan, ws, step, rounds):
    """Set the iterate to the solution of the step about the motion without contacts; return whether it was found.

    With two ``rounds`` the solution is then sought again about this one, and sharply.
    """
    _begin_anew(ws)
    for n in range(rounds):
        if not _approach_inside(plan, ws, step, COARSE if rounds == 1 else SHARP, n > 0):
            return False
    return True


@njit
def _approach_inside(plan, ws, step, enough, again):
    """Do a round of `_start_inside` from the iterate at hand; return whether there is a solution.

    ``again``: whether the iterate has impulses. ``enough``: `COARSE` or `SHARP`. Passes of Newton's method with the
    impulses held come first. Changes ``ws.velocity``, ``ws.multiplier`` and ``ws.contacts.z``; ``ws.contacts.forced``
    is AS_FOUND after. ``ws.residual_body`` and ``ws.residual_row`` are scratch.
    """
    work, start, end, h = ws.contacts, step.upper, step.end, step.h
    for passes in range(FREE_PASSES + 1):
        work.forced[0] = ALL_APART
        merit = _evaluate(plan, ws, step, math.inf)[0]
        work.forced[0] = AS_FOUND
        if not math.isfinite(merit):
            return False
        if passes < FREE_PASSES:
            if again:
                _keep_given(ws)
            if not math.isfinite(newton_increment(plan, ws, end, h, start, False)):
                return False
            _take_increment(ws)
    write_all_plane_rows(plan, ws, start, end, h)
    ws.residual_body[:] = 0.0
    ws.residual_row[:] = 0.0
    add_pushes(plan, ws, 1.0, ws.residual_body)
    if not start_inside(plan, ws, step, enough):
        return False
    _keep_given(ws)
    add_pushes(plan, ws, -1.0, ws.residual_body)
    if not math.isfinite(newton_increment(plan, ws, end, h, start, True)):
        return False
    _take_increment(ws)
    return True


@njit
def _keep_given(ws):
    """Set ``ws.contacts.given`` (nk, 3) to zero: the next increment leaves the impulses of contacts as they are."""
    work = ws.contacts
    for n in range(work.near_count[0]):
        for a in range(3):
            work.given[work.near[n], a] = 0.0


@njit
def _take_increment(ws):
    """Add the increment of bodies and rows to the iterate, in full."""
    copy_motions(ws.velocity, ws.base)
    move_velocities(ws.base, ws.velocity, 1.0, ws.increment_body)
    add_multipliers(ws.multiplier, 1.0, ws.increment_row)


@njit
def _begin_anew(ws):
    """Set the iterate to the velocities of the last step, and ``ws.multiplier`` and impulses of contacts to zero."""
    copy_motions(ws.history[0, 0], ws.velocity)
    ws.multiplier[:] = 0.0
    clear_impulses(ws)


@njit
def _is_foreseen(plan, ws, tol, worst, unbalanced, size):
    """Return whether the start values solve the step; the last three arguments are results of `evaluate_step`.

    A residual of the rows would open these. One of the momenta is taken off these at the end of the step; while a
    contact slides it may be more than the round-off of a position over the step, as extrapolated velocities drift off
    by that in each step.
    """
    least = FORESEEN * size
    if worst <= EPSILON * size:
        return True
    if not (worst <= max(tol, least) and unbalanced <= BALANCED):
        return False
    return worst <= least or (_any_slides(ws.contacts) and _worst_row(plan, ws) <= least)


@njit
def _any_slides(work):
    """Return whether a contact slides in the iterate at hand."""
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k] and work.mode[k] == SLIDING:
            return True
    return False


@njit
def _worst_row(plan, ws):
    """Return the largest residual of the rows of joints and contacts, m/s."""
    work, worst, missed = ws.contacts, 0.0, 0.0
    for r in range(plan.rows.role.size):
        if ws.released[r] == 0.0:
            worst = max(worst, plan.rows.scale[r] * abs(ws.residual_row[r]))
    for n in range(work.near_count[0]):
        missed = max(missed, work.missed[natural(work.near[n])])
    return max(worst, math.sqrt(missed))


@njit
def _iterate(plan, ws, step, tol, increment):
    """Do Newton's iteration from the iterate at hand; return (status, iterations).

    ``increment``: the change that led to it, see `evaluate_step`. A full increment is taken whether or not it lowers
    the residual: that is what settles the states of contacts. ``ws.contacts.forced`` holds for the first evaluation
    alone, and is AS_FOUND then; ``ws.contacts.drift`` is the size of the last increment, m/s.
    """
    start, end, h = step.upper, step.end, step.h
    merit, worst, unbalanced, size = _evaluate(plan, ws, step, increment)
    forced, ws.contacts.forced[0] = ws.contacts.forced[0] != AS_FOUND, AS_FOUND
    if not math.isfinite(merit):
        return NOT_CONVERGED, 0
    factored, polished = False, False
    for iteration in range(ITERATIONS):
        floor = 8.0 * EPSILON * size
        if polished or (not forced and _is_foreseen(plan, ws, tol, worst, unbalanced, size)):
            return CONVERGED, iteration
        increment = newton_increment(plan, ws, end, h, start, factored)
        if not math.isfinite(increment):
            return NOT_CONVERGED, iteration
        forced, ws.contacts.drift[0] = False, increment
        close, previous, share = worst <= max(tol, floor), merit, 1.0
        copy_motions(ws.velocity, ws.base)
        move_velocities(ws.base, ws.velocity, share, ws.increment_body)
        add_multipliers(ws.multiplier, share, ws.increment_row)
        add_changes(ws, share)
        merit, worst, unbalanced, size = _evaluate(plan, ws, step, increment)
        halvings = 0
        while not math.isfinite(merit):
            halvings += 1
            if halvings > HALVINGS:
                return NOT_CONVERGED, iteration
            share *= 0.5
            move_velocities(ws.base, ws.velocity, share, ws.increment_body)
            add_multipliers(ws.multiplier, -share, ws.increment_row)
            add_changes(ws, -share)
            merit, worst, unbalanced, size = _evaluate(plan, ws, step, increment)
        floor = 8.0 * EPSILON * size
        if close and not worst <= max(tol, floor):  # round-off has changed modes: the iterate before was the solution
            move_velocities(ws.base, ws.velocity, 0.0, ws.increment_body)
            add_multipliers(ws.multiplier, -share, ws.increment_row)
            add_changes(ws, -share)
            _evaluate(plan, ws, step, 0.0)
            return CONVERGED, iteration
        if share == 1.0 and worst <= max(tol, floor):
            # the next increment would leave nothing but round-off, or has just done so
            polished = close or merit / math.sqrt(previous) <= NOTHING * floor if previous > 0.0 else True
        factored = share == 1.0 and ws.contacts.changes[0] == 0 and merit < SHRUNK * SHRUNK * previous
    return NOT_CONVERGED, ITERATIONS
