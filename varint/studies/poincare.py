"""Poincare sections: the states at which a motion goes through a surface."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.callers import level_of_user
from varint.base.display import count_text, value_text
from varint.base.errors import ArgumentError, SparseNodesWarning
from varint.mechanism.driven_coordinate import named_coordinate
from varint.model.motion import coordinate_units
from varint.results.gaps import find_unknown_motion
from varint.runs.trajectory import Trajectory
from varint.studies.crossings import RISING, Crossed, crossed_gaps, observed, solve_crossings
from varint.studies.phase import PhasePortrait, phase_portrait
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT_OUT = 0.1  # of the states: more in gaps without a known motion make an error


@dataclass(frozen=True, eq=False)
class PoincareSection(Study):
    """The K states of a motion at which it goes through a surface.

    Attributes
    ----------
    states : Trajectory
        K nodes on the surface, with ``t``, ``position``, ``coordinates``, ``energy`` and all else.
    of : str
        Coordinate, or name of the function, that defines the surface.
    value : float
        U
    unit : str
        U: "m", "rad", or empty for a function's.
    direction : {-1, 0, 1}
    shown : PhasePortrait
        A coordinate and its rate at the K states, which the picture shows.
    """

    states: Trajectory
    of: str
    value: float
    unit: str
    direction: int
    shown: PhasePortrait

    @property
    def t(self) -> np.ndarray:
        """(K,) s"""
        return self.states.t

    @property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """Joint name to its coordinates at the K states, see `Trajectory.coordinates`."""
        return self.states.coordinates

    @property
    def rates(self) -> Mapping[str, np.ndarray]:
        """Joint name to the rates of its coordinates at the K states."""
        return self.states.rates

    @property
    def _title(self) -> str:
        return f"{self.states.mechanism.name}: {self._surface}"

    @property
    def _surface(self) -> str:
        return f"{self.of} = {self.value:g} {self.unit}".rstrip()

    def _facts(self) -> Iterable[str]:
        yield self._surface
        yield f"{count_text(len(self.t), 'state')} from t = {self.t[0]:g} to {self.t[-1]:g} s"

    def _draw(self, axes: "Axes") -> None:
        self.shown._draw_points(axes)


def poincare_section(
    trajectory: Trajectory,
    of: Crossed,
    value: float = 0.0,
    direction: int = RISING,
    *,
    show: str | tuple[str, int] | None = None,
) -> PoincareSection:
    """Return the states at which a coordinate, or a function of the state, takes a value.

    Parameters
    ----------
    trajectory, of, value
        See `crossings`.
    direction : {1, -1, 0}
        From below to above, from above to below, or either.
    show : str or (str, int), optional
        Joint, or joint and number, of the coordinate that the picture shows with its rate. Where not given, the first
        one that is not ``of``.

    States between nodes that are too far apart to know the motion there are left out, with a SparseNodesWarning, where
    these are at most a tenth of all.

    Raises ArgumentError for an unknown joint, where the value is never taken, and where nodes are too far apart around
    more states than that.
    """
    before, goal = crossed_gaps(trajectory, of, value, direction)
    unknown, sentence = find_unknown_motion(trajectory, before)
    if unknown.sum() > LEFT_OUT * len(before):
        raise ArgumentError(f"crossings: {sentence}")
    times = solve_crossings(trajectory, of, before[~unknown], goal[~unknown])
    name = getattr(of, "__name__", "of") if callable(of) else value_text(of)
    if unknown.any():
        warnings.warn(
            f"{unknown.sum()} of the {len(before)} states of the section {name} = {value:g} are left out: {sentence}",
            SparseNodesWarning,
            stacklevel=level_of_user(),
        )
    if not times.size:
        seen = observed(trajectory, of)
        way = {1: ", rising", -1: ", falling"}.get(direction, "")
        raise ArgumentError(f"{name} never takes {value:g}{way}: it goes from {seen.min():g} to {seen.max():g}")
    states = trajectory.at(times)
    shown = phase_portrait(states, _first_other(trajectory, of) if show is None else show, wrapped=None)
    return PoincareSection(states, name.strip("'"), float(value), _unit(trajectory, of), direction, shown)


def _unit(trajectory: Trajectory, of: Crossed) -> str:
    if callable(of):
        return ""
    joint, number = named_coordinate(trajectory.mechanism, of, "crossings")
    return coordinate_units(joint)[number]


def _first_other(trajectory: Trajectory, of: Crossed) -> tuple[str, int]:
    """Return the first coordinate of a joint that is not ``of``; that itself where there is no other."""
    mechanism = trajectory.mechanism
    every = [(joint.name, k) for joint in mechanism.joints for k in range(joint.dof)]
    if not every:
        raise ArgumentError(f"mechanism '{mechanism.name}' has no joint with a coordinate")
    crossed = None if callable(of) else named_coordinate(mechanism, of, "crossings")
    others = [each for each in every if crossed is None or each != (crossed[0].name, crossed[1])]
    return (others or every)[0]
