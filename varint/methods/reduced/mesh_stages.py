"""Stages of implicit schemes with deformable bodies: vertices are solved for together with the joints.

The matrix of the free vertices, m / s^2 + K, has sparse factors of its own (SuperLU), the joints a Schur complement.
"""

import numpy as np

from varint.meshes.mesh_start import start_along
from varint.meshes.vertex_record import OF_VERTICES
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.implicit import (
    CONVERGED,
    GROWTH,
    ITERATIONS,
    LONG,
    SHORTEST,
    Motion,
    NotConverged,
    Stages,
    row_sizes,
    size_of_residual,
)
from varint.methods.reduced.mesh_dynamics import MeshInverse
from varint.methods.reduced.saddle import Sizes, solve_saddle
from varint.step.sizes import unit_of_length


class MeshStages(Stages):
    """Solves stages with the coordinates of the joints (nq,), then of the free vertices (3 nf,)."""

    inverse: MeshInverse

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        self.inverse = MeshInverse(equations)

    def start(self, q: np.ndarray, qdot: np.ndarray, given_vertices: np.ndarray | None) -> np.ndarray:
        """Return places and velocities (2, 3 nf) of the free vertices at the start. Raises StateError.

        ``given_vertices``: see `start_along`.
        """
        e, meshes = self.equations, self.inverse.meshes
        e.place_and_move(q, qdot)
        x, v = start_along(meshes, e.position, e.rotation, e.velocity, given_vertices)
        return np.array([x[meshes.free].ravel(), v[meshes.free].ravel()])

    def vertices(self, x: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """Return places and velocities (n, 3) of all vertices by name, with ``x``, ``v`` (3 nf,) of free ones.

        The bodies are at their present poses.
        """
        return dict(zip(OF_VERTICES, (self.inverse.places(x), self.inverse.velocities(v)), strict=True))

    def solve(
        self, t: float, s: float, d: np.ndarray, c: np.ndarray, guess: np.ndarray, integral: np.ndarray,
        along: Motion | None = None,
    ) -> Motion:  # fmt: skip
        """See `Stages`; all arrays hold both kinds of coordinates."""
        nq, inverse = self.equations.nq, self.inverse
        given_q, given_rates, given_second = self.equations.imposed(t, guess[:nq], guess[:nq])
        self.equations.integrate_from(integral, s)
        moves = np.append(~self.equations.driven_columns, np.ones(guess.size - nq, dtype=bool))
        x, multiplier = np.append(given_q, guess[nq:]), self.multiplier
        start, before, share = (x, multiplier), np.inf, 1.0
        step, change = np.zeros_like(x), np.zeros_like(multiplier)
        for n in range(ITERATIONS):
            self.iterations += 1
            rates, second = (x - d) / s, (x - c) / s**2
            rates[:nq], second[:nq] = (
                np.where(moves[:nq], free, at) for free, at in ((rates[:nq], given_rates), (second[:nq], given_second))
            )
            inverse.free = np.array([x[nq:], rates[nq:], second[nq:]])
            tau, sigma = inverse.evaluate(t, x[:nq], rates[:nq], second[:nq], multiplier)
            residual, increment = self._increment(s, tau, sigma, moves[:nq], multiplier * (n == 0))
            worse = (residual > GROWTH * before and np.abs(step).max() > LONG) or not np.isfinite(residual)
            if worse and np.isfinite(before) and share > SHORTEST:
                share *= 0.5
                x, multiplier = start[0] + share * step, start[1] + share * change
                continue
            if increment is None:
                break
            (step, change), start, before, share = increment, (x, multiplier), residual, 1.0
            x, multiplier = x + step, multiplier + change
            if np.abs(step).max() <= CONVERGED * max(1.0, np.abs(x).max()):
                self.multiplier = multiplier
                return x, np.where(moves, (x - d) / s, np.append(given_rates, np.zeros(x.size - nq)))
        raise NotConverged

    def _increment(
        self, s: float, tau: np.ndarray, sigma: np.ndarray, moves: np.ndarray, anew: np.ndarray
    ) -> tuple[float, tuple[np.ndarray, np.ndarray] | None]:
        """Return the size of the residuals, and Newton's changes of coordinates and multipliers, None if not finite.

        ``anew`` (m,): multipliers in ``tau`` that are found anew, see `Stages.solve`.
        """
        inverse, missed = self.inverse, self.inverse.residual()
        if not (np.isfinite(tau).all() and np.isfinite(missed).all()):
            return np.inf, None
        A, C = inverse.derivatives(1.0, 1.0 / s, 1.0 / s**2)
        mass = np.repeat(inverse.meshes.mass[inverse.meshes.free], 3)
        diagonal = inverse.stiffness.free.diagonal() + mass / s**2
        G, unit = inverse.rows() if sigma.size else C, unit_of_length(self.equations.compiled.length)
        coordinates = self.equations.coordinate_sizes(unit)[moves]
        sizes = Sizes(coordinates, row_sizes(self.equations, G[:, moves] * coordinates))
        size = size_of_residual(A, tau, sigma, moves, sizes) + float(np.sum(missed**2 / np.abs(diagonal)))
        pull = inverse.stiffness.mixed @ inverse.along_joints()[:, moves]
        followed = inverse.meshes.factors(inverse.stiffness.free, mass / s**2).solve(np.column_stack([pull, missed]))
        A = A[np.ix_(moves, moves)] - pull.T @ followed[:, :-1]
        C, G = C[:, moves], G[:, moves]
        effort = tau[moves] - pull.T @ followed[:, -1] + anew @ G
        of_joints, change = solve_saddle(s * s * A, G, s * C, -s * s * effort, -s * sigma, sizes)
        step = np.zeros(moves.size + missed.size)
        step[: moves.size][moves] = of_joints
        step[moves.size :] = -(followed[:, -1] + followed[:, :-1] @ of_joints)
        return size, (step, change / s**2 - anew)
