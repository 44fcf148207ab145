"""Base of elastic meshes: vertices with mass, and elements of a few vertices each that store energy."""

from typing import TYPE_CHECKING

import numpy as np

from varint.mathematics.elasticity.materials import Response, Viscosity

if TYPE_CHECKING:
    from scipy.sparse import csc_array

FIRMEST = 1e-12  # of the largest square of a frequency: the shift of the search for the lowest


class ElasticMesh:
    """n vertices and m elements of k vertices; each kind gives the responses of its elements.

    points : (n, 3) m, reference configuration
    mass : (n,) kg, of the vertices
    elements : (m, k) vertices of each
    damped : whether any element dissipates energy
    carried : whether free vertices start where bodies carry them, in place of in equilibrium
    skin : (f, 3) triangles or (f, 2) lines that pictures show, by vertices
    """

    points: np.ndarray
    carried: bool = False

    @property
    def mass(self) -> np.ndarray:
        raise NotImplementedError

    @property
    def elements(self) -> np.ndarray:
        raise NotImplementedError

    @property
    def damped(self) -> bool:
        raise NotImplementedError

    @property
    def skin(self) -> np.ndarray:
        raise NotImplementedError

    def response(self, x: np.ndarray) -> Response:
        """Return the response of the elements with vertices at ``x`` (n, 3), m."""
        raise NotImplementedError

    def viscosity(self, x: np.ndarray, v: np.ndarray) -> Viscosity:
        """Return the viscous stress with vertices at ``x`` (n, 3), m, and their velocities ``v`` (n, 3), m/s."""
        raise NotImplementedError

    def stored(self, response: Response) -> float:
        """Return the elastic energy, J, of a response."""
        raise NotImplementedError

    def on_vertices(self, response: Response | Viscosity) -> np.ndarray:
        """Return the forces (m, k, 3), N, of the elements on their vertices."""
        raise NotImplementedError

    def blocks(self, response: Response | Viscosity, projected: bool = False) -> np.ndarray:
        """Return second derivatives (m, 3 k, 3 k), N/m, of the energies by the vertices, or of viscosity, N s/m.

        ``projected``: with negative eigenvalues replaced by zero.
        """
        raise NotImplementedError

    def energy(self, x: np.ndarray) -> float:
        """Return the elastic energy, J, with vertices at ``x`` (n, 3), m."""
        return self.stored(self.response(x))

    def forces(self, x: np.ndarray, response: Response | Viscosity | None = None) -> np.ndarray:
        """Return the forces (n, 3), N, of the material on its vertices at ``x`` (n, 3): minus the energy's gradient."""
        nodal = self.on_vertices(self.response(x) if response is None else response)
        rows = self.elements.ravel()
        return np.column_stack([np.bincount(rows, nodal[..., i].ravel(), len(x)) for i in range(3)])

    def stiffness(self, x: np.ndarray, projected: bool = False) -> "csc_array":
        """Return the sparse derivative (3 n, 3 n), N/m, of minus the forces at ``x`` (n, 3), m.

        ``projected``: see `blocks`.
        """
        from scipy.sparse import coo_array

        blocks = self.blocks(self.response(x), projected)
        columns = (3 * self.elements[:, :, None] + np.arange(3)).reshape(len(blocks), -1)
        width, size = columns.shape[1], 3 * len(self.points)
        rows, across = np.repeat(columns, width, axis=1), np.tile(columns, (1, width))
        return coo_array((blocks.ravel(), (rows.ravel(), across.ravel())), shape=(size, size)).tocsc()

    def frequencies(self, x: np.ndarray, free: np.ndarray, count: int, shift: float | None = None) -> np.ndarray:
        """Return the lowest natural frequencies (count,), Hz, of the vertices ``free`` about ``x`` (n, 3), m.

        The other vertices are at rest. ``shift``: a number below all squares of angular frequencies, (rad/s)^2.
        """
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import eigsh

        columns = (3 * free[:, None] + np.arange(3)).ravel()
        root = diags_array(1.0 / np.sqrt(np.repeat(self.mass[free], 3)))
        scaled = (root @ self.stiffness(x)[columns][:, columns] @ root).tocsc()
        start = np.cos(np.arange(len(columns)) ** 2)  # any: that of the solver is random
        below = -FIRMEST * scaled.diagonal().max() if shift is None else shift
        squares = eigsh(scaled, count, sigma=below, v0=start, return_eigenvectors=False)
        return np.sqrt(np.maximum(np.sort(squares), 0.0)) / (2.0 * np.pi)
