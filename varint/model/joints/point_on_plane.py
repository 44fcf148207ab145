"""A point of b in a plane of a."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Along, AxisJoint, X, Y, Z, register
from varint.model.motion import Ball, Slide
from varint.model.rotation_vectors import vector_from_matrix


@register
@dataclass(frozen=True, eq=False)
class PointOnPlane(AxisJoint):
    """Keeps ``point_b`` of body b in the plane of body a through ``point`` across ``axis``.

    Coordinates: place in the plane along frame X and Y (m), rotation vector (rad).
    """

    forbidden = (Along(Z),)
    allowed = (Slide(X), Slide(Y), Ball())

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p[..., :Z], vector_from_matrix(R)], axis=-1)
