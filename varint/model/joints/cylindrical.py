"""Sleeve on a shaft."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Along, AxisJoint, Square, X, Y, Z, angle_about_z, register
from varint.model.motion import Slide, Turn


@register
@dataclass(frozen=True, eq=False)
class Cylindrical(AxisJoint):
    """Translation along and rotation about ``axis`` through ``point``. Coordinates: displacement (m), angle (rad)."""

    forbidden = (Along(X), Along(Y), Square(X, Z), Square(Y, Z))
    allowed = (Slide(Z), Turn(Z))

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p[..., Z:], angle_about_z(R)], axis=-1)
