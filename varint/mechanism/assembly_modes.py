"""Assembly modes: the poses in which a linkage with loops can be assembled while some coordinates are held."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from varint.base.checks import known_name
from varint.base.display import LONGEST, Shown, count_text, described, html_table, numbers_text, shortened, value_text
from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.model.state import State
from varint.model.structure import Structure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class AssemblyMode(State):
    """One assembly mode: a `State` at rest, with its name and how often the search reached it.

    Attributes
    ----------
    name : str
        Signs of the dyads of a planar linkage, or a number from "1"; see `AssemblyModes`.
    hits : int
        Number of independent starts that led to the mode; zero if only dependent starts did, see `AssemblyModes`.
    mobility : int
        Degrees of freedom left, at the held coordinates, to the bodies whose poses distinguish modes (all, or
        ``bodies=`` of the search); above zero for special dimensions only.
    """

    name: str
    hits: int
    mobility: int


@dataclass(frozen=True, eq=False)
class AssemblyModes(Shown, Sequence):
    """All assembly modes that a search reached: a sorted sequence of `AssemblyMode`, also by name, ``modes["+"]``.

    Modes of a planar linkage that can be divided into dyads are named by signs, one for each dyad: "+" where the
    triangle of its three joints, in the order of the description, is counterclockwise in the picture of
    ``Mechanism.plot``; a slide counts as a hinge at infinity. Other modes, and all if two have the same signs, are
    numbered in the order of their joint coordinates.

    A search by random starts cannot prove that all modes were reached. They probably were if each has several hits and
    most starts came after the last new mode; ``unseen`` estimates the risk. Every second start begins at a mode reached
    before, with one or two of its joints moved. Only the other starts are independent and count as hits.

    Attributes
    ----------
    mechanism : Structure
    hold : mapping
        Joint name to the held coordinates (dof,), m or rad.
    modes : tuple of AssemblyMode
    starts : int
        Number of all starts.
    closed : int
        Number of independent starts from which the joints could be closed.
    last_new : int
        Number of the start that led to the last new mode, from 1; 0 if there is no mode.
    """

    mechanism: Structure
    hold: Mapping[str, np.ndarray]
    modes: tuple[AssemblyMode, ...]
    starts: int
    closed: int
    last_new: int

    def __len__(self) -> int:
        return len(self.modes)

    @overload
    def __getitem__(self, which: int | str) -> AssemblyMode: ...

    @overload
    def __getitem__(self, which: slice) -> tuple[AssemblyMode, ...]: ...

    def __getitem__(self, which: int | str | slice) -> AssemblyMode | tuple[AssemblyMode, ...]:
        if isinstance(which, str):
            known_name(which, self.names, "no assembly mode", ArgumentError)
            return self.modes[self.names.index(which)]
        return self.modes[which]

    @property
    def names(self) -> list[str]:
        """Return names of the modes, in their order."""
        return [mode.name for mode in self.modes]

    @property
    def unseen(self) -> float:
        """Return the Good-Turing estimate of the probability that another start that closes leads to a new mode.

        The number of modes with at most one hit, divided by `closed`, but at most 1; 1 if no independent start closed.
        """
        return min(1.0, sum(mode.hits <= 1 for mode in self.modes) / self.closed) if self.closed else 1.0

    def _completeness(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each fact about the search from which its completeness is judged."""
        yield "starts", str(self.starts)
        yield "independent starts that closed", str(self.closed)
        if self.modes:
            yield "starts since the last new mode", str(self.starts - self.last_new)
            yield "fewest hits of a mode", str(min(mode.hits for mode in self.modes))
        yield "estimated probability of a hit on an unseen mode", f"{self.unseen:.2g}"

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self), "mode")
        if self.modes:
            yield shortened(" ".join(self.names), LONGEST // 4)
        held = (f"{value_text(name)} at {_coordinates_text(q)}" for name, q in self.hold.items())
        yield shortened("holding " + ", ".join(held), LONGEST // 4)
        yield from (f"{name} {value}" for name, value in self._completeness())

    def __repr__(self) -> str:
        return described(self, self._facts(), self.mechanism.name)

    def _repr_html_(self) -> str:
        free = [joint for joint in self.mechanism.joints if joint.dof and joint.name not in self.hold]
        rows = []
        for mode in self.modes:
            q = self._coordinates(mode)
            rows.append((mode.name, mode.hits, mode.mobility, *(_coordinates_text(q[joint.name]) for joint in free)))
        title = f"Assembly modes of {value_text(self.mechanism.name)}: {count_text(len(self), 'mode')}"
        table = html_table(("mode", ">hits", ">mobility", *(f">{joint.name}" for joint in free)), rows, title)
        held = [(f"{name}, held", _coordinates_text(q)) for name, q in self.hold.items()]
        return table + html_table(("", ">"), [*held, *self._completeness()])

    def _coordinates(self, mode: AssemblyMode) -> dict[str, np.ndarray]:
        """Return the coordinates (dof,) of each joint in ``mode``, by name."""
        pose = with_world(mode.position, mode.quat_wxyz)
        return {joint.name: JointFrames(self.mechanism, joint).measure(*pose) for joint in self.mechanism.joints}

    def plot(self, path: str | Path | None = None, plane: str | None = None, labels: bool = False) -> "Figure":
        """Draw the modes side by side, each with its name; return the Figure of matplotlib. See `Mechanism.plot`."""
        from varint.mechanism.pictures import plot_modes  # here, since the import of matplotlib is slow

        return plot_modes(self, path, plane, labels)


def _coordinates_text(q: np.ndarray) -> str:
    return value_text(float(q[0])) if q.shape == (1,) else numbers_text(q)
