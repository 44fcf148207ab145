"""Gauss collocation in canonical coordinates, iterated to round-off (redmax/integrators/symplectic.py).

Nodes are the zeros of Legendre polynomials on (0, 1). Symplectic and symmetric.
"""

import numpy as np

from varint.redmax.equations import Equations
from varint.redmax.integrators.base import Task, register
from varint.redmax.integrators.symplectic import Stages, Step, Symplectic, Tableau, tableau

STAGES = 3


@register
class Gauss(Symplectic):
    """Order 2 s, with s ``stages``."""

    name, order = "gauss", 2 * STAGES
    what = "symplectic Gauss collocation, `stages=` from 1 to 6 (default 3), order twice that; trees, in steps of dt"
    most_stages = 6

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        self.order = 2 * (task.stages or STAGES)
        super().__init__(equations, q, qdot, task)

    @classmethod
    def tableau_of(cls, task: Task) -> Tableau:
        zeros = np.polynomial.legendre.leggauss(task.stages or STAGES)[0]
        return tableau(tuple((0.5 * (1.0 + zeros)).tolist()))

    def solve_stages(self, step: Step, first: Stages) -> Stages:
        return self.iterate(step, first, 0.0)
