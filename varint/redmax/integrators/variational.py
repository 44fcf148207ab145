"""Variational integrators in minimal coordinates, solved up to a tolerance: the rivals of VI Fig. 8."""

from typing import ClassVar

from varint.redmax.integrators.symplectic import Stages, Step, Symplectic

TOL = 1e-10  # m/s, rad/s


class MinimalVariational(Symplectic):
    """Stages by Newton's method with exact matrices, up to an increment of the tolerance."""

    tol: ClassVar[float | None] = TOL

    def solve_stages(self, step: Step, first: Stages) -> Stages:
        return self.newton(step, first, self.task.tol or TOL)


class RecursiveVariational(MinimalVariational):
    """Stages in linear time by a quasi-Newton method (Lee, Liu, Park and Srinivasa, WAFR 2016).

    The residual r = M(q_i) V_i - p - h sum_j a*_ij F_j, discrete inverse dynamics, changes V_i by the rates -M(q_i)^-1 r
    that articulated bodies have after impulses of -r.
    """

    def solve_stages(self, step: Step, first: Stages) -> Stages:
        return self.iterate(step, first, self.task.tol or TOL)
