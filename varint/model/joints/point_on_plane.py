"""A point of b in a plane of a."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from varint.model.joints.base import Along, AxisJoint, Ball, Slide, X, Y, Z, register


@register
@dataclass(frozen=True, eq=False)
class PointOnPlane(AxisJoint):
    """Keeps ``point_b`` of body b in the plane of body a through ``point`` across ``axis``.

    Coordinates: place in the plane along frame X and Y (m), rotation vector (rad).
    """

    forbidden = (Along(Z),)
    allowed = (Slide(X), Slide(Y), Ball())

    def measure(self, R, p):
        return np.concatenate([p[:Z], Rotation.from_matrix(R).as_rotvec()])
