"""Instants and points of a run that pictures of the mechanism show."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import in_a_shape
from varint.base.errors import ArgumentError
from varint.drawing.mechanism_picture import Traced
from varint.drawing.scene import placed
from varint.kinematics.frames import with_world
from varint.results.recorded_motion import RecordedMotion

POSES = 6
NODES = 4000  # of a path that is drawn


def ways(trajectory: RecordedMotion, traced: Sequence[Traced]) -> list[np.ndarray]:
    """Return the path (T, 3), m, world, of each point over the run, at some of the nodes of a long one."""
    every = slice(None, None, max(1, len(trajectory) // NODES))
    x, R = with_world(trajectory.position[every], trajectory.quat_wxyz[every])
    return [placed(x, R, each.body, each.point) for each in traced]


def poses_of(trajectory: RecordedMotion) -> tuple[np.ndarray, np.ndarray]:
    """Return places (T, n, 3) and axes (T, n, 3, 3) of bodies, of vertices of deformable bodies, and of the world."""
    return with_world(trajectory.position, trajectory.quat_wxyz, list(trajectory.vertices.values()))


def checked_times(trajectory: RecordedMotion, times: ArrayLike | None) -> np.ndarray:
    """Return the times (n,) of the poses, s, by default evenly over the run. Raises ArgumentError."""
    first, last = trajectory.t[0], trajectory.t[-1]
    if times is None:
        return np.unique(np.linspace(first, last, POSES))
    chosen = np.unique(in_a_shape(times, ((), (None,)), "times", ArgumentError, "a time or a list of times, s"))
    if not chosen.size or chosen[0] < first or chosen[-1] > last:
        raise ArgumentError(f"times must be from {first:g} to {last:g} s, those of the run")
    return chosen
