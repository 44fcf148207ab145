"""Six degrees of freedom."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import Joint, X, Y, Z, register
from varint.model.motion import Ball, Slide
from varint.model.rotation_vectors import vector_from_matrix


@register
@dataclass(frozen=True, eq=False)
class Free(Joint):
    """No constraint: says that body b floats. Coordinates: displacements (m), rotation vector (rad)."""

    allowed = (Slide(X), Slide(Y), Slide(Z), Ball())
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p, vector_from_matrix(R)], axis=-1)
