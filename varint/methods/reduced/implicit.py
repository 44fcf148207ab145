"""Stages of implicit schemes (DIFF section 3.4), with analytic Newton matrices.

Every stage is, with s = gamma h, an equation for its end x:

    tau(x, v, a, lambda) = 0,    sigma(x, v) = 0,    v = (x - d) / s,    a = (x - c) / s^2

with s, d and c as each scheme says (methods/reduced/integrators). The two stages with alpha = 1 - sqrt(1/2),

    s = alpha h,    d = q0,                       c = q0 + alpha h v0
    s = alpha h,    d = q0 + (1 - alpha) h va,    c = q0 + (2 alpha - 1) h v0 + 2 (1 - alpha) h va

are a scheme of order 2 and the start of another. sigma = G v + b g: loops are constrained at the level of velocities,
and their violations g decay at the rate b. Prescribed joints have x, v and a of their motion at the time of the end,
not of the formulas: the other coordinates then obey an equation that depends on time, and the scheme keeps its order.
The states of laws are such coordinates of first order: d + s times their flow at the end.
"""

import numpy as np

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.saddle import Sizes, solve_saddle
from varint.step.sizes import unit_of_length

Motion = tuple[np.ndarray, np.ndarray]  # coordinates and rates (nq,)
ALPHA = 1.0 - np.sqrt(0.5)
ITERATIONS = 50
GROWTH = 4.0  # of the residual, squared, over an increment: one that lets it grow more is halved
LONG, SHORTEST = 1e-6, 2.0**-10  # an increment that may be halved, in sizes, and the least share of one that is
CONVERGED = 1e-9  # largest increment, relative to the coordinates or their sizes: the next, its square, is round-off


class NotConverged(ArithmeticError):
    """Newton's iteration did not converge."""


class Stages:
    """Solves stages; ``iterations`` counts Newton's; ``exact``, see `solve`."""

    exact = False

    def __init__(self, equations: Equations) -> None:
        self.equations, self.inverse = equations, InverseDynamics(equations)
        self.multiplier = np.zeros(equations.row_count)
        self.iterations = 0

    def solve(
        self, t: float, s: float, d: np.ndarray, c: np.ndarray, guess: np.ndarray, integral: np.ndarray,
        along: Motion | None = None,
    ) -> Motion:  # fmt: skip
        """Return the end x (nq,) of a stage at time ``t``, and its rates, from a guess.

        ``integral`` (ns,): d of integrals. Newton's iteration; an increment after which the residual is larger is
        halved. ``along``: v and a (nq,) at the guess. With `exact` they are changed by the increments over s and s^2;
        nothing then cancels as s gets small.

        The first iteration finds the multipliers themselves, the least where rows are redundant, and the others changes
        of them: parts along redundant rows would otherwise pass from step to step, as a state that no node has.
        """
        inverse, free = self.inverse, ~self.equations.driven_columns
        whole = self.equations.coordinate_sizes(unit_of_length(self.equations.compiled.length))
        size = whole[free]
        given_x, given_rates, given_second = self.equations.imposed(t, guess, guess)
        self.equations.integrate_from(integral, s)
        x, step, change = given_x.copy(), np.zeros(free.sum()), np.zeros_like(self.multiplier)
        from_x, from_multiplier, before, share = x, self.multiplier, np.inf, 1.0
        first, moved = along if self.exact else None, np.zeros_like(step)  # x less the guess
        from_moved = moved
        for n in range(ITERATIONS):
            self.iterations += 1
            rates, second = np.where(free, (x - d) / s, given_rates), np.where(free, (x - c) / s**2, given_second)
            if first is not None:
                rates[free], second[free] = first[0][free] + moved / s, first[1][free] + moved / s**2
            tau, sigma = inverse.evaluate(t, x, rates, second, self.multiplier)
            A, C = inverse.derivatives(1.0, 1.0 / s, 1.0 / s**2)
            finite = np.isfinite(tau).all() and np.isfinite(A).all()
            G = inverse.rows() if sigma.size else C
            sizes = Sizes(size, row_sizes(self.equations, G[:, free] * size))
            residual = size_of_residual(A, tau, sigma, free, sizes) if finite else np.inf
            worse = residual > GROWTH * before and np.abs(step / size).max(initial=0.0) > LONG
            if (worse or not finite) and np.isfinite(before) and share > SHORTEST:
                share *= 0.5
                x, moved = from_x.copy(), from_moved + share * step
                x[free] += share * step
                self.multiplier = from_multiplier + share * change
                continue
            if not finite:
                break
            A, G, C = A[np.ix_(free, free)], G[:, free], C[:, free]
            known = self.multiplier if n else np.zeros_like(self.multiplier)
            load = tau[free] + (self.multiplier - known) @ G
            step, change = solve_saddle(s * s * A, G, s * C, -s * s * load, -s * sigma, sizes)
            change = change / s**2 + known - self.multiplier
            from_x, from_multiplier, before, share = x.copy(), self.multiplier, residual, 1.0
            x[free] += step
            if first is not None:
                from_moved, moved = moved, moved + step
            self.multiplier = self.multiplier + change
            if np.abs(step / size).max(initial=0.0) <= CONVERGED * max(1.0, np.abs(x / whole).max(initial=0.0)):
                rates = np.where(free, (x - d) / s, given_rates)
                if first is not None:
                    rates[free] = first[0][free] + moved / s
                return x, rates
        raise NotConverged

    def two(self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray) -> Motion:
        """Return q (nq,) and rates at t + h after the two stages above; ``integral`` (ns,) of deviations at t."""
        s = ALPHA * h
        along = (v, np.zeros_like(v)) if self.exact else None
        va = self.solve(t + s, s, q, q + s * v, q + s * v, integral, along)[1]
        d, c = q + (1 - ALPHA) * h * va, q + (2 * ALPHA - 1) * h * v + 2 * (1 - ALPHA) * h * va
        along = (va, (2 * ALPHA - 1) * h / s**2 * (va - v)) if self.exact else None
        return self.solve(t + h, s, d, c, d + s * va, integral + (1 - ALPHA) * h * self.equations.flow, along)


def row_sizes(equations: Equations, G: np.ndarray) -> np.ndarray:
    """Return the sizes (m,) of the rows ``G`` (m, n), by coordinates of size one: of loops, m, and of couplings.

    They are one where the size of the parts is ordinary (step/sizes.py): such rows are of order one.
    """
    unit = unit_of_length(equations.compiled.length)
    sizes = np.full(len(G), unit)
    if unit != 1.0:
        sizes[len(equations.closures) :] = np.abs(G[len(equations.closures) :]).max(axis=1, initial=0.0)
    sizes[sizes == 0.0] = 1.0
    return sizes


def size_of_residual(A: np.ndarray, tau: np.ndarray, sigma: np.ndarray, free: np.ndarray, sizes: Sizes) -> float:
    """Return the size of the residuals: squares over the stiffness ``A`` of each coordinate; loops by the largest."""
    stiffness = np.abs(np.diag(A)[free]) * sizes.coordinates**2
    forces = np.sum((sizes.coordinates * tau[free]) ** 2 / stiffness)
    return float(forces + stiffness.max(initial=0.0) * np.sum((sigma / sizes.rows) ** 2))
