"""Pose and velocity of a chain of elementary motions: one routine for every joint.

Frame b seen from frame a is the product of the motions' poses. Twists are of b seen from a, at
b's origin in b's axes, ordered (angular, linear).
"""

import numpy as np

from varint.model.joints.base import Ball, Shift, Slide, Turn
from varint.model.rotation import matrix_from_vector


def joint_pose(joint, q):
    """Rotation (3, 3) and origin (3,) of frame b in frame a at coordinates ``q`` (dof,)."""
    R, p = np.eye(3), np.zeros(3)
    for motion, part in _parts(joint, q):
        turn, shift = _elementary(motion, part)
        p = p + R @ shift
        R = R @ turn
    return R, p


def motion_subspace(joint, q):
    """S (6, dof) with twist = S dq/dt at coordinates ``q``."""
    columns = []
    R, p = np.eye(3), np.zeros(3)  # of the last frame, seen from the motion under way
    for motion, part in reversed(list(_parts(joint, q))):
        for w, v in reversed(_screws(motion, part)):
            columns.append(np.concatenate([R.T @ w, R.T @ (v + np.cross(w, p))]))
        turn, shift = _elementary(motion, part)
        R, p = turn @ R, shift + turn @ p
    return np.array(columns[::-1]).reshape(-1, 6).T


def _parts(joint, q):
    start = 0
    for motion in joint.allowed:
        yield motion, q[start : start + motion.size]
        start += motion.size


def _elementary(motion, q):
    turn, shift = np.eye(3), np.zeros(3)
    if isinstance(motion, Turn):
        turn = matrix_from_vector(q[0] * np.eye(3)[motion.axis])
    elif isinstance(motion, Slide):
        shift[motion.axis] = q[0]
    elif isinstance(motion, Ball):
        turn = matrix_from_vector(q)
    else:
        shift[motion.axis] = motion.length
    return turn, shift


def _screws(motion, q):
    """(w, v) of each coordinate, in axes of the frame after the motion, at its origin."""
    zero, axes = np.zeros(3), np.eye(3)
    if isinstance(motion, Turn):
        return [(axes[motion.axis], zero)]
    if isinstance(motion, Slide):
        return [(zero, axes[motion.axis])]
    if isinstance(motion, Ball):
        return [(column, zero) for column in _right_jacobian(q).T]
    return []


def _right_jacobian(q):
    """Body angular velocity per rate of the rotation vector ``q`` (3,): I - a [q] + b [q]^2 (docs/theory.md)."""
    angle2 = q @ q
    skew = np.array([[0, -q[2], q[1]], [q[2], 0, -q[0]], [-q[1], q[0], 0]])
    if angle2 < 1e-4:
        a, b = 0.5 - angle2 / 24 + angle2**2 / 720, 1 / 6 - angle2 / 120 + angle2**2 / 5040
    else:
        angle = np.sqrt(angle2)
        a, b = (1 - np.cos(angle)) / angle2, (angle - np.sin(angle)) / (angle2 * angle)
    return np.eye(3) - a * skew + b * skew @ skew
