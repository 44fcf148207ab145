"""Hinge."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import ALONG_ALL, AxisJoint, Square, X, Y, Z, angle_about_z, register
from varint.model.motion import Turn


@register
@dataclass(frozen=True, eq=False)
class Revolute(AxisJoint):
    """Rotation about ``axis`` through ``point``. Coordinate: angle of b about the axis, rad."""

    forbidden = ALONG_ALL + (Square(X, Z), Square(Y, Z))
    allowed = (Turn(Z),)

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return angle_about_z(R)
