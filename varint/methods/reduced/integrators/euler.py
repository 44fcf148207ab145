"""The linearly implicit Euler scheme (linear_solves.py), with hard stops, joint friction and hard contacts."""

import numpy as np

from varint.base.errors import ArgumentError
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators.base import Task, register
from varint.methods.reduced.integrators.fixed_steps import FixedSteps
from varint.methods.reduced.linear_solves import euler_step

UNSTABLE = 2.0  # a gap g becomes (1 - b h) g in a step


@register
class LinearlyImplicitEuler(FixedSteps):
    """Order 1; one linear solve a step."""

    name, order = "euler", 1
    stiff = contacts = True
    what = "linearly implicit, in steps of dt"

    @classmethod
    def check(cls, equations: Equations, task: Task) -> None:
        b, h = equations.baumgarte, task.dt
        assert h is not None  # see `fixed`
        if equations.row_count and not b * h < UNSTABLE:
            raise ArgumentError(
                f"baumgarte {b:g} 1/s times dt {h:g} s must be less than {UNSTABLE:g} with integrator {cls.name!r}, or"
                " gaps of loops grow from step to step: take a smaller one of the two"
            )

    @property
    def evaluations(self) -> int:
        return self.steps

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return euler_step(self.equations, t, h, q, v, integral, self.touching)
