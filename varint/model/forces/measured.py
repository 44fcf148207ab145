"""The measure of each coordinate of a joint, along which forces act."""

import numpy as np

from varint.measures import Measure
from varint.measures.angle import Angle
from varint.measures.base import EulerCoordinate
from varint.measures.coordinate import JointAngle, JointCoordinate
from varint.measures.elevation import Elevation
from varint.measures.point import Displacement
from varint.measures.rotation import RotationComponent
from varint.model.joints.base import Joint, ProductJoint
from varint.model.motion import Ball, Motion, Slide, Turn


def coordinate_measure(
    joint: Joint, number: int, point_a: np.ndarray, point_b: np.ndarray, angles: str | None = None
) -> Measure | None:
    """Return the measure of a joint's coordinate; None for some of rotation vectors and of combined turns.

    In a product of exponentials all have one. ``angles``: the Euler angles that stand for a rotation vector.
    """
    motion, k = _motion_of(joint, number)
    ends, axes = (joint.body_a, joint.body_b), joint.frame.T
    before = joint.shown[: joint.shown.index(motion)]
    turns = [m for m in joint.shown if isinstance(m, Turn)]
    if isinstance(motion, Ball):
        if isinstance(joint, ProductJoint):
            return JointAngle(*ends, joint.name, number)
        if turns:
            return None
        return RotationComponent(*ends, axes[k]) if angles is None else _euler_angle(joint, angles, number)
    if isinstance(joint, ProductJoint) and not isinstance(motion, Turn):
        return (JointAngle if motion.unit == "rad" else JointCoordinate)(*ends, joint.name, number)
    if isinstance(motion, Slide):
        assert all(isinstance(m, Slide) for m in before)
        return Displacement(*ends, axes[motion.axis], point_b, point_a)
    if any(isinstance(m, Ball) for m in joint.shown):
        return None
    assert isinstance(motion, Turn)
    return _angle_of_two(joint, motion, turns, number)


def _angle_of_two(joint: Joint, motion: Turn, turns: list[Turn], number: int) -> Angle:
    """Return the angle of one or two turns, R = R1 R2 about axes e1, e2: R2 keeps e2, so R e2 shows R1.

    R^T e1 shows R2.
    """
    axes = joint.frame.T
    axis = axes[motion.axis]
    if len(turns) == 2 and motion is turns[1]:
        other = axes[turns[0].axis]
        return Angle(joint.body_b, joint.body_a, np.cross(other, axis), other, other, (joint.name, number))
    other = axes[(motion.axis + 1) % 3 if len(turns) == 1 else turns[1].axis]
    return Angle(joint.body_a, joint.body_b, np.cross(axis, other), other, other, (joint.name, number))


def is_free_rotation(joint: Joint, number: int) -> bool:
    """Return whether a coordinate is one of a rotation vector that has a measure."""
    motion, _ = _motion_of(joint, number)
    turned = any(isinstance(m, Turn) for m in joint.shown)
    return isinstance(motion, Ball) and not turned and not isinstance(joint, ProductJoint)


def vector_entries(joint: Joint, number: int) -> slice:
    """Return the entries of the rotation vector that a coordinate is one of, among the coordinates of its joint."""
    first = number - _motion_of(joint, number)[1]
    return slice(first, first + 3)


def euler_angle(joint: Joint, number: int, angles: str, turn: np.ndarray) -> np.ndarray:
    """Return the angles (...,) in place of coordinate ``number``, at rotations ``turn`` (..., 3, 3) of b in a."""
    _, k = _motion_of(joint, number)
    place, first, second, third, sign = _order(angles, k)
    if place == 1:
        return np.arcsin(np.clip(sign * turn[..., first, third], -1.0, 1.0))
    if place == 0:
        return np.arctan2(-sign * turn[..., second, third], turn[..., third, third])
    return np.arctan2(-sign * turn[..., first, second], turn[..., first, first])


def outer_euler_angles(angles: str, turn: np.ndarray) -> np.ndarray:
    """Return the first and the third angle (..., 2) about moving axes, rad, at rotations (..., 3, 3) of b in a."""
    _, first, second, third, sign = _order(angles, 0)
    about_first = np.arctan2(-sign * turn[..., second, third], turn[..., third, third])
    return np.stack([about_first, np.arctan2(-sign * turn[..., first, second], turn[..., first, first])], axis=-1)


def euler_place(joint: Joint, number: int, angles: str) -> int:
    """Return the place, 0 to 2, of the Euler angle for coordinate ``number`` among the turns about moving axes."""
    return _order(angles, _motion_of(joint, number)[1])[0]


def _euler_angle(joint: Joint, angles: str, number: int) -> Measure:
    """Return the measure of the letter of coordinate ``number`` of R = R1 R2 R3 about three axes, e1 x e2 = s e3.

    R e3 = s sin(b) e1 + cos(b) (cos(a) e3 - s sin(a) e2) and R^T e1 = s sin(b) e3 + cos(b) (cos(c) e1 - s sin(c) e2)
    show the angles a, b, c.
    """
    place, first, second, third, sign = _order(angles, _motion_of(joint, number)[1])
    axes, of_joint = joint.frame.T, EulerCoordinate(joint.name, number, angles)
    if place == 1:
        return Elevation(joint.body_a, joint.body_b, sign * axes[first], axes[third])
    if place == 0:
        return Angle(joint.body_a, joint.body_b, -sign * axes[second], axes[third], axes[third], euler_angle=of_joint)
    return Angle(joint.body_b, joint.body_a, -sign * axes[second], axes[first], axes[first], euler_angle=of_joint)


def _order(angles: str, k: int) -> tuple[int, int, int, int, float]:
    """Return the place of letter ``k`` among the turns about moving axes, these axes, and their sign."""
    first, second, third = ("xyz".index(letter) for letter in angles.lower())
    if angles.islower():  # about axes that stay: the other way round about those that move
        first, second, third, k = third, second, first, 2 - k
    return k, first, second, third, 1.0 if (second - first) % 3 == 1 else -1.0


def _motion_of(joint: Joint, number: int) -> tuple[Motion, int]:
    """Return the motion of a coordinate, and its number there."""
    return [(m, k) for m in joint.shown for k in range(m.size)][number]
