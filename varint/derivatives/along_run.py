"""Sums along the motion of a run, which are made while it is gone back along, and the backward pass itself."""

from collections.abc import Callable, Sequence
from typing import Any

from varint.derivatives.backward import Adjoint
from varint.derivatives.taped import MaximalTape
from varint.plan import Compiled
from varint.step.workspace import workspace

Add = Callable[[int, Any, Any], Any]  # of an `Adjoint`, or of what has its ``by`` alone


class MotionSum:
    """A sum over all stages, for each objective: what a plan has to do with the gradient of each stage.

    Parameters
    ----------
    objectives : int
    add : function of (count, adjoint, total)
        The ``total`` with the ``count`` stages on the tape, of which ``adjoint`` has the gradient.
    """

    def __init__(self, objectives: int, add: Add) -> None:
        self.totals: list = [0.0] * objectives  # of numbers, or of arrays of them
        self.add = add


def of_plan(run: MaximalTape, compiled: Compiled, kernel: Callable) -> Add:
    """Return the function of a `MotionSum` that evaluates ``kernel``, `holding`, for another description.

    ``compiled``: of that description.
    """

    def add(count: int, adjoint: Adjoint, total: float) -> float:
        scratch = workspace(compiled.plan, 1, compiled.functions)  # a workspace for each description takes more memory
        return float(kernel(compiled.plan, scratch, run.tape, count, adjoint.by, total))

    return add


def go_back(run: MaximalTape, adjoints: Sequence[Adjoint], sums: Sequence[MotionSum]) -> None:
    """Take the gradients back along the run, and make the sums on it."""
    for part in run.parts():
        for k, adjoint in enumerate(adjoints):
            adjoint.back(part)
            for each in sums:
                each.totals[k] = each.add(part.stages, adjoint, each.totals[k])
    for k, adjoint in enumerate(adjoints):
        adjoint.finish()
        for each in sums:
            each.totals[k] = each.add(0, adjoint, each.totals[k])
