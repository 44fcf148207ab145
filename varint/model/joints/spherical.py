"""Ball and socket."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import ALONG_ALL, Joint, register
from varint.model.motion import Ball
from varint.model.rotation_vectors import vector_from_matrix


@register
@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Free rotation about ``point``. Coordinates: rotation vector of b seen from a (rad), world axes of the reference.

    VI eq. 17.
    """

    forbidden = ALONG_ALL
    allowed = (Ball(),)

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return vector_from_matrix(R)
