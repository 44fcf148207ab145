"""Warnings of gradients: jumps of efforts that a run passes, and kinks at which it stands, also by inputs."""

import warnings
from collections.abc import Iterable, Mapping

import numpy as np

from varint.base.errors import KinkWarning, MechanismError
from varint.derivatives.along_run import MotionSum
from varint.derivatives.backward import Adjoint
from varint.derivatives.numbers import Number
from varint.derivatives.stage_slopes import MATTERS, slopes_of, tell_kink
from varint.derivatives.taped import MaximalTape
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Effort, Force
from varint.step.derivatives.by_numbers import acting_law, jumps_of_law
from varint.step.laws import SPRING, TAKES_INPUT
from varint.step.workspace import workspace

SHARE = 1e-3  # of an input, or of one: the longest step of differences by it
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

    def tell(self, kinked: Iterable[str]) -> None:
        """Warn the caller of `gradient`, after the backward pass; ``kinked``: numbers by which it stands at a kink."""
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
        for name in dict.fromkeys(kinked):
            tell_kink(name)


class InputKinks(MotionSum):
    """Numbers that are inputs, or starts of internal variables, at which laws stand at a kink in stages of a run.

    Parameters
    ----------
    objectives : int
    run : MaximalTape
    numbers : mapping of names to Number
        Those by which a gradient is asked for.

    Attributes
    ----------
    names : list of str
        Those of such numbers, after the backward pass.
    """

    def __init__(self, objectives: int, run: MaximalTape, numbers: Mapping[str, Number]) -> None:
        super().__init__(objectives, self._add)
        self.run, self.names = run, list[str]()
        self._laws = {name: laws for name, number in numbers.items() if (laws := self._laws_by(number))}
        self._slopes = dict.fromkeys(self._laws, np.zeros(2))  # of each name the size of slopes, and of their kinks

    def _laws_by(self, number: Number) -> list[tuple[int, bool]]:
        """Laws whose inputs, or internal variables at the start (True), are other ones with the number."""
        mechanism, laws, compiled = self.run.mechanism, self.run.compiled.plan.laws, self.run.compiled
        forces = compiled.force[laws.element]
        if number.series is not None:
            inputs, starts = {number.series}, {number.series}
        elif number.field is None or number.field.item in mechanism.forces:
            inputs, starts = changes_of(mechanism, number)
        else:
            return []
        by_input = [(int(f), False) for f in np.flatnonzero(TAKES_INPUT[laws.kind]) if forces[f] in inputs]
        return by_input + [(int(f), True) for f in np.flatnonzero(laws.state >= 0) if forces[f] in starts]

    def _add(self, count: int, adjoint: Adjoint, total: float) -> float:
        if not count:
            self.names = [name for name, (size, kink) in self._slopes.items() if kink > MATTERS * size]
            return total
        plan, functions, tape = self.run.compiled.plan, self.run.compiled.functions, self.run.tape
        for name, laws in self._laws.items():
            for f, by_start in laws:
                s = int(np.searchsorted(plan.laws.sum_law, f, side="right")) - 1
                numbers = tape.state[:, plan.laws.state[f]] if by_start else tape.input[:, plan.laws.element[f]]
                held, step = numbers.copy(), SHARE * max(1.0, float(np.abs(numbers[:count]).max()))

                def values(
                    share: float, stages: np.ndarray, f: int = f, s: int = s, numbers: np.ndarray = numbers,
                    step: float = step,
                ) -> np.ndarray:  # fmt: skip
                    before, out = numbers.copy(), np.zeros(stages.size)
                    numbers += share * step
                    acting_law(plan, workspace(plan, 1, functions), tape, stages, f, s, adjoint.by, out)
                    numbers[:] = before
                    return out

                slopes, kink = slopes_of(values, count)
                numbers[:] = held
                self._slopes[name] = self._slopes[name] + [float(np.abs(slopes).sum()), kink]
        return total


def changes_of(mechanism: Mechanism, number: Number) -> tuple[set[int], set[int]]:
    """Return the forces whose input, and those whose internal variables at the start, change with a number."""
    for share in (SHARE, -SHARE):
        try:
            changed = number.replaced(number.value + share * number.size)
            break
        except MechanismError:  # at a bound
            continue
    else:
        return set(), set()  # who takes differences says why it cannot change
    pairs = [*enumerate(zip(mechanism.forces, changed.forces, strict=False))]
    inputs = {k for k, (one, other) in pairs if not same(getattr(one, "input", 0.0), getattr(other, "input", 0.0))}
    starts = {k for k, (one, other) in pairs if starts_of(one, mechanism) != starts_of(other, changed)}
    return inputs, starts


def starts_of(force: Force, mechanism: Mechanism) -> list[float]:
    """Return the internal variables of the laws of a force at the start."""
    return [each.start for each in force.elements(mechanism) if isinstance(each, Effort)]


def same(one: object, other: object) -> bool:
    """Return whether two inputs are the same function, or the same numbers."""
    return one is other if callable(one) or callable(other) else bool(np.array_equal(one, other))  # type: ignore[arg-type]
