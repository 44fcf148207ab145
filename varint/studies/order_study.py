"""The order of accuracy of schemes on a mechanism: errors over steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import choice, of_type
from varint.base.errors import ArgumentError
from varint.kinematics.initial_state import checked_start
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.integrators import DEFAULT
from varint.methods.variational.schemes import ORDERS
from varint.model.state import State
from varint.runs.method import Method
from varint.runs.parts import Arguments, with_arguments
from varint.runs.problem import Problem
from varint.studies.comparison.comparison_run import (
    CHECK,
    dividing,
    known_orders,
    posed_series,
    reduced,
    stepping,
    stopped_or_done,
    variational,
)
from varint.studies.comparison.differences import UNITS, Quantities, differences, largest
from varint.studies.comparison.series import Series, fitted_order, make_series
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REDUCED, FINEST = REFERENCES = ("reduced", "finest")
RTOL = 1e-12  # of the reference in reduced coordinates
CLEAR = 5.0  # times the error of the reference, an upper estimate: below, an error gives no slope
ALIKE = 0.3  # slopes between neighbouring steps that differ by no more belong to one straight line


@dataclass(frozen=True, eq=False)
class OrderStudy(Study):
    """Errors of schemes at K steps, and their slopes in logarithms.

    Attributes
    ----------
    mechanism : str
    reference : str
        Run from which the errors are differences.
    floor : Quantities of float
        Error of the reference: m, rad, m/s, rad/s.
    series : tuple of Series
        One a scheme: ``values`` (K,), the steps, s; ``error``, Quantities of (K,), the largest over bodies and time;
        ``fitted``, whether a step belongs to the straight line; ``order``, Quantities of float, its slope, NaN where
        missing.

    The straight line is the longest row of neighbouring steps between which the slopes differ by less than 0.3, with
    errors at least 5 times the reference's, and a motion that stays near it. So neither round-off nor steps that are
    too coarse have a part in the order.
    """

    mechanism: str
    reference: str
    floor: Quantities
    series: tuple[Series, ...]

    @property
    def _title(self) -> str:
        return self.mechanism

    def _facts(self) -> Iterable[str]:
        for series in self.series:
            position, velocity = self._order_text(series, "position"), self._order_text(series, "velocity")
            if position == velocity and np.isnan(series.order.position):
                yield f"{series.name}: {position}"
            else:
                yield f"{series.name}: {position} of positions, {velocity} of velocities"
        yield f"reference {self.reference}"

    def _order_text(self, series: Series, kind: str = "position") -> str:
        """Return the order of the errors of ``kind`` of one of the ``series``, or why it is missing."""
        order, error = getattr(series.order, kind), getattr(series.error, kind)
        if not np.isnan(order):
            return f"{order:.2f}"
        floor = getattr(self.floor, kind)
        if (error <= floor).all():
            return "no order, all below the reference's error"
        if (error <= CLEAR * floor).all():
            return f"no order, all below {CLEAR:g} times the reference's error"
        return "no order, errors on no straight line"

    def local_order(self, series: Series, kind: str = "position") -> np.ndarray:
        """Return the slopes (K,) of the errors of ``kind`` from the step before to each, NaN at the first."""
        of_type(series, Series, "series", ArgumentError)
        error = getattr(series.error, choice(kind, UNITS._fields, "kind", ArgumentError))
        return np.concatenate([[np.nan], _slopes(series.values, error)])

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.axes import legend
        from varint.drawing.style import FAINT, line

        drawn, labels = [], []
        for number, series in enumerate(self.series):
            look, error, used = line(number), series.error.position, series.fitted.position
            fitted = "" if np.isnan(series.order.position) else " fitted"
            labels.append(f"{series.name}: {self._order_text(series)}{fitted}")
            drawn += axes.loglog(series.values, error, marker="o", linewidth=1.0, markersize=4, **look)
            look |= {"linestyle": "", "markerfacecolor": "white"}
            axes.plot(series.values[~used], error[~used], marker="o", markersize=4, **look)
        drawn.append(axes.axhline(self.floor.position, color=FAINT, linewidth=0.7))
        axes.set(xlabel="Step (s); hollow: not fitted", ylabel="Largest error of position (m)")
        axes.minorticks_off()
        axes.set_xticks(self.series[0].values, [f"{step:.4g}" for step in self.series[0].values])
        legend(axes, drawn, [*labels, "error of the reference"])


@with_arguments
def order_study(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | Sequence[Method] | None = None,
    dt: Sequence[float] = (0.02, 0.01, 0.005, 0.0025),
    *,
    order: int | Sequence[int] = 2,
    state: State | None = None,
    reference: str = REDUCED,
) -> OrderStudy:
    """Run a mechanism by several steps, and fit the order of the errors.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method, or a sequence of them
        s; beside a Problem the methods, in steps of each ``dt``, and ``order`` is left out.
    dt : sequence of float
        Steps, s, falling; the first divides the duration and is divided by the others.
    order : int or sequence of int
        Of the schemes.
    state : State, optional
        ``mechanism.state()`` where not given.
    reference : {"reduced", "finest"}
        "reduced": the same motion in reduced coordinates with error control at 1e-12, which shares no equation with the
        schemes. "finest": the scheme of the highest order at a quarter of the smallest step.

    Raises ArgumentError, StateError; ConvergenceError where the reference could not be computed.
    """
    problem, methods = posed_series(arguments)
    mechanism, duration = problem.mechanism, problem.duration
    choice(reference, REFERENCES, "reference", ArgumentError)
    steps = dividing(dt, duration)
    state = checked_start(mechanism, problem.start())
    tasks = [stepping(mechanism, state, steps, method) for method in methods]
    tasks += [variational(mechanism, state, steps, number) for number in known_orders(order) if not methods]
    if reference == REDUCED:
        exact, values = reduced(mechanism, state, steps, DEFAULT), (RTOL, CHECK * RTOL)
        words = f"{exact.name}, rtol {RTOL:g}"
    else:
        exact, values = variational(mechanism, state, steps, max(ORDERS)), (steps[-1] / 4, steps[-1] / 2)
        words = f"{exact.name}, dt {values[0]:g} s"
    best, second = (exact.run(value, duration) for value in values)
    floor = largest(differences(second, best))
    all_series = []
    for task in tasks:
        if task.parameter != "dt":
            raise ArgumentError(f"an order is of steps of dt, '{task.name}' chooses its steps")
        runs = [stopped_or_done(task.run, value, duration) for value in steps]
        times = [run.wall_time for run in runs]
        series = make_series(task.name, task.parameter, steps, runs, times, best, floor)
        all_series.append(_with_straight_lines(series, floor))
    return OrderStudy(mechanism.name, words, floor, tuple(all_series))


def _with_straight_lines(series: Series, floor: Quantities) -> Series:
    """Return the series, fitted where its errors lie on straight lines."""
    used, order = [], []
    for error, least in zip(series.error, floor, strict=True):
        clear = np.isnan(series.apart) & (error > CLEAR * least)
        used.append(straight(series.values, error, clear))
        order.append(fitted_order(series.values, error, used[-1]))
    return replace(series, fitted=Quantities(*used), order=Quantities(*order))


def straight(dt: np.ndarray, error: np.ndarray, clear: np.ndarray) -> np.ndarray:
    """Return the longest run of neighbours, bool (K,), ``clear`` and with like slopes; the finest of equal ones.

    At least two neighbours; False everywhere if there are no such ones.
    """
    slopes, best = _slopes(dt, error), (0, 0)
    for first in range(len(dt) - 1):
        for last in range(first + 2, len(dt) + 1):
            part = slopes[first : last - 1]
            if clear[first:last].all() and np.ptp(part) <= ALIKE and last - first >= best[1] - best[0]:
                best = first, last
    used = np.zeros(len(dt), dtype=bool)
    used[slice(*best)] = True
    return used


def _slopes(dt: np.ndarray, error: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.diff(np.log(error)) / np.diff(np.log(dt))
