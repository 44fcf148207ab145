"""The elementary motions that joints consist of, and the pose and velocity of a chain of them: one routine for all.

Frame b seen from frame a is the product of the motions' poses. Twists are of b seen from a, at
b's origin in b's axes, ordered (angular, linear).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.model.checks import Frozen
from varint.model.rotation import left_jacobian, matrix_from_vector

if TYPE_CHECKING:
    from varint.model.joints.base import Joint


class Motion(Frozen):
    """A motion of ``size`` coordinates."""

    size: ClassVar[int] = 1

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and shift (3,) at coordinates ``q`` (size,)."""
        raise NotImplementedError

    def screws(self, q: np.ndarray) -> np.ndarray:
        """Twists (size, 6) by the rates, seen in the frame after the motion."""
        raise NotImplementedError


@dataclass(frozen=True)
class Turn(Motion):
    """Rotation about an axis, rad."""

    axis: int

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix_from_vector(q[0] * np.eye(3)[self.axis]), np.zeros(3)

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)[self.axis, None]


@dataclass(frozen=True)
class Slide(Motion):
    """Translation along an axis, m."""

    axis: int

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), q[0] * np.eye(3)[self.axis]

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.eye(6)[3 + self.axis, None]


@dataclass(frozen=True)
class Ball(Motion):
    """Free rotation; three coordinates, the rotation vector (rad)."""

    size = 3

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return matrix_from_vector(q), np.zeros(3)

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.hstack([left_jacobian(q), np.zeros((3, 3))])  # its transpose is the right one


@dataclass(frozen=True)
class Shift(Motion):
    """A constant translation along an axis, m; no coordinate."""

    axis: int
    length: float

    size = 0

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(3), self.length * np.eye(3)[self.axis]

    def screws(self, q: np.ndarray) -> np.ndarray:
        return np.zeros((0, 6))


def joint_pose(joint: "Joint", q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and origin (3,) of frame b in frame a at coordinates ``q`` (dof,)."""
    R, p = np.eye(3), np.zeros(3)
    for motion, part in _parts(joint, q):
        turn, shift = motion.pose(part)
        p = p + R @ shift
        R = R @ turn
    return R, p


def motion_subspace(joint: "Joint", q: np.ndarray) -> np.ndarray:
    """S (6, dof) with twist = S dq/dt at coordinates ``q``."""
    columns = [np.zeros((0, 6))]
    R, p = np.eye(3), np.zeros(3)  # of the last frame, seen from the motion under way
    for motion, part in reversed(list(_parts(joint, q))):
        screws = motion.screws(part)
        columns.append(np.hstack([screws[:, :3] @ R, (screws[:, 3:] + np.cross(screws[:, :3], p)) @ R]))
        turn, shift = motion.pose(part)
        R, p = turn @ R, shift + turn @ p
    return np.concatenate(columns[::-1]).T


def _parts(joint: "Joint", q: np.ndarray) -> Iterator[tuple[Motion, np.ndarray]]:
    start = 0
    for motion in joint.allowed:
        yield motion, q[start : start + motion.size]
        start += motion.size
