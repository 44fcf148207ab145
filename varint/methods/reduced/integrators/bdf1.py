"""Implicit Euler, the first backward differentiation formula (DIFF section 3.4).

s = h,    d = q0,    c = q0 + h v0        in the stage of varint/methods/reduced/implicit.py
"""

import numpy as np

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.fixed_steps import Implicit


@register
class BDF1(Implicit):
    """Order 1."""

    name, order = "bdf1", 1
    what = "implicit, in steps of dt"

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.stages.solve(t + h, h, q, q + h * v, q + h * v, integral, (v, np.zeros_like(v)))
