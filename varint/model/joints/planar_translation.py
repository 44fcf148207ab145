"""Two translations in a plane."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from varint.model.joints.base import SQUARE_ALL, Along, AxisJoint, X, Y, Z, register
from varint.model.motion import Slide


@register
@dataclass(frozen=True, eq=False)
class PlanarTranslation(AxisJoint):
    """Translation in the plane across ``axis``, no rotation. Coordinates: displacements along frame X and Y, m."""

    forbidden = (Along(Z),) + SQUARE_ALL
    allowed = (Slide(X), Slide(Y))
    needs_point = False
    older_name: ClassVar[str] = "Planar"

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[..., :Z]
