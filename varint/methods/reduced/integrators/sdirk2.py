"""The diagonally implicit Runge-Kutta scheme with two stages (DIFF section 3.4), see `Stages.two`."""

import numpy as np

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.fixed_steps import Implicit


@register
class SDIRK2(Implicit):
    """Order 2."""

    name, order = "sdirk2", 2
    what = "implicit Runge-Kutta, in steps of dt"

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return self.stages.two(t, h, q, v, integral)
