"""The trend of a quantity over a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import of_type, shown, whole_number
from varint.base.errors import ArgumentError
from varint.mathematics.batches import LEAST, Fit, fitted
from varint.results.derived import QUANTITIES
from varint.results.diagnostics import finest
from varint.results.table_columns import XYZ, listed_name
from varint.runs.trajectory import Trajectory
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINETIC = "kinetic"  # the quantity that energies are measured by


@dataclass(frozen=True, eq=False)
class Trend(Study):
    """The straight line through a quantity over time.

    Attributes
    ----------
    mechanism : str
    quantity : str
    unit : str
        Of the quantity, U.
    slope : float
        U/s
    error : float
        Standard error of the slope, U/s.
    interval : (2,) U/s
        Where the true slope lies with a probability of 95 %.
    change : float
        U: slope times duration.
    scale : float
        U: largest value of the kinetic energy for energies, else of the quantity.
    nodes : int
        How many nodes the line is of.
    t, away : (B,) s, U
        Of the batches from which the error comes, B from 8 to 512: mean times, and mean values less ``level``.
    level : float
        U: of the line at the mean of the times.
    mean : (B,) U
        Mean values of the batches; ``away`` has more digits.

    The deviations of neighbouring nodes from the line are not independent: an energy swings with the motion. So the
    nodes are taken together into batches, whose number is halved until the means of neighbouring batches are
    uncorrelated; the error is that of a line through these means (batch means, Student's distribution).
    """

    mechanism: str
    quantity: str
    unit: str
    slope: float
    error: float
    interval: np.ndarray
    change: float
    scale: float
    nodes: int
    t: np.ndarray
    away: np.ndarray
    level: float

    @property
    def mean(self) -> np.ndarray:
        """See the class."""
        return self.level + self.away

    @property
    def significant(self) -> bool:
        """Whether the interval of the slope leaves out zero."""
        return bool(self.interval[0] > 0 or self.interval[1] < 0)

    @property
    def _title(self) -> str:
        return f"{self.mechanism}: {self.slope:.3g} ± {self.error:.2g} {self.unit}/s"

    def _facts(self) -> Iterable[str]:
        yield f"{self.quantity} {self.slope:.4g} +- {self.error:.2g} {self.unit}/s"
        yield "a trend" if self.significant else "no trend distinguishable from zero"
        yield f"{len(self.t)} batches of {self.nodes} nodes"

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.axes import label_values, legend
        from varint.drawing.style import COLOURS, DASHED, MEAN
        from varint.views.curves import over_time, time_unit

        unit, symbol = time_unit(self.t)
        line = self.slope * (self.t - self.t.mean())
        drawn = axes.plot(self.t / unit, self.away, ".-", color=COLOURS[0], linewidth=0.7, markersize=4)
        drawn += axes.plot(self.t / unit, line, color=MEAN, linewidth=1.4, linestyle=DASHED)
        label_values(axes, f"{self.quantity.capitalize()} - its mean", self.unit, np.abs(self.away).max())
        legend(axes, drawn, ["batch means", "line"])
        over_time(axes, self.t, unit, symbol)


def energy_trend(trajectory: Trajectory, quantity: str | tuple[str, int] = "energy") -> Trend:
    """Return the slope of the energy over a run, or that of another quantity, with its standard error.

    Parameters
    ----------
    trajectory : Trajectory
        Of any length; large runs in files are read part by part. Where it has diagnostics, they are taken.
    quantity : str or (str, int)
        "energy", "energy_balance", "drift", ..., see `varint.results.derived`; of a vector with the number of its
        part, ("linear_momentum", 2).

    Raises ArgumentError for an unknown quantity, and for fewer than 8 nodes.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    name, part = quantity if isinstance(quantity, tuple | list) and len(quantity) == 2 else (quantity, None)
    unit = QUANTITIES[listed_name(name, QUANTITIES, "no quantity is called")].unit
    source = finest(trajectory, str(name))
    if len(source) < LEAST:
        raise ArgumentError(f"a trend needs {LEAST} nodes or more, the trajectory has {len(source)}")
    values, words = getattr(source, str(name)), str(name).replace("_", " ")
    if values.ndim > 1:
        values, words = _part_of(values, words, name, part)
    elif part is not None:
        raise ArgumentError(f"{name!r} is one number at each node: leave out its part {shown(part)}")
    fit: Fit = fitted(source.t, values, line=True)
    scale = values if unit != "J" else getattr(finest(trajectory, KINETIC), KINETIC)
    return Trend(
        mechanism=trajectory.mechanism.name,
        quantity=words,
        unit=unit,
        slope=fit.value,
        error=fit.error,
        interval=fit.interval,
        change=fit.value * float(source.t[-1] - source.t[0]),
        scale=float(np.abs(scale).max()),
        nodes=len(source),
        t=fit.t,
        away=fit.away,
        level=fit.level,
    )


def _part_of(values: np.ndarray, words: str, name: object, part: object) -> tuple[np.ndarray, str]:
    """Return a column (T,) of a vector (T, n), and its label."""
    if part is None:
        raise ArgumentError(f"{name!r} is a vector: choose a part of it, ({name!r}, 0) to ({name!r}, 2)")
    number = whole_number(part, f"the part of {name!r}", 0, ArgumentError, values.shape[1] - 1)
    return values[:, number], f"{words} {XYZ[number]}"
