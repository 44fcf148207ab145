"""Gauss collocation in canonical coordinates, iterated to round-off (methods/reduced/integrators/symplectic.py).

Nodes are the zeros of Legendre polynomials on (0, 1). Symplectic and symmetric. Where forces are too stiff for
iterations in linear time, Newton's method takes over.
"""

import numpy as np

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.implicit import NotConverged
from varint.methods.reduced.integrators.base import Task, register
from varint.methods.reduced.integrators.symplectic import StageValues, StepStart, Symplectic, Tableau, tableau

STAGES = 3
LAST = 1e-8  # m/s, rad/s: the increment of Newton's method after which the next, its square, is round-off


@register
class Gauss(Symplectic):
    """Order 2 s, with s ``stages``."""

    name, order = "gauss", 2 * STAGES
    what = "symplectic Gauss collocation, `stages=` from 1 to 6 (default 3), order twice that; trees, in steps of dt"
    stage_counts = STAGES, 6

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        self.order = 2 * task.stages
        super().__init__(equations, q, qdot, task)

    @classmethod
    def tableau_of(cls, task: Task) -> Tableau:
        zeros = np.polynomial.legendre.leggauss(task.stages)[0]
        return tableau(tuple((0.5 * (1.0 + zeros)).tolist()))

    def solve_stages(self, step: StepStart, first: StageValues) -> StageValues:
        try:
            return self.iterate(step, first, 0.0)
        except NotConverged:  # stiff forces
            return self.newton(step, first, LAST)
