"""Assembly modes: the poses in which a closed linkage can be put together at held coordinates."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from varint.display import LONGEST, Shown, count_text, described, html_table, numbers_text, shortened, value_text
from varint.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.model.checks import known_name
from varint.model.state import State
from varint.model.structure import Structure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class AssemblyMode(State):
    """An assembly mode: a `State` at rest, with its name.

    Attributes
    ----------
    name : str
        Signs of the triangles of a planar linkage, or a number from "1"; see `AssemblyModes`.
    hits : int
        Number of independent starts that led to it; may be zero, see `AssemblyModes`.
    mobility : int
        Degrees of freedom that are left at the held coordinates; zero but for special dimensions.
    """

    name: str
    hits: int
    mobility: int


@dataclass(frozen=True, eq=False)
class AssemblyModes(Shown, Sequence):
    """All assembly modes that a search reached, sorted: a sequence of `AssemblyMode`, also by name, ``modes["+"]``.

    Modes of a planar linkage that can be divided into dyads are named by signs, one for each dyad: "+" where the
    triangle of its three joints, in the order of the description, is counterclockwise in the picture of
    ``Mechanism.plot``; a slide counts as a hinge at infinity. Other modes are numbered by their joint coordinates.

    A search by random starts proves no completeness. It is likely where each mode has several hits and most starts
    came after the last new mode; ``unseen`` is an estimate. Every second start begins at a mode reached before, with
    one or two of its joints moved. Hits count the others only, which are independent.

    Attributes
    ----------
    mechanism : Structure
    hold : mapping
        Joint name to the held coordinates (dof,), m or rad.
    modes : tuple of AssemblyMode
    starts : int
    closed : int
        Number of independent starts from which the joints could be closed.
    last_new : int
        Number of the start that led to the last new mode, from 1; 0 where there is no mode.
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
        """Names of the modes."""
        return [mode.name for mode in self.modes]

    @property
    def unseen(self) -> float:
        """Estimate by Good and Turing of the share of independent starts that lead to modes not reached yet.

        The number of modes with one hit at most over that of the starts that closed, up to 1; 1 where no start closed.
        """
        return min(1.0, sum(mode.hits <= 1 for mode in self.modes) / self.closed) if self.closed else 1.0

    def _completeness(self) -> Iterator[tuple[str, str]]:
        """Facts about the search: name, value."""
        yield "starts", str(self.starts)
        yield "independent starts that closed", str(self.closed)
        if self.modes:
            yield "starts since the last new mode", str(self.starts - self.last_new)
            yield "fewest hits of a mode", str(min(mode.hits for mode in self.modes))
        yield "estimated share of hits on modes not seen", f"{self.unseen:.2g}"

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
        pose = with_world(mode.position, mode.quat_wxyz)
        return {joint.name: JointFrames(self.mechanism, joint).measure(*pose) for joint in self.mechanism.joints}

    def plot(self, path: str | Path | None = None, plane: str | None = None, labels: bool = False) -> "Figure":
        """The modes drawn side by side, each with its name; a matplotlib Figure. See `Mechanism.plot`."""
        from varint.configurations.pictures import plot_modes  # imports matplotlib, which a prompt need not wait for

        return plot_modes(self, path, plane, labels)


def _coordinates_text(q: np.ndarray) -> str:
    return value_text(float(q[0])) if q.shape == (1,) else numbers_text(q)
