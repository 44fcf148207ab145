"""Nets of springs between particles: masses, elastic energy, forces and stiffness."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.mathematics.elasticity.elastic_mesh import ElasticMesh
from varint.mathematics.elasticity.materials import Response, Viscosity

SHORTEST = 1e-9  # of its rest length: a shorter spring has no direction
LOOSE = 1e-12  # of the largest stiffness, to the world: that of a net that nothing holds is singular


@dataclass(frozen=True, eq=False)
class SpringNet(ElasticMesh):
    """n particles and m springs between two of them each.

    points : (n, 3) m, reference configuration
    masses : (n,) kg
    springs : (m, 2) particles of each
    constants : (m,) stiffness, N/m
    rest_length : (m,) m
    damping : (m,) N s/m
    slack : whether springs pull alone: below its rest length a spring stores no energy

    An energy of k (l - l0)^2 / 2, a viscous force of c times the rate of the length l, both along the spring. The
    viscous force acts on slack springs too: a force that sets in with a jump leaves steps without a solution.
    """

    points: np.ndarray
    masses: np.ndarray
    springs: np.ndarray
    constants: np.ndarray
    rest_length: np.ndarray
    damping: np.ndarray
    slack: bool = False

    carried = True

    @property
    def mass(self) -> np.ndarray:
        """(n,) kg"""
        return self.masses

    @property
    def elements(self) -> np.ndarray:
        """(m, 2)"""
        return self.springs

    @property
    def skin(self) -> np.ndarray:
        """(m, 2)"""
        return self.springs

    @cached_property
    def damped(self) -> bool:
        return bool((self.damping > 0.0).any())

    def lengths(self, x: np.ndarray) -> np.ndarray:
        """Return lengths (m,), m, of the springs with particles at ``x`` (n, 3), m."""
        return np.linalg.norm(x[self.springs[:, 1]] - x[self.springs[:, 0]], axis=1)

    def tensions(self, x: np.ndarray) -> np.ndarray:
        """Return elastic tensions (m,), N, positive where a spring pulls, with particles at ``x`` (n, 3), m."""
        return self._tensions(self.lengths(x))[0]

    def _tensions(self, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return tensions (m,), N, and their slopes by the lengths, N/m."""
        excess, slope = length - self.rest_length, self.constants
        if self.slack:
            slope = np.where(excess > 0.0, slope, 0.0)
        return slope * excess, slope

    def _directions(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return lengths (m,), m, and directions (m, 3) of the springs."""
        apart = x[self.springs[:, 1]] - x[self.springs[:, 0]]
        length = np.sqrt(np.einsum("mi,mi->m", apart, apart))
        return length, apart / np.maximum(length, SHORTEST * self.rest_length)[:, None]

    def response(self, x: np.ndarray) -> Response:
        """Return energies (m,), J, forces (m, 3), N, on first particles, and their derivatives by the second."""
        length, along = self._directions(x)
        tension, slope = self._tensions(length)
        across = tension / np.maximum(length, SHORTEST * self.rest_length)

        def tangent() -> np.ndarray:
            by_second = np.einsum("m,mi,mj->mij", slope - across, along, along)
            by_second[:, range(3), range(3)] += across[:, None]
            return by_second

        return Response(0.5 * tension * (length - self.rest_length), tension[:, None] * along, tangent)

    def viscosity(self, x: np.ndarray, v: np.ndarray) -> Viscosity:
        """Return forces (m, 3), N, on first particles, and their derivatives by the velocity of the second."""
        damping, (length, along) = self.damping, self._directions(x)
        apart = v[self.springs[:, 1]] - v[self.springs[:, 0]]
        rate = np.einsum("mi,mi->m", along, apart)

        def bend() -> np.ndarray:
            share = damping / np.maximum(length, SHORTEST * self.rest_length)
            across = apart - rate[:, None] * along
            by_second = np.einsum("m,mi,mj->mij", share, along, across - rate[:, None] * along)
            by_second[:, range(3), range(3)] += (share * rate)[:, None]
            return by_second

        return Viscosity(
            (damping * rate)[:, None] * along, lambda: np.einsum("m,mi,mj->mij", damping, along, along), bend
        )

    def stored(self, response: Response) -> float:
        """See `ElasticMesh`."""
        return float(response.energy.sum())

    def on_vertices(self, response: Response | Viscosity) -> np.ndarray:
        """See `ElasticMesh`."""
        return np.stack([response.stress, -response.stress], axis=1)

    def blocks(self, response: Response | Viscosity, projected: bool = False) -> np.ndarray:
        """See `ElasticMesh`."""
        tangent = response.tangent
        if projected:
            values, vectors = np.linalg.eigh(tangent)
            tangent = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.swapaxes(1, 2)
        return np.concatenate(
            [np.concatenate([tangent, -tangent], axis=2), np.concatenate([-tangent, tangent], axis=2)], axis=1
        )

    def spread(self, values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return values (n, 3) of all particles from the ``known`` (n,) ones: each other is the mean of neighbours.

        Neighbours count by the stiffness of the springs to them. Zero for particles not connected to a known one.
        """
        from scipy.sparse import coo_array, diags_array
        from scipy.sparse.linalg import splu

        a, b = self.springs.T
        n, k = len(self.points), self.constants
        pulls = coo_array((np.concatenate([k, k]), (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(n, n))
        pulls = pulls.tocsc()
        held, free = np.flatnonzero(known), np.flatnonzero(~known)
        total = np.asarray(pulls.sum(axis=1)).ravel()
        matrix = diags_array(total + LOOSE * total.max(initial=1.0)) - pulls
        spread = values.copy()
        spread[free] = splu(matrix.tocsc()[free][:, free].tocsc()).solve(pulls[free][:, held] @ values[held])
        return spread
