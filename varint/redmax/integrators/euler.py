"""The linearly implicit Euler scheme (varint/redmax/linear.py), with hard stops and joint friction."""

import numpy as np

from varint.redmax.integrators.base import register
from varint.redmax.integrators.fixed import Fixed
from varint.redmax.linear import euler_step


@register
class LinearlyImplicitEuler(Fixed):
    """Order 1; one linear solve a step."""

    name, order = "euler", 1
    stiff = contacts = True
    what = "linearly implicit, in steps of dt"

    @property
    def evaluations(self) -> int:
        return self.steps

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return euler_step(self.equations, t, h, q, v, integral, self.touching)
