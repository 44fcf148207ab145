"""Planar motion."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Along, AxisJoint, Square, X, Y, Z, angle_about_z, register
from varint.model.motion import Slide, Turn


@register
@dataclass(frozen=True, eq=False)
class Free2D(AxisJoint):
    """Free motion in the plane across ``axis``. Coordinates: displacements along frame X and Y (m), angle (rad)."""

    forbidden = (Along(Z), Square(X, Z), Square(Y, Z))
    allowed = (Slide(X), Slide(Y), Turn(Z))
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p[..., :Z], angle_about_z(R)], axis=-1)
