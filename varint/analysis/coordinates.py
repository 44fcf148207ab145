"""Joint coordinates along a motion, without the jumps of angles that are only known up to whole turns."""

import math

import numpy as np

from varint.kinematics import JointFrames
from varint.model.joints.base import Ball, Joint, Shift, Turn
from varint.model.rotation import rotation_matrix
from varint.model.structure import Structure

NO_TURN = 1e-9  # rad: below, the axis of a rotation is round-off


def joint_coordinates(structure: Structure, joint: Joint, position, quat_wxyz) -> np.ndarray:
    """Coordinates (T, dof) of ``joint`` at poses (T, nb, 3), (T, nb, 4), or (T,) where it has one.

    Angles are continued past pi, rotation vectors past pi: from one node to the next a body may
    turn by no more than pi. At the first node both are the shortest.
    """
    frames = JointFrames(structure, joint)

    def place(body, axes, origin):
        if body < 0:
            return axes, origin
        R = rotation_matrix(quat_wxyz[:, body])
        return R @ axes, position[:, body] + R @ origin

    A, a = place(frames.a, frames.axes_a, frames.origin_a)
    B, b = place(frames.b, frames.axes_b, frames.origin_b)
    back = np.swapaxes(A, -1, -2)
    q = joint.measure(back @ B, (back @ (b - a)[..., None])[..., 0])
    column = 0
    for motion in joint.allowed:
        if isinstance(motion, Ball):
            q[:, column : column + 3] = continued(q[:, column : column + 3])
        elif isinstance(motion, Turn):
            q[:, column] = np.unwrap(q[:, column])
        column += 3 if isinstance(motion, Ball) else 0 if isinstance(motion, Shift) else 1
    return q[:, 0] if joint.dof == 1 else q


def continued(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors (T, 3) of the same rotations, each the nearest to the one before; rad."""
    last = tuple(vectors[0].tolist())
    found = [last]
    for vector in vectors[1:].tolist():  # plain numbers: quicker here than arrays of three
        angle = math.hypot(*vector)
        (x, y, z), size = (vector, angle) if angle > NO_TURN else (last, math.hypot(*last) or 1.0)
        along = (x * last[0] + y * last[1] + z * last[2]) / size
        shift = 2 * math.pi * round((along - angle) / (2 * math.pi)) / size
        last = (vector[0] + shift * x, vector[1] + shift * y, vector[2] + shift * z)
        found.append(last)
    return np.array(found)
