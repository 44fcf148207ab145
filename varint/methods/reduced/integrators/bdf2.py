"""The second backward differentiation formula (DIFF section 3.4).

    s = 2/3 h,    d = 4/3 q1 - 1/3 q0,    c = d + 8/9 h v1 - 2/9 h v0      in the stage of methods/reduced/implicit.py

The first step, a step after a change of charts and steps cut at a hard stop have two stages, see `Stages.two`.
"""

import numpy as np

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.fixed_steps import Implicit


@register
class BDF2(Implicit):
    """Order 2."""

    name, order = "bdf2", 2
    what = "implicit, two steps of dt"
    remembers = True

    before: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # q, rates and integrals of the last node

    def remember(self, start: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self.before = start

    def forget(self) -> bool:
        known, self.before = self.before is not None, None
        return known

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.before is None:
            return self.stages.two(t, h, q, v, integral)
        q_before, v_before, integral_before = self.before
        d = (4 * q - q_before) / 3
        c = d + h * (8 * v - 2 * v_before) / 9
        return self.stages.solve(t + h, 2 / 3 * h, d, c, q + h * v, (4 * integral - integral_before) / 3)

    def memory(self) -> dict[str, np.ndarray]:
        e = self.equations
        before = (
            np.zeros(2 * e.nq + self.free.size + e.law_state.size)
            if self.before is None
            else np.concatenate(self.before)
        )
        return super().memory() | {"before": before, "known": np.array([self.before is not None])}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        super().recall(saved)
        nq = self.equations.nq + self.free.shape[1]
        q, v, integral = np.split(saved["before"].copy(), [nq, 2 * nq])
        self.before = (q, v, integral) if saved["known"][0] else None
