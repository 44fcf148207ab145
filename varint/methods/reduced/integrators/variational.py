"""Variational integrators in minimal coordinates, solved up to a tolerance: the rivals of VI Fig. 8."""

from varint.methods.reduced.integrators.symplectic import StageValues, StepStart, Symplectic

TOL = 1e-10  # m/s, rad/s


class MinimalVariational(Symplectic):
    """Stages by Newton's method with exact matrices, up to an increment of the tolerance."""

    tol = TOL

    def solve_stages(self, step: StepStart, first: StageValues) -> StageValues:
        return self.newton(step, first, self.task.tol)


class RecursiveVariational(MinimalVariational):
    """Stages in linear time by a quasi-Newton method (Lee, Liu, Park and Srinivasa, WAFR 2016).

    r_i = M(q_i) V_i - p - h sum_j a*_ij F_j, discrete inverse dynamics, is the residual. V_i changes by -M(q_i)^-1 r_i,
    the rates of articulated bodies after the impulses -r_i: all in O(n).
    """

    def solve_stages(self, step: StepStart, first: StageValues) -> StageValues:
        return self.iterate(step, first, self.task.tol)
