"""Phase portraits: a coordinate and its rate."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import flag, of_type
from varint.base.display import count_text
from varint.base.errors import ArgumentError
from varint.mechanism.driven_coordinate import named_coordinate
from varint.model.motion import coordinate_units
from varint.runs.trajectory import Trajectory
from varint.studies.crossings import period_of
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class PhasePortrait(Study):
    """A coordinate and its rate at T nodes.

    Attributes
    ----------
    mechanism : str
    name : str
        Of the coordinate.
    unit : str
        U: "m", "rad", or empty for a number.
    t : (T,) s
    coordinate : (T,) U
    rate : (T,) U/s
    wrapped : bool
        Whether whole turns are left out of the coordinate, which then lies in [-pi, pi).
    """

    mechanism: str
    name: str
    unit: str
    t: np.ndarray
    coordinate: np.ndarray
    rate: np.ndarray
    wrapped: bool

    @property
    def _title(self) -> str:
        return self.mechanism

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self.t), "node")
        for prefix, values, unit in (("", self.coordinate, self.unit), ("rate ", self.rate, f"{self.unit or 1}/s")):
            yield f"{prefix}{values.min():.4g} to {values.max():.4g} {unit}".rstrip()

    def _draw(self, axes: "Axes") -> None:
        from varint.views.panels import label_phase, phase

        far = np.abs(np.diff(self.coordinate)) > np.pi
        jumps = np.flatnonzero(far & self.wrapped) + 1
        coordinate, rate = (np.insert(each, jumps, np.nan) for each in (self.coordinate, self.rate))
        phase(axes, coordinate, rate)
        label_phase(axes, self.name, f"{self.name} rate", self.unit)

    def _draw_points(self, axes: "Axes") -> None:
        from varint.drawing.style import COLOURS
        from varint.views.panels import label_phase

        axes.plot(self.coordinate, self.rate, ".", color=COLOURS[0], markersize=2)
        label_phase(axes, self.name, f"{self.name} rate", self.unit)


def phase_portrait(trajectory: Trajectory, joint: str | tuple[str, int], wrapped: bool | None = False) -> PhasePortrait:
    """Return a coordinate of a joint against its rate.

    Parameters
    ----------
    trajectory : Trajectory
    joint : str or (str, int)
        A joint with one coordinate, or a joint and the number of its coordinate.
    wrapped : bool or None
        Whether whole turns of an angle are left out, so that it lies in [-pi, pi); None: of every angle.

    Raises ArgumentError for an unknown joint, and for ``wrapped=True`` of a coordinate that is no angle.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    moving_joint, number = named_coordinate(trajectory.mechanism, joint, "phase portrait")
    turns = period_of(moving_joint, number) == 2 * np.pi
    if wrapped is not None and flag(wrapped, "wrapped", ArgumentError) and not turns:
        raise ArgumentError(f"the coordinate of {moving_joint.label} has no turns to leave out: give wrapped=False")
    wrapped = turns if wrapped is None else bool(wrapped)
    coordinate, rate = (
        getattr(trajectory, quantity)[moving_joint.name].reshape(len(trajectory), -1)[:, number]
        for quantity in ("coordinates", "rates")
    )
    return PhasePortrait(
        mechanism=trajectory.mechanism.name,
        name=moving_joint.name + (f" {number}" if moving_joint.dof > 1 else ""),
        unit=coordinate_units(moving_joint)[number],
        t=trajectory.t,
        coordinate=(coordinate + np.pi) % (2 * np.pi) - np.pi if wrapped else coordinate,
        rate=rate,
        wrapped=wrapped,
    )
