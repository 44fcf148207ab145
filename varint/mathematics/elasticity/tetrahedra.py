"""Meshes of linear tetrahedra: volumes, masses of vertices, elastic energy, forces and stiffness.

The deformation gradient of an element is F = sum over its vertices a of x_a g_a^T, with the gradients g_a of its shape
functions in the reference configuration, and constant within it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.mathematics.elasticity.elastic_mesh import ElasticMesh
from varint.mathematics.elasticity.element_loops import add_forces, deform, stiffness_blocks
from varint.mathematics.elasticity.materials import MATERIALS, Response, Viscosity, viscosity

FLATTEST = 1e-9  # volume of a tetrahedron over the cube of its longest edge


@dataclass(frozen=True, eq=False)
class TetrahedralMesh(ElasticMesh):
    """n vertices and m linear tetrahedra of one elastic material.

    points : (n, 3) m, reference configuration
    tetrahedra : (m, 4) vertices of each, the last on the side of the normal of the others
    material : key of `MATERIALS`
    mu, lam : Pa
    density : kg/m^3
    damping : s, viscous constants over the elastic ones
    """

    points: np.ndarray
    tetrahedra: np.ndarray
    material: str
    mu: float
    lam: float
    density: float
    damping: float = 0.0

    @cached_property
    def volume(self) -> np.ndarray:
        """(m,) m^3, negative where inverted."""
        return signed_volumes(self.points, self.tetrahedra)

    @cached_property
    def gradient(self) -> np.ndarray:
        """(m, 4, 3) gradients of the shape functions, 1/m."""
        corners = self.points[self.tetrahedra]
        inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1])
        others = inverse.swapaxes(1, 2)
        return np.concatenate([-others.sum(axis=1, keepdims=True), others], axis=1)

    @cached_property
    def mass(self) -> np.ndarray:
        """(n,) kg of the vertices: a quarter of each element that they belong to."""
        quarter = np.repeat(0.25 * self.density * self.volume, 4)
        return np.bincount(self.tetrahedra.ravel(), quarter, len(self.points))

    def deformation(self, x: np.ndarray) -> np.ndarray:
        """Return deformation gradients (m, 3, 3) with vertices at ``x`` (n, 3), m."""
        F = np.empty((len(self.tetrahedra), 3, 3))
        deform(np.ascontiguousarray(x), self._corners, self.gradient, F)
        return F

    def forces(self, x: np.ndarray, response: Response | Viscosity | None = None) -> np.ndarray:
        """See `ElasticMesh`."""
        force, stress = np.zeros((len(x), 3)), (self.response(x) if response is None else response).stress
        add_forces(self._corners, self.gradient, self.volume, np.ascontiguousarray(stress), force)
        return force

    @cached_property
    def _corners(self) -> np.ndarray:
        return np.array(self.tetrahedra, dtype=np.int64, order="C")

    def response(self, x: np.ndarray) -> Response:
        """Return the response of the elements with vertices at ``x`` (n, 3), m."""
        return MATERIALS[self.material](self.deformation(x), self.mu, self.lam)

    def viscosity(self, x: np.ndarray, v: np.ndarray) -> Viscosity:
        """Return the viscous stress with vertices at ``x`` (n, 3), m, and their velocities ``v`` (n, 3), m/s."""
        mu, lam = self.damping * self.mu, self.damping * self.lam
        return viscosity(self.deformation(x), self.deformation(v), mu, lam)

    @property
    def elements(self) -> np.ndarray:
        """(m, 4)"""
        return self.tetrahedra

    @property
    def damped(self) -> bool:
        return self.damping > 0.0

    @cached_property
    def skin(self) -> np.ndarray:
        """(f, 3) vertices of the faces of the surface, counter-clockwise from outside."""
        return surface(self.tetrahedra)

    def stored(self, response: Response) -> float:
        """See `ElasticMesh`."""
        return float(np.sum(self.volume * response.energy))

    def on_vertices(self, response: Response | Viscosity) -> np.ndarray:
        """See `ElasticMesh`."""
        return np.einsum("m,mij,maj->mai", -self.volume, response.stress, self.gradient)

    def blocks(self, response: Response | Viscosity, projected: bool = False) -> np.ndarray:
        """See `ElasticMesh`; projected by the eigenvalues of dP/dF."""
        tangent = response.tangent.reshape(-1, 9, 9)
        if projected:
            values, vectors = np.linalg.eigh(tangent)
            tangent = (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.swapaxes(1, 2)
        blocks = np.empty((len(tangent), 12, 12))
        parts = np.ascontiguousarray(tangent).reshape(-1, 3, 3, 3, 3), self.gradient, self.volume
        stiffness_blocks(*parts, np.empty((3, 3, 3, 4)), blocks)
        return blocks


def signed_volumes(points: np.ndarray, tetrahedra: np.ndarray) -> np.ndarray:
    """Return volumes (m,), m^3, negative where the last vertex is on the other side of the face of the first three."""
    corners = points[tetrahedra]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0


def flatness(points: np.ndarray, tetrahedra: np.ndarray) -> np.ndarray:
    """Return signed volumes (m,) over the cubes of the longest edges."""
    corners = points[tetrahedra]
    edges = corners[:, :, None] - corners[:, None]
    longest = np.sqrt(np.sum(edges * edges, axis=3)).max(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return signed_volumes(points, tetrahedra) / longest**3


def surface(tetrahedra: np.ndarray) -> np.ndarray:
    """Return the faces (f, 3) that one tetrahedron alone has, by vertices counter-clockwise from outside."""
    faces = tetrahedra[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]


def box_mesh(size: np.ndarray, divisions: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3), m, and tetrahedra (m, 4) of a box about the origin, six to each of its cells (Kuhn)."""
    steps = [np.linspace(-0.5, 0.5, n + 1) * length for n, length in zip(divisions, size, strict=True)]
    points = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape([n + 1 for n in divisions])
    ends = slice(None, -1), slice(1, None)
    corner = [number[ends[a], ends[b], ends[c]].ravel() for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    ways = ((1, 3), (5, 1), (3, 2), (4, 5), (2, 6), (6, 4))  # from corner 0 to corner 7 along the edges
    tetrahedra = np.concatenate([np.column_stack([corner[k] for k in (0, a, b, 7)]) for a, b in ways])
    turned = signed_volumes(points, tetrahedra) < 0.0
    tetrahedra[turned] = tetrahedra[turned][:, [0, 2, 1, 3]]
    return points, tetrahedra
