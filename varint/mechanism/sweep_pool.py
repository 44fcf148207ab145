"""Parts that all sweeps of a mechanism share: the equations with a driven coordinate, and the poses to begin at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.kinematics.assembly import checked_state, closed_poses
from varint.kinematics.closure import Closure, Coordinate, coordinate_units
from varint.kinematics.frames import JointFrames, with_world
from varint.mechanism.regular_path import RegularPath
from varint.model.joints.base import Joint
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

if TYPE_CHECKING:
    from varint.mechanism.sweep import SweepNode

SMALLEST_STEP = 1e-7  # rad, or sizes of a part, of the coordinate: where it does not go further it is locked


class FirstNode(NamedTuple):
    """The node of a sweep at its start, and the rank of the rows there."""

    node: "SweepNode"
    rank: int


class DrivenEquations:
    """The rows of a mechanism with one of its coordinates, in two metrics; for one sweep at a time.

    Attributes
    ----------
    coordinate : Coordinate
        The driven one.
    closure, alike : Closure
        In the kinetic metric, and in that in which all bodies weigh alike.
    smallest : float
        Shortest step of the coordinate, m or rad.
    regular : RegularPath or None
        The steps in compiled code, if it makes them for such a mechanism.
    first : FirstNode or None
        Where the mechanism's own start is the start of a sweep; None before the first such sweep.
    """

    def __init__(self, structure: Structure, compiled: Compiled, joint: Joint, number: int) -> None:
        frames = JointFrames(structure, joint)
        self.structure = structure
        self.coordinate = Coordinate(frames, number, 0.0)
        self.closure = Closure(structure, compiled, asked=[self.coordinate])
        self.alike = Closure(structure, compiled, asked=[self.coordinate], alike=True, ws=self.closure.ws)
        self.smallest = SMALLEST_STEP * coordinate_units(compiled.length, joint)[number]
        self.regular: RegularPath | None = None
        if RegularPath.supports(self.closure, frames):
            self.regular = RegularPath(structure, compiled, frames, self.closure, self.alike, self.smallest)
        self.first: FirstNode | None = None


class SweepPool:
    """The equations of a mechanism with driven coordinates, which sweeps borrow; any number of threads may.

    ``own_state``: returns the state in which sweeps begin that are given none.
    """

    def __init__(self, structure: Structure, compiled: Compiled, own_state: Callable[[], State]) -> None:
        self.structure, self.compiled, self._own_state = structure, compiled, own_state
        self._free: dict[tuple[str, int], list[DrivenEquations]] = {}

    @contextmanager
    def borrowed(self, joint: Joint, number: int) -> Iterator[DrivenEquations]:
        """Yield the equations of a coordinate, which nobody else uses as long as the context is open."""
        free = self._free.setdefault((joint.name, number), [])
        try:
            equations = free.pop()  # which is atomic
        except IndexError:
            equations = DrivenEquations(self.structure, self.compiled, joint, number)
        equations.coordinate.value, equations.coordinate.near = 0.0, None
        yield equations
        if not equations.closure.has_memory:
            free.append(equations)

    @cached_property
    def own_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the closed poses (nb + 1, ...) of the mechanism's own state."""
        return self.poses(self._own_state())

    def poses(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return the closed poses (nb + 1, ...) nearest to a state. Raises StateError, AssemblyError."""
        position, quat_wxyz, *_ = checked_state(self.structure, state, "state of the sweep")
        return closed_poses(self.structure, self.compiled, *with_world(position, quat_wxyz))
