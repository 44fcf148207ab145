"""Three translations."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import SQUARE_ALL, Joint, X, Y, Z, register
from varint.model.motion import Slide


@register
@dataclass(frozen=True, eq=False)
class Translational(Joint):
    """Free translation, no rotation. Coordinates: displacements along the world axes of the reference, m."""

    forbidden = SQUARE_ALL
    allowed = (Slide(X), Slide(Y), Slide(Z))
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p
