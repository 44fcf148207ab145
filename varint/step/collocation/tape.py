"""The steps of a run of collocation, kept so that their derivatives can be taken afterwards (adjoint.py)."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Float4, Int1, Int2, copy_spans, natural, njit
from varint.step.collocation.efforts import take_loads
from varint.step.collocation.end_rates import choose_ends
from varint.step.collocation.records import ClosedLoops, LinkTree, NodeRule, NodeWorkspace
from varint.step.collocation.steps import finish_step, predict, return_to_start, solve_step, start_poses
from varint.step.newton import CONVERGED
from varint.step.plan import Plan, Workspace


@dataclass(frozen=True, eq=False)
class StepTape(CompiledRecord, writable=True):
    """Starts, inputs and solutions of the steps of a run; arrays as in `NodeWorkspace`."""

    count: Annotated[Int1, "1"]  # of the steps that were kept, or would have been
    h: Annotated[Float1, "steps"]  # s
    node: Annotated[Int1, "steps"]  # of the run, before the step, ...
    share: Annotated[Float1, "steps"]  # ... which begins this share of a whole step later
    coordinate: Annotated[Float3, "steps 2 nl"]
    ball: Annotated[Float4, "steps balls 3 3"]  # rotations at coordinate zero of the first links of balls
    momentum: Annotated[Float3, "steps nl 6"]
    by: Annotated[Float3, "steps s nl"]
    multiplier: Annotated[Float2, "steps closed"]
    given: Annotated[Float3, "steps s ne"]
    load: Annotated[Float4, "pushed s nb 6"]  # loads on bodies at the nodes; of no step where there are none
    stage: Annotated[Int2, "steps taped_words"]  # arrays of the workspace with the role TAPED


@njit
def keep_start(ws, tree, work, given, node, share, h, tape):
    """Keep the start of a step of ``h`` s with inputs ``given`` (s, ne).

    It begins the ``share`` of a whole step after a ``node``. Writes ``tape.coordinate`` and the others of the next
    entry. A tape that is full counts on.
    """
    k = tape.count[0]
    if k >= tape.h.size:
        return
    tape.h[k], tape.node[k], tape.share[k] = h, node, share
    copy_spans(ws.spans.taped, 0, tape.stage[k], False)
    for i in range(tree.mass.size):
        tape.coordinate[k, 0, i], tape.coordinate[k, 1, i] = work.coordinate[0, i], work.coordinate[1, i]
        for a in range(6):
            tape.momentum[k, i, a] = work.momentum[i, a]
    for n in range(tree.ball.size):
        for a in range(3):
            for b in range(3):
                tape.ball[k, n, a, b] = work.turned[tree.ball[n], a, b]
    for j in range(given.shape[0]):
        for e in range(given.shape[1]):
            tape.given[k, j, e] = given[j, e]
        for b in range(tape.load.shape[2] if work.is_given[0] else 0):
            for a in range(6):
                tape.load[k, j, b, a] = work.given[j, b, a]


@njit
def keep_solution(work, tape):
    """Keep the solution of the step whose start was kept last: ``tape.by`` and ``tape.multiplier``."""
    k = tape.count[0]
    tape.count[0] += 1
    if k >= tape.h.size:
        return
    for j in range(work.by.shape[0]):
        for i in range(work.by.shape[1]):
            tape.by[k, j, i] = work.by[j, i]
    for r in range(work.closures.multiplier.size):
        tape.multiplier[k, r] = work.closures.multiplier[r]


@njit
def play_step(plan, ws, tree, closures, work, tape, k):
    """Restore the workspaces to the solved step k of the ``tape``: its start, ``work.by`` and the multipliers.

    ``work.by`` (s, nl): changes of the coordinates at the nodes.
    """
    copy_spans(ws.spans.taped, 0, tape.stage[k], True)
    for i in range(tree.mass.size):
        work.coordinate[0, i], work.coordinate[1, i] = tape.coordinate[k, 0, i], tape.coordinate[k, 1, i]
        for a in range(6):
            work.momentum[i, a] = tape.momentum[k, i, a]
        for j in range(work.by.shape[0]):
            work.by[j, i] = tape.by[k, j, i]
    for n in range(tree.ball.size):
        for a in range(3):
            for b in range(3):
                work.turned[tree.ball[n], a, b] = tape.ball[k, n, a, b]
    for r in range(work.closures.multiplier.size):
        work.closures.multiplier[r] = tape.multiplier[k, r]
    work.is_given[0] = tape.load.shape[0] > 0
    if work.is_given[0]:
        take_loads(work, tape.load[k])
    start_poses(plan, ws, tree, closures, work, tape.given[k, 0])


@njit(seconds=20, what="steps of collocation")
def march_taped(
    plan: Plan, ws: Workspace, tree: LinkTree, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace,
    inputs: Float4, loads: Float4, node: int, steps: int, parts: int, h: float, tape: StepTape,
) -> tuple[int, int, int]:  # fmt: skip
    """Take steps as `march_nodes` does, and keep them on the ``tape``; nothing is recorded.

    ``inputs`` (2, steps, s, ne), ``loads`` (steps, s, nb, 6). ``parts``: steps of ``h`` s in a whole one.
    Returns (status, steps done, iterations).
    """
    iterations = 0
    work.is_given[0] = loads.shape[0] > 0
    start_poses(plan, ws, tree, closures, work, inputs[0, 0, 0])
    for step in range(steps):
        if work.ends.active[0]:
            choose_ends(plan, ws, tree, work, h)
        predict(rule, work)
        at = natural(min(step, inputs.shape[1] - 1))
        given = inputs[0, at]
        if work.is_given[0]:
            take_loads(work, loads[natural(min(step, loads.shape[0] - 1))])
        keep_start(ws, tree, work, given, node + step // parts, (step % parts) / parts, h, tape)
        status, count = solve_step(plan, ws, tree, closures, rule, work, given, h)
        iterations += count
        if status != CONVERGED:
            return_to_start(plan, ws, tree, closures, work, given[0])
            return status, step, iterations
        keep_solution(work, tape)
        finish_step(plan, ws, tree, closures, rule, work, given, inputs[1, at], h)
    return CONVERGED, steps, iterations
