"""BDF1, SDIRK2 and BDF2 (DIFF section 3.4), with analytic Newton matrices.

Every stage is, with s = gamma h, an equation for its end x:

    tau(x, v, a, lambda) = 0,    sigma(x, v) = 0,    v = (x - d) / s,    a = (x - c) / s^2

    BDF1      s = h                  d = q0                    c = q0 + h v0
    SDIRK2 a  s = alpha h            d = q0                    c = q0 + alpha h v0
           b  s = alpha h            d = q0 + (1 - alpha) h va c = q0 + (2 alpha - 1) h v0 + 2 (1 - alpha) h va
    BDF2      s = 2/3 h              d = 4/3 q1 - 1/3 q0       c = d + 8/9 h v1 - 2/9 h v0

alpha = 1 - sqrt(1/2). sigma = G v + b g: loops are constrained at the level of velocities, and their violations g decay
at the rate b. Of prescribed joints x, v and a are those of their motion at the time of the end, not of the formulas:
the other coordinates then obey an equation that depends on time, of which the scheme has the order that it has of any.
The integrals of deviations are such coordinates of first order: d + s times the deviation at the end.
"""

import numpy as np

from varint.errors import ArgumentError
from varint.redmax.equations import Equations
from varint.redmax.inverse import InverseDynamics
from varint.redmax.saddle import solve_saddle

Motion = tuple[np.ndarray, np.ndarray]  # coordinates and rates (nq,)
ALPHA = 1.0 - np.sqrt(0.5)
ITERATIONS = 50
CONVERGED = 1e-9  # largest increment, relative to the coordinates or one: the next, its square, is round-off


def check_closures(equations: Equations) -> None:
    """Raise ArgumentError where a loop is closed by a joint whose rows have no second derivatives here."""
    plan, nb = equations.compiled.plan, equations.nb
    for k in plan.product_joint[plan.product_joint >= nb]:
        joint = equations.mechanism.joints[equations.compiled.joints[k]]
        raise ArgumentError(
            f"{joint.label} closes a loop, where implicit schemes would need second derivatives of its rows: use"
            " 'euler' or an integrator with error control"
        )


class NotConverged(ArithmeticError):
    """Newton's iteration did not converge."""


class Stages:
    """Solves stages; ``iterations`` counts Newton's."""

    def __init__(self, equations: Equations) -> None:
        self.equations, self.inverse = equations, InverseDynamics(equations)
        self.multiplier = np.zeros(equations.row_count)
        self.iterations = 0

    def solve(
        self, t: float, s: float, d: np.ndarray, c: np.ndarray, guess: np.ndarray, integral: np.ndarray
    ) -> Motion:
        """The end x (nq,) of a stage at time ``t``, and its rates, from a guess; ``integral`` (ns,): d of integrals."""
        inverse, free = self.inverse, ~self.equations.driven_columns
        given, given_rates, given_second = self.equations.imposed(t, guess, guess)
        self.equations.integrate_from(integral, s)
        x = given.copy()
        for _ in range(ITERATIONS):
            self.iterations += 1
            rates, second = np.where(free, (x - d) / s, given_rates), np.where(free, (x - c) / s**2, given_second)
            tau, sigma = inverse.evaluate(t, x, rates, second, self.multiplier)
            A, C = inverse.derivatives(1.0, 1.0 / s, 1.0 / s**2)
            if not (np.isfinite(tau).all() and np.isfinite(A).all()):
                break
            G = inverse.rows() if sigma.size else C
            A, G, C = A[np.ix_(free, free)], G[:, free], C[:, free]
            step, change = solve_saddle(s * s * A, G, s * C, -s * s * tau[free], -s * sigma)
            x[free] += step
            self.multiplier += change / s**2
            if np.abs(step).max(initial=0.0) <= CONVERGED * max(1.0, np.abs(x).max(initial=0.0)):
                return x, np.where(free, (x - d) / s, given_rates)
        raise NotConverged

    def bdf1(self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray) -> Motion:
        """q (nq,) and rates at t + h; ``integral`` (ns,) of deviations at t."""
        return self.solve(t + h, h, q, q + h * v, q + h * v, integral)

    def sdirk2(self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray) -> Motion:
        """q (nq,) and rates at t + h; ``integral`` (ns,) of deviations at t."""
        s = ALPHA * h
        va = self.solve(t + s, s, q, q + s * v, q + s * v, integral)[1]
        d, c = q + (1 - ALPHA) * h * va, q + (2 * ALPHA - 1) * h * v + 2 * (1 - ALPHA) * h * va
        return self.solve(t + h, s, d, c, d + s * va, integral + (1 - ALPHA) * h * self.equations.deviation)

    def bdf2(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray,
        q_before: np.ndarray, v_before: np.ndarray, integral_before: np.ndarray,
    ) -> Motion:  # fmt: skip
        """q (nq,) and rates at t + h; ``q_before``, ``v_before``, ``integral_before`` at t - h."""
        d = (4 * q - q_before) / 3
        c = d + h * (8 * v - 2 * v_before) / 9
        return self.solve(t + h, 2 / 3 * h, d, c, q + h * v, (4 * integral - integral_before) / 3)
