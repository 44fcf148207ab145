"""A point of b on a line of a."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Along, AxisJoint, X, Y, Z, register
from varint.model.motion import Ball, Slide
from varint.model.rotation_vectors import vector_from_matrix


@register
@dataclass(frozen=True, eq=False)
class PointOnLine(AxisJoint):
    """Keeps ``point_b`` of body b on the line of body a through ``point`` along ``axis``.

    Coordinates: place on the line from ``point`` (m), rotation vector (rad).
    """

    forbidden = (Along(X), Along(Y))
    allowed = (Slide(Z), Ball())

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p[..., Z:], vector_from_matrix(R)], axis=-1)
