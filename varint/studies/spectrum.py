"""Power spectra of quantities of a motion."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import signal

from varint.base.checks import of_type, sequence_of, whole_number
from varint.base.display import count_text, described, field_facts, names_text
from varint.base.errors import ArgumentError
from varint.results.table_columns import XYZ, Column, shown_columns
from varint.runs.problem import MOST_STEPS
from varint.runs.trajectory import Trajectory
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWEST = 16  # nodes of a segment
UNIFORM = 1e-6  # how far spacings may differ, over their mean
WINDOW = "hann"
MOST_DRAWN = 8


class Peak(NamedTuple):
    """A line of a spectrum.

    column : str
    frequency : float
        Hz, found between the frequencies of the spectrum: exact for a line far from others.
    amplitude : float
        Of the oscillation at that frequency, in the unit of the column.
    power : float
        Of the spectrum at the nearest of its frequencies, unit^2/Hz.
    """

    column: str
    frequency: float
    amplitude: float
    power: float

    def __repr__(self) -> str:
        return described(self, field_facts(self))


@dataclass(frozen=True, eq=False)
class PowerSpectrum(Study):
    """The power of C columns over frequency: the integral over all frequencies is the variance of a column.

    Attributes
    ----------
    mechanism : str
    columns : C names
    units : C units, U
    frequency : (F,) Hz, from zero to half the rate of the nodes
    power : (F, C) U^2/Hz
    resolution : float
        Hz: lines that are nearer to each other than twice this are not separated.
    resampled : bool
        Whether the nodes were not equally spaced, so that values between them were taken.
    """

    mechanism: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    frequency: np.ndarray
    power: np.ndarray
    resolution: float
    resampled: bool

    def peaks(self, count: int = 5) -> tuple[Peak, ...]:
        """Return the ``count`` highest lines of each column, by falling power."""
        count = whole_number(count, "count", 1, ArgumentError, MOST_STEPS)
        peaks = []
        for column, power in zip(self.columns, self.power.T, strict=True):
            places, _ = signal.find_peaks(power)
            highest = places[np.argsort(power[places])[::-1][:count]]
            peaks += [Peak(column, *self._line(power, int(k)), float(power[k])) for k in highest]
        return tuple(peaks)

    def _line(self, power: np.ndarray, k: int) -> tuple[float, float]:
        """Return frequency, Hz, and amplitude of the line near number ``k``, from the shape under Hann's window."""
        side = 1 if power[k + 1] >= power[k - 1] else -1
        ratio = np.sqrt(power[k + side] / power[k])
        off = (2 * ratio - 1) / (ratio + 1)
        loss = np.sinc(off) / (1 - off**2) if abs(off) < 1 else 0.5
        height = np.sqrt(2 * power[k] * 1.5 * self.resolution)  # 1.5: Hann's equivalent noise bandwidth
        return float(self.frequency[k] + side * off * self.resolution), float(height / loss)

    @property
    def _title(self) -> str:
        return self.mechanism

    def _facts(self) -> Iterable[str]:
        yield names_text(self.columns)
        yield f"{count_text(len(self.frequency), 'frequency', 'frequencies')} to {self.frequency[-1]:g} Hz"
        yield f"resolution {self.resolution:.3g} Hz"
        if self.resampled:
            yield "resampled"

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.axes import legend
        from varint.drawing.style import line

        handles = []
        for k, power in enumerate(self.power.T[:MOST_DRAWN]):
            seen = np.where(power > 0, power, np.nan)
            handles += axes.plot(self.frequency[1:], seen[1:], linewidth=0.9, **line(k))
        unit = self.units[0] if len(set(self.units)) == 1 else "unit"
        axes.set(xlabel="Frequency (Hz)", ylabel=f"Power ({unit or 1}²/Hz)", yscale="log")
        legend(axes, handles, self.columns)


def power_spectrum(
    trajectory: Trajectory,
    what: str | tuple = "coordinates",
    *,
    of: str | Iterable[str] | None = None,
    segments: int = 1,
) -> PowerSpectrum:
    """Return the power spectra of columns of a run, with Hann's window, the mean taken out.

    Parameters
    ----------
    trajectory : Trajectory
        Where its nodes are not equally spaced, values between them are taken by `Trajectory.at`, as many as nodes.
    what : str or (body, point)
        "coordinates", "rates", "velocity", "energy", ..., all in docs/pictures.md; or the position of a point of a
        body, (3,), m, world, reference configuration.
    of : str or sequence of str, optional
        Names of bodies, joints or forces; all where not given.
    segments : int
        Averaged, each overlapping half of the next (Welch): fewer frequencies, less scatter.

    Raises ArgumentError for an unknown name, with the closest valid one, and for segments of fewer than 16 nodes.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    segments = whole_number(segments, "segments", 1, ArgumentError)
    count = len(trajectory)
    length = 2 * count // (segments + 1)
    if length < FEWEST:
        raise ArgumentError(
            f"a spectrum needs {FEWEST} nodes in each segment, {count} nodes in {segments} give {length}"
        )
    sampled, spacing, resampled = _evenly(trajectory)
    columns_of = _columns(sampled, what, of)
    if not columns_of:
        raise ArgumentError(f"'{trajectory.mechanism.name}' has nothing that is called {what!r}")
    length = 2 * len(sampled) // (segments + 1)
    values = np.column_stack([column.values for column in columns_of])
    frequency, power = signal.welch(values, 1 / spacing, WINDOW, length, axis=0, detrend="constant")
    return PowerSpectrum(
        mechanism=trajectory.mechanism.name,
        columns=tuple(column.name for column in columns_of),
        units=tuple(column.unit for column in columns_of),
        frequency=frequency,
        power=power,
        resolution=1 / (length * spacing),
        resampled=resampled,
    )


def _evenly(trajectory: Trajectory) -> tuple[Trajectory, float, bool]:
    """Return a trajectory at equally spaced nodes, their spacing, s, and whether it was interpolated."""
    t = trajectory.t
    gaps = np.diff(t)
    if gaps[-1] < (1 - UNIFORM) * gaps[0] and len(t) > FEWEST:  # the last node of a run may be nearer than the others
        trajectory, t, gaps = trajectory[:-1], t[:-1], gaps[:-1]
    spacing = float(t[-1] - t[0]) / len(gaps)
    if np.abs(gaps - spacing).max() <= UNIFORM * spacing:
        return trajectory, spacing, False
    return trajectory.at(np.linspace(t[0], t[-1], len(t))), spacing, True


def _columns(trajectory: Trajectory, quantity: str | tuple, of: str | Iterable[str] | None) -> list[Column]:
    if isinstance(quantity, str) or not isinstance(quantity, tuple | list):
        return shown_columns(trajectory, quantity, of)
    body, point = _pair(quantity)
    if of is not None:
        raise ArgumentError("of chooses among columns: leave it out with a point of a body")
    way = trajectory.path(body, point).position
    return [Column(f"point of {body} {axis}", "m", way[:, k]) for k, axis in enumerate(XYZ)]


def _pair(point: tuple) -> tuple:
    pair = sequence_of(point, "what", "a body and a point", ArgumentError)
    if len(pair) != 2:
        raise ArgumentError(f"a point is written (body, (x, y, z)), got {len(pair)} parts")
    return pair
