"""Compiled steps of an explicit Runge-Kutta pair on a tree under constant inputs.

The steps and their error control are as in scipy's explicit solvers: a step is accepted where the error that the pair
estimates is below atol + rtol |y|, and the size of the next one follows from that error.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from varint.base.numba import CompiledRecord, Float1, Float2, Int1, njit
from varint.methods.reduced.charts import LONGEST
from varint.methods.reduced.recursions.articulated import inward_dynamics, outward_pass
from varint.methods.reduced.recursions.kinematic_recursions import place_and_move
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace
from varint.step.nodes.efforts import evaluate_efforts, keep_turns
from varint.step.plan import Plan, Workspace

MARCHED, NOT_FINITE, TOO_SMALL = range(3)
TIME, BEFORE, SIZE, TAKEN = range(4)  # of `Steps.clock`, s: now, start of the last step; sizes of the next and the last
STEPS, EVALUATIONS, SHORT = range(3)  # of `Steps.count`: steps, evaluations, steps in a row that were short
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # of the factor from the size of a step to that of the next: margin and bounds


class StepControl(NamedTuple):
    """Tolerances and bounds that the sizes of steps follow from."""

    rtol: float  # relative tolerance
    atol: float  # absolute tolerance
    end: float  # s, of the run
    short: float  # s: a step below that is short


@dataclass(frozen=True, eq=False)
class Pair(CompiledRecord):
    """A pair of s stages; the last row of `error` may be a second estimate, of lower order, as DOP853 has it."""

    A: Float2  # (s, s)
    B: Float1  # (s,)
    error: Float2  # (1 or 2, s + 1) weights of the slopes, that of the end among them
    exponent: Float1  # (1,) power of the error in that factor


@dataclass(frozen=True, eq=False)
class Steps(CompiledRecord, writable=True):
    """The state of a run; y holds q, rates, the work of each element, J, and the states of laws."""

    tree: ReducedWorkspace
    balls: Int1  # (n,) first columns of rotation vectors
    load: Float2  # (nb, 6) constant: force, N, world, and torque, N m, body axes
    total: Float2  # (nb, 6) the same with the forces of the mechanism
    y: Float1  # (n,)
    y_before: Float1  # (n,) at the start of the last step
    trial: Float1  # (n,)
    K: Float2  # (s + 1, n) slopes of the last step; the last row is that of y
    f: Float1  # (n,) slope of y
    clock: Float1  # (4,)
    count: Int1  # (3,)


@njit
def _copy(source: Float1, out: Float1) -> None:
    """Copy ``source`` (n,) to ``out`` (n,)."""
    for i in range(source.size):
        out[i] = source[i]


@njit
def evaluate_slope(plan: Plan, ws: Workspace, run: Steps, y: Float1, out: Float1) -> bool:
    """Write dy/dt to ``out`` (n,), of ``y`` (n,); return whether all of it is finite.

    Also sets ``run.tree.q``, ``run.tree.rates``, ``run.total`` and counts in ``run.count``.
    """
    tree, nq, ne = run.tree, run.tree.q.size, plan.elements.force.size
    for i in range(nq):
        tree.q[i], tree.rates[i] = y[i], y[nq + i]
        out[i], out[nq + i] = y[nq + i], 0.0
    place_and_move(tree)
    for b in range(run.load.shape[0]):
        for m in range(6):
            run.total[b, m] = run.load[b, m]
    if ne:
        _copy(y[2 * nq + ne :], ws.efforts.state)
        power = out[2 * nq : 2 * nq + ne]
        evaluate_efforts(plan, ws, tree.position, tree.rotation, tree.velocity, 0.0, run.total, power)
        _copy(ws.efforts.flow, out[2 * nq + ne :])
    second = out[nq : 2 * nq]
    inward_dynamics(tree, plan.bodies.gravity, run.total, second)
    outward_pass(tree, tree.bias, second)
    run.count[EVALUATIONS] += 1
    total = 0.0
    for i in range(out.size):
        total += abs(out[i])
    return math.isfinite(total)


@njit
def estimate_error(pair: Pair, run: Steps, h: float, rtol: float, atol: float) -> float:
    """Return the error of a step of ``h``, s, from ``run.y`` to ``run.trial``, relative to the allowed error."""
    first = second = 0.0
    for i in range(run.y.size):
        allowed = atol + max(abs(run.y[i]), abs(run.trial[i])) * rtol
        for k in range(pair.error.shape[0]):
            error = 0.0
            for j in range(pair.error.shape[1]):
                error += pair.error[k, j] * run.K[j, i]
            error /= allowed
            if k == 0:
                first += error * error
            else:
                second += error * error
    if first == 0.0:
        return 0.0
    return h * first / math.sqrt((first + 0.01 * second) * run.y.size)


@njit
def take_step(plan: Plan, ws: Workspace, run: Steps, pair: Pair, control: StepControl) -> int:
    """Make one step, of the size that ``run.clock`` proposes or of a smaller one.

    Writes ``run.trial``, ``run.y``, ``run.K`` and ``run.clock``. Returns MARCHED, or why it failed.
    """
    rtol, atol, end = control.rtol, control.atol, control.end
    t, n, stages = run.clock[TIME], run.y.size, pair.B.size
    least = 10.0 * (np.nextafter(t, np.inf) - t)
    size, largest = max(run.clock[SIZE], least), MOST
    _copy(run.f, run.K[0])
    while size >= least:
        t_next = min(t + size, end)
        h = t_next - t
        for s in range(1, stages + 1):
            weights = pair.A[s] if s < stages else pair.B
            run.trial[:] = 0.0
            for j in range(s):
                if weights[j] != 0.0:
                    for i in range(n):
                        run.trial[i] += weights[j] * run.K[j, i]
            for i in range(n):
                run.trial[i] = run.y[i] + h * run.trial[i]
            if not evaluate_slope(plan, ws, run, run.trial, run.K[s]):
                return NOT_FINITE
        error = estimate_error(pair, run, h, rtol, atol)
        factor = SAFETY * error ** pair.exponent[0] if error > 0.0 else MOST if error == 0.0 else LEAST  # not a number
        if error < 1.0:
            _copy(run.y, run.y_before)
            _copy(run.trial, run.y)
            _copy(run.K[stages], run.f)
            run.clock[BEFORE], run.clock[TIME], run.clock[TAKEN] = t, t_next, h
            run.clock[SIZE] = h * min(largest, factor)
            return MARCHED
        size, largest = h * max(LEAST, factor), 1.0
    return TOO_SMALL


@njit
def is_in_charts(run: Steps) -> bool:
    """Return whether no rotation vector is longer than LONGEST."""
    for n in range(run.balls.size):
        k = run.balls[n]
        if run.y[k] ** 2 + run.y[k + 1] ** 2 + run.y[k + 2] ** 2 > LONGEST**2:
            return False
    return True


@njit(seconds=5, what="explicit steps in reduced coordinates")
def march(plan: Plan, ws: Workspace, run: Steps, pair: Pair, control: StepControl, most: int, stop: float) -> int:
    """Make up to ``most`` steps, until one reaches ``stop``, s, leaves a chart, or may be followed by the last.

    Updates ``run.count``. Returns MARCHED, or why a step failed.
    """
    end, short = control.end, control.short
    for _ in range(most):
        status = take_step(plan, ws, run, pair, control)
        if status != MARCHED:
            return status
        keep_turns(plan, ws.efforts)
        run.count[STEPS] += 1
        run.count[SHORT] = run.count[SHORT] + 1 if run.clock[TAKEN] < short else 0
        t = run.clock[TIME]
        if t >= stop or t + run.clock[SIZE] >= end or not is_in_charts(run):
            break
    return MARCHED
