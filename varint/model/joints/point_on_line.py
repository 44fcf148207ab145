"""A point of b on a line of a."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from varint.model.joints.base import Along, AxisJoint, Ball, Slide, X, Y, Z, register


@register
@dataclass(frozen=True, eq=False)
class PointOnLine(AxisJoint):
    """Keeps ``point_b`` of body b on the line of body a through ``point`` along ``axis``.

    Coordinates: place on the line from ``point`` (m), rotation vector (rad).
    """

    forbidden = (Along(X), Along(Y))
    allowed = (Slide(Z), Ball())

    def measure(self, R, p):
        return np.concatenate([p[Z:], Rotation.from_matrix(R).as_rotvec()])
