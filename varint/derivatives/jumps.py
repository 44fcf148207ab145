"""Warnings of gradients: jumps of efforts that a run passes, and kinks at which it stands."""

import warnings
from collections.abc import Iterable

import numpy as np

from varint.base.errors import KinkWarning
from varint.derivatives.along_run import MotionSum
from varint.derivatives.backward import Adjoint
from varint.derivatives.stage_slopes import StageSlopes
from varint.derivatives.taped import MaximalTape
from varint.step.derivatives.by_numbers import jumps_of_law
from varint.step.laws import SPRING
from varint.step.workspace import workspace

LEVEL = 4  # of the stack: the caller of `gradient`


class Jumps(MotionSum):
    """The laws whose efforts jump between two stages of a run, as where damping sets in with a contact.

    Attributes
    ----------
    first : dict of int to (float, float)
        Number of the force to the time, s, and the size, N or N m, of its first jump.
    """

    def __init__(self, objectives: int, run: MaximalTape) -> None:
        super().__init__(objectives, self._add)
        self.run, self.first = run, dict[int, tuple[float, float]]()
        plan = run.compiled.plan
        sums = np.repeat(np.arange(plan.laws.sum_law.size - 1), np.diff(plan.laws.sum_law))
        beyond = sums >= plan.compliant.joint_sum.size
        laws: Iterable[int] = (
            [] if run.is_adaptive else np.flatnonzero(beyond & (plan.laws.kind != SPRING))
        )  # no times of stages there
        self._laws = [(int(f), int(sums[f])) for f in laws]
        self._ws = workspace(plan, 1, run.compiled.functions) if self._laws else None
        self._later: dict[int, tuple[np.ndarray, ...]] = {}  # the first stage of the part that was gone back along last

    def _add(self, count: int, adjoint: Adjoint, total: float) -> float:
        plan, tape, by = self.run.compiled.plan, self.run.tape, adjoint.by
        if not (count and self._laws):
            return total
        for f, s in self._laws:
            e, a = plan.laws.element[f], plan.laws.state[f]
            parts = (
                np.column_stack([by.value[:count, s], by.rate[:count, s]]),
                tape.input[:count, e],
                tape.state[:count, a] if a >= 0 else np.zeros(count),
            )
            acts = by.effort[:count, s] != 0.0
            later = self._later.get(f, tuple(part[:0] for part in parts))
            self._later[f] = tuple(part[:1].copy() for part in parts)
            joined = [np.ascontiguousarray(np.concatenate([*pair])) for pair in zip(parts, later, strict=True)]
            jumps = np.zeros(max(len(joined[0]) - 1, 0))
            jumps_of_law(plan, self._ws, f, *joined, jumps)
            if (passed := np.flatnonzero((jumps != 0.0) & acts[: jumps.size])).size:
                k = passed[0]  # all steps are of dt here
                time = self.run.dt * float(tape.node[k] + tape.share[k])
                self.first[int(self.run.compiled.force[e])] = time, abs(float(jumps[k]))
        return total

    def tell(self, slopes: list[tuple[str, StageSlopes]]) -> None:
        """Warn the caller of `gradient`, after the backward pass; ``slopes`` by names of numbers."""
        mechanism = self.run.mechanism
        for number, (time, size) in sorted(self.first.items(), key=lambda each: each[1]):
            warnings.warn(
                f"the effort of {mechanism.forces[number].label} jumps by {size:.3g} (N or N m) at t = {time:.4g} s,"
                " where it sets in: the gradient is that of the steps, which does not follow the instant of the jump,"
                " and is not that of the motion. Take its damping away, or a law that sets in without a jump, as"
                " GroundContact(law='hunt-crossley')",
                KinkWarning,
                stacklevel=LEVEL,
            )
        for name in dict.fromkeys(name for name, each in slopes if each.stands_at_kink()):
            warnings.warn(
                f"the run stands at a kink of a force by '{name}': the derivatives to both sides differ, and that of"
                " one side is given, of the larger where both are smooth",
                KinkWarning,
                stacklevel=LEVEL,
            )
