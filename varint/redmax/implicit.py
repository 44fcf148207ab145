"""BDF1, SDIRK2 and BDF2 (DIFF section 3.4), with analytic Newton matrices.

Every stage is, with s = gamma h, an equation for its end x:

    tau(x, v, a, lambda) = 0,    gap(x, v) = 0,    v = (x - d) / s,    a = (x - c) / s^2

    BDF1      s = h                  d = q0                    c = q0 + h v0
    SDIRK2 a  s = alpha h            d = q0                    c = q0 + alpha h v0
           b  s = alpha h            d = q0 + (1 - alpha) h va c = q0 + (2 alpha - 1) h v0 + 2 (1 - alpha) h va
    BDF2      s = 2/3 h              d = 4/3 q1 - 1/3 q0       c = d + 8/9 h v1 - 2/9 h v0

alpha = 1 - sqrt(1/2). gap = G v + b g: loops are held at the level of velocities.
"""

import numpy as np

from varint.redmax.inverse import InverseDynamics
from varint.redmax.saddle import solve_saddle

ALPHA = 1.0 - np.sqrt(0.5)
ITERATIONS = 50
CONVERGED = 1e-9  # largest increment, relative to the coordinates or one: the next, its square, is round-off


class NotConverged(ArithmeticError):
    """Newton's iteration did not converge."""


class Stages:
    """Solves stages; ``iterations`` counts Newton's."""

    def __init__(self, equations):
        self.inverse = InverseDynamics(equations)
        self.multiplier = np.zeros(len(equations.closures))
        self.iterations = 0

    def solve(self, t, s, d, c, guess):
        """The end x (nq,) of a stage at time ``t``, from a guess, and its rates."""
        x, inverse = guess.copy(), self.inverse
        for _ in range(ITERATIONS):
            self.iterations += 1
            tau, gap = inverse.evaluate(t, x, (x - d) / s, (x - c) / s**2, self.multiplier)
            A, C = inverse.derivatives(1.0, 1.0 / s, 1.0 / s**2)
            if not (np.isfinite(tau).all() and np.isfinite(A).all()):
                break
            G = inverse.rows() if gap.size else C
            step, change = solve_saddle(s * s * A, G, s * C, -s * s * tau, -s * gap)
            x += step
            self.multiplier += change / s**2
            if np.abs(step).max(initial=0.0) <= CONVERGED * max(1.0, np.abs(x).max(initial=0.0)):
                return x, (x - d) / s
        raise NotConverged

    def bdf1(self, t, h, q, v):
        """q (nq,) and rates at t + h."""
        return self.solve(t + h, h, q, q + h * v, q + h * v)

    def sdirk2(self, t, h, q, v):
        """q (nq,) and rates at t + h."""
        s = ALPHA * h
        va = self.solve(t + s, s, q, q + s * v, q + s * v)[1]
        d = q + (1 - ALPHA) * h * va
        return self.solve(t + h, s, d, q + (2 * ALPHA - 1) * h * v + 2 * (1 - ALPHA) * h * va, d + s * va)

    def bdf2(self, t, h, q, v, q_before, v_before):
        """q (nq,) and rates at t + h; ``q_before``, ``v_before`` at t - h."""
        d = (4 * q - q_before) / 3
        return self.solve(t + h, 2 / 3 * h, d, d + h * (8 * v - 2 * v_before) / 9, q + h * v)
