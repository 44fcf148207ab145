"""Derivatives of the efforts in the stages of a run by a number, by differences that span no kink of a law.

Each stage has its own steps: shorter ones where the two sides of a difference disagree, and at a kink one side alone.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from varint.base.errors import MechanismError
from varint.base.numba import CompiledRecord
from varint.derivatives.along_run import MotionSum
from varint.derivatives.backward import Adjoint
from varint.derivatives.given import in_turn
from varint.derivatives.numbers import OTHER_PARTS, differences
from varint.derivatives.taped import MaximalTape
from varint.step.derivatives.by_numbers import FINER, NOISE, SAME, SCALES
from varint.step.plan import Plan
from varint.step.workspace import workspace

FIRST = 0.2  # of the step of a number: the first differences
ONE_SIDED = 2e-5  # differences to one side, over a step and over half of it, agree to this: no kink on that side
ROUND_OFF, SAFE = 1e-12, 16.0  # of a step: so short that values change by their round-off alone; its largest, of that
MATTERS = 1e-6  # of a derivative: what a kink changes

Kernel = Callable[..., None]


class StageSlopes(MotionSum):
    """The derivative of the efforts along a change of the plan, each times the gradient by it, summed over all stages.

    Parameters
    ----------
    objectives : int
    run : MaximalTape
    slopes : list of arrays or None
        Derivative of each array of the plan, in the order of `arrays_of`; None where it does not change.
    kernel : compiled function
        `acting` or `pushing`, or one of the same arguments.
    step : float
        Of the number.
    """

    def __init__(
        self, objectives: int, run: MaximalTape, slopes: Sequence[np.ndarray | None], kernel: Kernel, step: float
    ) -> None:
        super().__init__(objectives, self._add)
        self.run, self.slopes, self.kernel, self.step = run, slopes, kernel, step
        self.kink = 0.0  # of all objectives the largest difference between the sides of kinks that the run stands at

    def _plan(self, share: float) -> Plan:
        return shifted(self.run.compiled.plan, iter(self.slopes), share * self.step)  # type: ignore[return-value]

    def _add(self, count: int, adjoint: Adjoint, total: float) -> np.ndarray:
        if not count:
            return np.asarray(total)
        functions, tape = self.run.compiled.functions, self.run.tape

        def values(share: float, stages: np.ndarray) -> np.ndarray:
            plan, out = self._plan(share), np.zeros(stages.size)
            self.kernel(plan, workspace(plan, 1, functions), tape, stages, adjoint.by, out)
            return out

        slopes, kink = slopes_of(values, count)
        self.kink = max(self.kink, kink / self.step)
        return in_turn(np.asarray(total), slopes / self.step)

    def stands_at_kink(self) -> bool:
        """Return whether the derivative is that of one side; after the backward pass."""
        return bool(self.kink > MATTERS * max(float(np.abs(each)) for each in self.totals))


def slopes_of(
    values: Callable[[float, np.ndarray], np.ndarray], count: int, first: float = FIRST, rounded: bool = False
) -> tuple[np.ndarray, float]:
    """Return derivatives (count,) at 0 of ``values(share, stages)``, one a stage, and the difference of sides of kinks.

    Steps get shorter, from ``first`` on, until differences to both sides agree. At a kink the derivative is that of the
    side on which the values are smooth, of two such sides the larger. ``rounded``: whether values are what is left of
    larger terms that cancel; what their round-off makes of differences is then no kink.
    """
    slopes, left, h = np.zeros(count), np.arange(count), first
    least, here, floor = np.full(count, np.inf), values(0.0, np.arange(count)), 0.0
    for _ in range(SCALES):
        ahead, near, back, behind = (values(share * h, left) for share in (1.0, 0.5, -0.5, -1.0))
        middle = here[left]
        right = (4.0 * near - ahead - 3.0 * middle) / h
        before = (3.0 * middle - 4.0 * back + behind) / h
        central, bend = (8.0 * (near - back) - (ahead - behind)) / (6.0 * h), np.abs(right - before)
        noise = (NOISE * np.max(np.abs([ahead, behind, middle]), axis=0) + floor) / h
        better = bend < least[left]
        slopes[left[better]], least[left[better]] = central[better], bend[better]
        kinked = ~(bend <= SAME * np.abs(central) + noise)
        if kinked.any() and rounded and not floor:
            stages = np.arange(count)
            apart = [np.abs(values(share, stages) - here).max() for share in (ROUND_OFF, -ROUND_OFF)]
            floor = SAFE * max(*apart, np.finfo(float).tiny)
            noise = noise + floor / h
            kinked = ~(bend <= SAME * np.abs(central) + noise)
        if not kinked.any():
            return slopes, 0.0
        if h > 1.5 * first * FINER ** (SCALES - 1):
            left, h = left[kinked], h * FINER
    left, right, before, noise = left[kinked], right[kinked], before[kinked], noise[kinked]
    near, back = near[kinked], back[kinked]
    middle, quarter, other = here[left], values(0.25 * h, left), values(-0.25 * h, left)
    nearer = (4.0 * quarter - near - 3.0 * middle) / (0.5 * h), (3.0 * middle - 4.0 * other + back) / (0.5 * h)
    smooth = [
        np.abs(one - two) <= ONE_SIDED * np.abs(two) + 4.0 * noise
        for one, two in zip((right, before), nearer, strict=True)
    ]
    both = smooth[0] & smooth[1]
    larger = np.where(np.abs(right) >= np.abs(before), right, before)
    one = np.where(smooth[0], right, before)
    slopes[left] = np.where(both, larger, np.where(smooth[0] | smooth[1], one, slopes[left]))
    return slopes, float(np.abs(right - before)[both].sum())


def slopes_at_bound(values: Callable[[float, np.ndarray], np.ndarray], count: int, side: float) -> np.ndarray:
    """Return the derivatives of `slopes_of` of a number at a bound, to the one ``side`` that is allowed, 1 or -1.

    Steps get shorter until differences over few and over more values agree.
    """
    slopes, left, h = np.zeros(count), np.arange(count), side
    least, here = np.full(count, np.inf), values(0.0, np.arange(count))
    for _ in range(SCALES):
        at = [here[left], *(values(0.25 * n * h, left) for n in range(1, 5))]
        fine = (-25.0 * at[0] + 48.0 * at[1] - 36.0 * at[2] + 16.0 * at[3] - 3.0 * at[4]) / (3.0 * h)
        bend = np.abs(fine - (4.0 * at[1] - at[2] - 3.0 * at[0]) / (0.5 * h))
        better = bend < least[left]
        slopes[left[better]], least[left[better]] = fine[better], bend[better]
        kinked = ~(bend <= SAME * np.abs(fine) + NOISE * np.max(np.abs(at), axis=0) / abs(h))
        if not kinked.any():
            break
        left, h = left[kinked], h * FINER
    return slopes


def arrays_of(record: CompiledRecord) -> list[np.ndarray]:
    """Return the arrays of a record and of the records in it."""
    return [each for part in record for each in (arrays_of(part) if isinstance(part, CompiledRecord) else [part])]


def shifted(record: CompiledRecord, slopes: Iterator[np.ndarray | None], change: float) -> "CompiledRecord":
    """Return the record with arrays that changed by ``change`` times their ``slopes``, see `arrays_of`."""
    parts = []
    for part in record:
        if isinstance(part, CompiledRecord):
            parts.append(shifted(part, slopes, change))
        else:
            slope = next(slopes)
            parts.append(part if slope is None else part + change * slope)
    return type(record)(*parts)


def slopes_of_plan(plan: Plan, made: dict[float, Plan], step: float) -> list[np.ndarray | None]:
    """Return derivatives of the arrays of a plan, from plans at the shares that `differences` over ``step`` need."""
    arrays = {share: arrays_of(each) for share, each in made.items()}
    slopes: list[np.ndarray | None] = []
    for k, array in enumerate(arrays_of(plan)):
        if array.dtype.kind != "f" or all(np.array_equal(each[k], array) for each in arrays.values()):
            slopes.append(None)
            continue
        finite = np.isfinite(array)

        def at(share: float, k: int = k, finite: np.ndarray = finite) -> np.ndarray:
            if share not in arrays:
                raise MechanismError(OTHER_PARTS)  # `differences` takes the other side
            return np.where(finite, arrays[share][k], 0.0)

        slopes.append(differences(at, step))
    return slopes
