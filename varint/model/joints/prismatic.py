"""Slider."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import SQUARE_ALL, Along, AxisJoint, X, Y, Z, register
from varint.model.motion import Slide


@register
@dataclass(frozen=True, eq=False)
class Prismatic(AxisJoint):
    """Translation along ``axis``, no rotation. Coordinate: displacement of b, m."""

    forbidden = (Along(X), Along(Y)) + SQUARE_ALL
    allowed = (Slide(Z),)
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[..., Z:]
