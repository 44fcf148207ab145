"""Planar motion.

The module has the other name of the joint: pickles of a ``Free2D`` are read, and those of the joint of two translations
that was ``planar.Planar`` are refused.
"""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Along, AxisJoint, Square, X, Y, Z, also_called, angle_about_z, register
from varint.model.motion import Slide, Turn


@register
@dataclass(frozen=True, eq=False)
class Planar(AxisJoint):
    """Free motion in the plane across ``axis``. Coordinates: displacements along frame X and Y (m), angle (rad)."""

    forbidden = (Along(Z), Square(X, Z), Square(Y, Z))
    allowed = (Slide(X), Slide(Y), Turn(Z))
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p[..., :Z], angle_about_z(R)], axis=-1)


Free2D = also_called("Free2D", Planar)
