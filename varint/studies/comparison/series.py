"""`Series`: runs by one method, from coarse to fine, against the reference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from varint.base.display import Shown, count_text, numbers_text
from varint.runs.trajectory import Trajectory
from varint.studies.comparison.differences import Quantities, common_nodes, differences, largest, time_apart


@dataclass(frozen=True, eq=False)
class Series(Shown):
    """K runs by one method, compared with the reference at T nodes; NaN after the node where a run stopped.

    Attributes
    ----------
    name : str
    parameter : {"dt", "rtol"}
        Name of ``values``, which fall from run to run.
    values : (K,) steps, s, or relative tolerances
    runs : K trajectories
    wall_time : (K,) s of stepping, without compilation; the least of some repetitions of short runs
    difference : Quantities of (K, T), the largest over the bodies
    energy : (K, T) error of the energy, J: `Trajectory.energy_balance`
    drift : (K, T) largest violation of a joint, m
    apart : (K,) s, when a run leaves the reference, see `time_apart`; NaN if it does not
    fitted : Quantities of (K,) bool: the run stayed with the reference, and the error is larger than the reference's
    order : Quantities of float, slope of the fitted errors over dt in logarithms; NaN for fewer than two
    """

    name: str
    parameter: str
    values: np.ndarray
    runs: tuple[Trajectory, ...]
    wall_time: np.ndarray
    difference: Quantities
    energy: np.ndarray
    drift: np.ndarray
    apart: np.ndarray
    fitted: Quantities
    order: Quantities

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self.runs), "run")
        yield f"{self.parameter} {numbers_text(self.values)}"
        yield f"errors of positions {numbers_text(self.error.position)} m"
        if not np.isnan(self.order.position):
            yield f"of order {self.order.position:.2f}"

    @property
    def settings(self) -> list[str]:
        """The values as text."""
        return [f"{value:g}" if self.parameter == "dt" else f"{value:.0e}" for value in self.values]

    @property
    def error(self) -> Quantities:
        """Quantities of (K,): the largest difference over time, NaN for a run that stopped."""
        return largest(self.difference)

    @property
    def evaluations(self) -> np.ndarray:
        """(K,) Newton iterations of VI and of the implicit schemes; evaluations of the accelerations of the others.

        Zero for methods beside VI and REDMAX, whose evaluations are not counted.
        """
        return np.array([getattr(run, "evaluations", run.newton_iterations) for run in self.runs])


def make_series(
    name: str,
    parameter: str,
    values: Sequence[float] | np.ndarray,
    runs: Sequence[Trajectory],
    wall_time: Sequence[float] | np.ndarray,
    reference: Trajectory,
    floor: Quantities,
) -> Series:
    """Return the `Series` of ``runs``; errors below ``floor``, the error of the reference, are not fitted."""
    by_run = [differences(run, reference) for run in runs]
    difference = Quantities(*(np.array(kind) for kind in zip(*by_run, strict=True)))
    apart = np.array([time_apart(each, reference) for each in by_run])
    fitted, order = [], []
    for error, least in zip(largest(difference), floor, strict=True):
        fitted.append(np.isnan(apart) & (error > least))
        order.append(fitted_order(values, error, fitted[-1]) if parameter == "dt" else np.nan)

    def at_nodes(run: Trajectory, values: np.ndarray) -> np.ndarray:
        common = values[: common_nodes(run, reference)]
        return np.concatenate([common, np.full(len(reference.t) - len(common), np.nan)])

    return Series(
        name=name,
        parameter=parameter,
        values=np.array(values),
        runs=tuple(runs),
        wall_time=np.array(wall_time),
        difference=difference,
        energy=np.array([at_nodes(run, run.energy_balance) for run in runs]),
        drift=np.array([at_nodes(run, run.drift) for run in runs]),
        apart=apart,
        fitted=Quantities(*fitted),
        order=Quantities(*order),
    )


def fitted_order(dt: Sequence[float] | np.ndarray, error: np.ndarray, use: np.ndarray) -> float:
    """Return the slope of log ``error`` over log ``dt`` where ``use`` holds, all (K,); NaN below two points."""
    if np.count_nonzero(use) < 2:
        return np.nan
    return float(np.polyfit(np.log(np.asarray(dt)[use]), np.log(error[use]), 1)[0])
