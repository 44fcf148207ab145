"""Weld."""

from dataclasses import dataclass

import numpy as np

from varint.model.joints.base import ALONG_ALL, SQUARE_ALL, Joint, register


@register
@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Welds body b to body a. No coordinate."""

    forbidden = ALONG_ALL + SQUARE_ALL
    needs_point = False

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p[..., :0]
