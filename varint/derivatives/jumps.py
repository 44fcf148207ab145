"""Jumps of efforts that a run passes, and inputs by which it stands at kinks of laws, in both formulations."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from varint.base.callers import level_of_user
from varint.base.errors import KinkWarning, MechanismError
from varint.derivatives.along_run import MotionSum
from varint.derivatives.numbers import GRAVITY, START, Number
from varint.derivatives.stage_slopes import MATTERS, slopes_of
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Effort, Force
from varint.plan import Compiled
from varint.results.forces import sum_of_law
from varint.step.derivatives.by_numbers import acting_law, jumps_of_law
from varint.step.laws import SPRING, TAKES_INPUT
from varint.step.plan import ByNumbers, Plan, Tape, Workspace
from varint.step.workspace import workspace

SHARE = 1e-3  # of an input, or of one: the longest step of differences by it
MOVING = START, f"{START}.q", f"{START}.qdot", GRAVITY  # numbers that act through the motion alone


class LawRun(Protocol):
    """A run with the inputs and internal variables of laws in its stages on a tape."""

    @property
    def mechanism(self) -> Mechanism:
        """Its mechanism."""

    @property
    def compiled(self) -> Compiled:
        """The mechanism compiled."""

    @property
    def tape(self) -> Tape:
        """Inputs and internal variables of laws in the stages, and the sizes of these."""

    @property
    def dt(self) -> float:
        """Size of a step, s."""

    @property
    def is_adaptive(self) -> bool:
        """Whether the times of stages are not known."""


class LawGradient(Protocol):
    """A gradient by the efforts of laws in the stages of a run."""

    @property
    def by(self) -> ByNumbers:
        """The gradient, with values and rates of sums."""


class Jumps(MotionSum):
    """The laws whose efforts jump between two stages of a run, as where damping sets in with a contact.

    Attributes
    ----------
    first : dict of int to (float, float)
        Number of the force to the time, s, and the size, N or N m, of its first jump.
    """

    def __init__(self, objectives: int, run: LawRun) -> None:
        super().__init__(objectives, self._add)
        self.run, self.first = run, dict[int, tuple[float, float]]()
        plan = run.compiled.plan
        self._laws = [] if run.is_adaptive else laws_with_kinks(plan)  # no times of stages there
        self._ws = workspace(plan, 1, run.compiled.functions) if self._laws else None
        self._later: dict[int, tuple[np.ndarray, ...]] = {}  # the first stage of the part that was gone back along last

    @property
    def watches(self) -> bool:
        """Return whether there is any such law."""
        return bool(self._laws)

    def _add(self, count: int, adjoint: LawGradient, total: float) -> float:
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

    def tell(self) -> None:
        """Warn the user of the jumps, after the backward pass."""
        mechanism = self.run.mechanism
        for number, (time, size) in sorted(self.first.items(), key=lambda each: each[1]):
            warnings.warn(
                f"the effort of {mechanism.forces[number].label} jumps by {size:.3g} (N or N m) at t = {time:.4g} s,"
                " where it sets in: the gradient is that of the steps, which does not follow the instant of the jump,"
                " and is not that of the motion. Take its damping away, or a law that sets in without a jump, as"
                " GroundContact(law='hunt-crossley')",
                KinkWarning,
                stacklevel=level_of_user(),
            )


class InputKinks(MotionSum):
    """Numbers that are inputs, or starts of internal variables, at which laws stand at a kink in stages of a run.

    Parameters
    ----------
    objectives : int
    run : LawRun
    numbers : mapping of names to Number
        Those by which a gradient is asked for.

    Attributes
    ----------
    names : list of str
        Those of such numbers, after the backward pass.
    """

    def __init__(self, objectives: int, run: LawRun, numbers: Mapping[str, Number]) -> None:
        super().__init__(objectives, self._add)
        self.run, self.names = run, list[str]()
        self._laws = {name: laws for name, number in numbers.items() if (laws := self._laws_by(number))}
        self._slopes = dict.fromkeys(self._laws, np.zeros(2))  # of each name the size of slopes, and of their kinks

    @property
    def watches(self) -> bool:
        """Return whether there is any such number."""
        return bool(self._laws)

    def _laws_by(self, number: Number) -> list[tuple[int, bool]]:
        """Return the laws whose input, or internal variable at the start (True), changes with ``number``."""
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

    def _add(self, count: int, adjoint: LawGradient, total: float) -> float:
        if not count:
            self.names = [name for name, (size, kink) in self._slopes.items() if kink > MATTERS * size]
            return total
        if not self._laws:
            return total
        plan, functions, tape = self.run.compiled.plan, self.run.compiled.functions, self.run.tape
        ws = workspace(plan, 1, functions)
        for name, laws in self._laws.items():
            for f, by_start in laws:
                numbers = tape.state[:, plan.laws.state[f]] if by_start else tape.input[:, plan.laws.element[f]]
                self._slopes[name] = self._slopes[name] + kink_along(self.run, ws, adjoint.by, f, numbers, count)
        return total


class MotionKinks(MotionSum):
    """The forces whose laws stand at a kink along the value, or the rate, of their sums in stages of a run.

    Attributes
    ----------
    forces : set of int
        Their numbers, after the backward pass.
    """

    def __init__(self, objectives: int, run: LawRun) -> None:
        super().__init__(objectives, self._add)
        self.run, self.forces = run, set[int]()
        self._laws = laws_with_kinks(run.compiled.plan)

    @property
    def watches(self) -> bool:
        """Return whether there is any law that may have a kink."""
        return bool(self._laws)

    def _add(self, count: int, adjoint: LawGradient, total: float) -> float:
        if not (count and self._laws):
            return total
        compiled, by = self.run.compiled, adjoint.by
        ws = workspace(compiled.plan, 1, compiled.functions)
        for f, s in self._laws:
            for numbers in (by.value[:, s], by.rate[:, s]):
                size, kink = kink_along(self.run, ws, by, f, numbers, count)
                if kink > MATTERS * size:
                    self.forces.add(int(compiled.force[compiled.plan.laws.element[f]]))
        return total

    def tell(self, names: Iterable[str]) -> None:
        """Warn the user of the kinks where derivatives by numbers of these ``names`` are through the motion alone."""
        labels = [self.run.mechanism.forces[k].label for k in sorted(self.forces)]
        if labels and (moving := [repr(name) for name in names if name in MOVING]):
            warnings.warn(
                f"the run stands at a kink of {labels[0]}: derivatives by {' and '.join(moving)} are those of the"
                " branch that its effort takes there, one of the two sides. Start a little beside it for the other",
                KinkWarning,
                stacklevel=level_of_user(),
            )


def laws_with_kinks(plan: Plan) -> list[tuple[int, int]]:
    """Return the laws that may have kinks, each with the number of the sum along which it acts."""
    sums = np.repeat(np.arange(plan.laws.sum_law.size - 1), np.diff(plan.laws.sum_law))
    beyond = sums >= plan.compliant.joint_sum.size
    return [(int(f), int(sums[f])) for f in np.flatnonzero(beyond & (plan.laws.kind != SPRING))]


def kink_along(run: LawRun, ws: Workspace, by: ByNumbers, f: int, numbers: np.ndarray, count: int) -> np.ndarray:
    """Return the sum of the slopes of the effect of law ``f`` along numbers of its stages, and of the kinks in them.

    ``numbers``: values in the stages that the law depends on, the first ``count`` of them on the tape; unchanged on
    return. ``by``: gradient by numbers of the stages. ``ws``: scratch.
    """
    plan, held, step = run.compiled.plan, numbers.copy(), SHARE * max(1.0, float(np.abs(numbers[:count]).max()))

    def values(share: float, stages: np.ndarray) -> np.ndarray:
        out = np.zeros(stages.size)
        numbers[:] = held + share * step
        acting_law(plan, ws, run.tape, stages, f, sum_of_law(plan, f), by, out)
        numbers[:] = held
        return out

    slopes, kink = slopes_of(values, count)
    return np.array([np.abs(slopes).sum(), kink])


def changes_of(mechanism: Mechanism, number: Number) -> tuple[set[int], set[int]]:
    """Return the forces whose input changes with ``number``, and the forces whose initial internal variables do."""
    for share in (SHARE, -SHARE):
        try:
            changed = number.replaced(number.value + share * number.size)
            break
        except MechanismError:  # at a bound
            continue
    else:
        return set(), set()  # the differences by this number report why it cannot change
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
