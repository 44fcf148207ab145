"""The elementary motions that joints consist of, and the pose and velocity of a chain of them: one routine for all.

Frame b seen from frame a is the product of the motions' poses. Twists are of b seen from a, at
b's origin in b's axes, ordered (angular, linear).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import Frozen
from varint.model.rotation_vectors import left_jacobian, matrix_from_vector, turned

if TYPE_CHECKING:
    from varint.model.joints.base import Joint


class Motion(Frozen):
    """A motion of ``size`` coordinates, in ``unit``; the pose repeats after a ``period`` of the first, 0 for never."""

    size: ClassVar[int] = 1
    unit: ClassVar[str] = "rad"
    period: ClassVar[float] = 0.0

    @property
    def is_curved(self) -> bool:
        """Return whether it is neither a turn, slide or ball nor one constant screw."""
        return False

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rotations (..., 3, 3) and shifts (..., 3) at coordinates ``q`` (..., size)."""
        raise NotImplementedError

    def screws(self, q: np.ndarray) -> np.ndarray:
        """Return twists (..., size, 6) by the rates, in axes of the frame after the motion."""
        raise NotImplementedError


@dataclass(frozen=True)
class Turn(Motion):
    """Rotation about an axis, rad."""

    axis: int

    period = 2 * np.pi

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix_from_vector(q * np.eye(3)[self.axis]), np.zeros((*q.shape[:-1], 3))

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.broadcast_to(np.eye(6)[self.axis], (*q.shape, 6))


@dataclass(frozen=True)
class Slide(Motion):
    """Translation along an axis, m."""

    axis: int

    unit = "m"

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3)), q * np.eye(3)[self.axis]

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.broadcast_to(np.eye(6)[3 + self.axis], (*q.shape, 6))


@dataclass(frozen=True)
class Ball(Motion):
    """Free rotation; three coordinates, the rotation vector (rad)."""

    size = 3

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix_from_vector(q), np.zeros(q.shape)

    def screws(self, q: np.ndarray) -> np.ndarray:
        turning = left_jacobian(q)  # its transpose is the right one
        return np.concatenate([turning, np.zeros_like(turning)], axis=-1)


@dataclass(frozen=True)
class Shift(Motion):
    """A constant translation along an axis, m; no coordinate."""

    axis: int
    length: float

    size = 0

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shape = q.shape[:-1]
        shift = self.length * np.eye(3)[self.axis]
        return np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.broadcast_to(shift, (*shape, 3))

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.zeros((*q.shape, 6))


def joint_pose(joint: "Joint", q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (..., 3, 3) and origins (..., 3) of frame b in frame a at coordinates ``q`` (..., dof)."""
    R, p = np.eye(3), np.zeros(3)
    for motion, part in _parts(joint, q):
        turn, shift = motion.pose(part)
        p = p + turned(R, shift)
        R = R @ turn
    return R, p


def motion_subspace(joint: "Joint", q: np.ndarray) -> np.ndarray:
    """Return S (..., 6, dof) with twist = S dq/dt at coordinates ``q`` (..., dof)."""
    columns = [np.zeros((*q.shape[:-1], 0, 6))]
    R, p = np.eye(3), np.zeros(3)  # of the last frame, seen from the motion under way
    for motion, part in reversed(list(_parts(joint, q))):
        screws = motion.screws(part)
        turning, sliding = screws[..., :3], screws[..., 3:]
        at_end = sliding + np.cross(turning, p[..., None, :])
        columns.append(np.concatenate([turning @ R, at_end @ R], axis=-1))
        turn, shift = motion.pose(part)
        R, p = turn @ R, shift + turned(turn, p)
    return np.swapaxes(np.concatenate(columns[::-1], axis=-2), -1, -2)


def coordinate_units(joint: "Joint") -> list[str]:
    """Return the unit of each coordinate of a joint."""
    return [motion.unit for motion in joint.allowed for _ in range(motion.size)]


def _parts(joint: "Joint", q: np.ndarray) -> Iterator[tuple[Motion, np.ndarray]]:
    start = 0
    for motion in joint.allowed:
        yield motion, q[..., start : start + motion.size]
        start += motion.size
