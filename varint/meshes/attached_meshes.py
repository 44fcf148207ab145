"""The deformable bodies of a mechanism as one mesh: free vertices, vertices attached to bodies, sparse matrices."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array

from varint.mathematics.elasticity.materials import Response, Viscosity
from varint.meshes.vertex_loops import add_entries, add_wrenches, fill_jacobian, move_vertices, place_vertices
from varint.meshes.vertex_order import VertexOrder
from varint.model.body import WORLD
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan import Compiled


class SparsePattern:
    """Sparse matrices of one fixed pattern, each the sum of entries at ``rows`` and ``columns``, (N,) each.

    ``chosen`` (N,): whether an entry belongs to the matrix. A square matrix stores its whole diagonal.
    """

    def __init__(self, rows: np.ndarray, columns: np.ndarray, chosen: np.ndarray, shape: tuple[int, int]) -> None:
        self.shape, self._chosen = shape, np.flatnonzero(chosen)
        flat = columns[self._chosen] * shape[0] + rows[self._chosen]
        diagonal = np.arange(shape[0]) * (shape[0] + 1) if shape[0] == shape[1] else flat[:0]
        self._places, number = np.unique(np.concatenate([flat, diagonal]), return_inverse=True)
        self._of_entry = number[: len(flat)]
        self._rows = self._places % max(shape[0], 1)
        self._starts = np.searchsorted(self._places, np.arange(shape[1] + 1) * shape[0])
        self._diagonal = np.searchsorted(self._places, diagonal)

    def matrix(self, entries: np.ndarray, diagonal: np.ndarray | None = None) -> csc_array:
        """Return the matrix of the chosen ones among ``entries`` (N,), with ``diagonal`` added to its diagonal."""
        data = np.zeros(len(self._places))
        add_entries(entries, self._chosen, self._of_entry, data)
        if diagonal is not None:
            data[self._diagonal] += diagonal
        return csc_array((data, self._rows, self._starts), shape=self.shape)


class Stiffness(NamedTuple):
    """Blocks of a matrix made by `AttachedMeshes.stiffness`: by coordinates of free vertices, mixed, of held ones."""

    free: csc_array
    mixed: csc_array
    held: csc_array


class AttachedMeshes:
    """All vertices one after another, in the order of the forces.

    A vertex is free, or attached: held by a moving body, or fixed in the world.

    free, held : indices of the free vertices, and of those that moving bodies hold; in shapes how many they are
    mass : (n,) kg
    slots : (b,) slots of the moving bodies that hold vertices, rising, each once
    damped : whether any material is
    given_velocities : for each mesh the velocities (n, 3), m/s, with which its free vertices start, or None
    settling : (free,) whether a free vertex starts in equilibrium; others start as `mesh_start` places them
    """

    def __init__(self, structure: Structure, compiled: Compiled) -> None:
        bodies = soft_meshes(structure)
        self.gravity = np.asarray(structure.gravity)
        self.meshes = [body.mesh for body in bodies]
        self.given_velocities = [body.velocities for body in bodies]
        self.damped = any(mesh.damped for mesh in self.meshes)
        self.first = np.cumsum([0, *(len(mesh.points) for mesh in self.meshes)])
        count = int(self.first[-1])
        self.points = np.concatenate([mesh.points for mesh in self.meshes])
        self.mass = np.concatenate([mesh.mass for mesh in self.meshes])
        nb = len(structure.bodies)
        owner, arm, frame = np.full(count, -1), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
        for begin, body in zip(self.first, bodies, strict=False):
            for part in body.attached:
                vertices = begin + np.array(part.vertices)
                owner[vertices], arm[vertices] = nb, self.points[vertices]
                if part.body != WORLD:
                    k = structure.body_index[part.body]
                    B, x = rotation_matrix(structure.bodies[k].quat_wxyz), structure.bodies[k].position
                    owner[vertices], arm[vertices] = compiled.slot[k], (self.points[vertices] - x) @ B
                    frame[vertices] = B
        carried = np.repeat([mesh.carried for mesh in self.meshes], np.diff(self.first))
        self.settling = ~carried[owner < 0]
        self.free, self._attached = np.flatnonzero(owner < 0), np.flatnonzero(owner >= 0)
        self._owner, self._arm, self._frame = owner[self._attached], arm[self._attached], frame[self._attached]
        self.held = np.flatnonzero((owner >= 0) & (owner < nb))
        self._slot, self._offset = owner[self.held], arm[self.held]
        self.slots, self._column = np.unique(self._slot, return_inverse=True)
        self._nb = nb
        self._vertex_order: VertexOrder | None = None

    def place(self, position: np.ndarray, rotation: np.ndarray, x: np.ndarray) -> None:
        """Set the attached vertices in ``x`` (n, 3) by ``position`` (nb + 1, 3) and ``rotation`` (nb + 1, 3, 3)."""
        place_vertices(position, rotation, self._attached, self._owner, self._arm, x)

    def turns(self, rotation: np.ndarray) -> np.ndarray:
        """Return rotations (n, 3, 3) from the reference of the bodies of attached vertices; identity for others."""
        turned = np.tile(np.eye(3), (len(self.points), 1, 1))
        turned[self._attached] = rotation[self._owner] @ self._frame.transpose(0, 2, 1)
        return turned

    def spins(self, motion: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return angular velocities (n, 3), rad/s, world, of the bodies of held vertices; zero of others."""
        spins = np.zeros_like(self.points)
        spins[self.held] = np.einsum("nij,nj->ni", rotation[self._slot], motion[self._slot, 3:])
        return spins

    def velocities(self, motion: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return velocities (held, 3), m/s, world, of the held vertices; ``motion`` (nb, 6): v world, w body axes."""
        velocities = np.empty((len(self.held), 3))
        move_vertices(motion, rotation, self._slot, self._offset, velocities)
        return velocities

    def moments_of_mass(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the mass (b,), kg, of the vertices that each body of ``slots`` holds, and its moments in body axes.

        These are the first (b, 3), kg m, and the inertia (b, 3, 3), kg m^2, about the centre of mass of the body.
        """
        m, r, b = self.mass[self.held], self._offset, len(self.slots)
        mass, first, second = np.zeros(b), np.zeros((b, 3)), np.zeros((b, 3, 3))
        np.add.at(mass, self._column, m)
        np.add.at(first, self._column, m[:, None] * r)
        crossing = crossing_matrices(r)
        np.add.at(second, self._column, m[:, None, None] * (crossing.swapaxes(1, 2) @ crossing))
        return mass, first, second

    def turned_moments(self, load: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return derivatives (b, 3, 3) of the moments in `wrenches` of ``load`` by the rotations of ``slots``."""
        body_load = np.einsum("nji,nj->ni", rotation[self._slot], load[self.held])
        sums = np.zeros((len(self.slots), 3, 3))
        np.add.at(sums, self._column, crossing_matrices(self._offset) @ crossing_matrices(body_load))
        return sums

    def wrenches(self, load: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return force, world, and moment, body axes, (nb, 6), on each body from ``load`` (n, 3) on its vertices."""
        wrench = np.zeros((self._nb, 6))
        add_wrenches(load, rotation, self.held, self._slot, self._offset, wrench)
        return wrench

    def jacobian(self, rotation: np.ndarray) -> np.ndarray:
        """Return velocities (3 held, 6 b) of the held vertices by the motions of the bodies in ``slots``."""
        count = len(self.held)
        J = np.zeros((count, 3, len(self.slots), 6))
        fill_jacobian(rotation, self._slot, self._column, self._offset, J)
        return J.reshape(3 * count, 6 * len(self.slots))

    def turning_velocities(self, motion: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return derivatives (3 held, 3 b) of `velocities` by the rotation vectors, body axes, of ``slots``."""
        count, turned = len(self.held), np.cross(motion[self._slot, 3:], self._offset)
        derivatives = np.zeros((count, 3, len(self.slots), 3))
        derivatives[np.arange(count), :, self._column] = -rotation[self._slot] @ crossing_matrices(turned)
        return derivatives.reshape(3 * count, 3 * len(self.slots))

    def added_inertia(self, rotation: np.ndarray) -> np.ndarray:
        """Return the inertia (nb, 6, 6), kg, kg m, kg m^2, that the held vertices add to each body."""
        R, C = rotation[self._slot], crossing_matrices(self._offset)
        J = np.concatenate([np.tile(np.eye(3), (len(R), 1, 1)), -R @ C], axis=2)
        added = np.zeros((self._nb, 6, 6))
        np.add.at(added, self._slot, self.mass[self.held, None, None] * (J.swapaxes(1, 2) @ J))
        return added

    def responses(self, x: np.ndarray) -> list[Response]:
        """Return the responses of each mesh with vertices at ``x`` (n, 3)."""
        return [mesh.response(part) for mesh, part in zip(self.meshes, self._parts(x), strict=True)]

    def viscosities(self, x: np.ndarray, v: np.ndarray) -> list[Viscosity]:
        """Return viscous stresses of each mesh, vertices at ``x``, velocities ``v`` (n, 3).

        [] if no material is damped.
        """
        if not self.damped:
            return []
        parts = zip(self.meshes, self._parts(x), self._parts(v), strict=True)
        return [mesh.viscosity(place, velocity) for mesh, place, velocity in parts]

    def forces(self, x: np.ndarray, responses: Sequence[Response | Viscosity]) -> np.ndarray:
        """Return forces (n, 3), N, of the material on the vertices; zero if ``responses`` is empty."""
        if not responses:
            return np.zeros_like(x)
        parts = zip(self.meshes, self._parts(x), responses, strict=True)
        return np.concatenate([mesh.forces(part, response) for mesh, part, response in parts])

    def by_element(self, vectors: np.ndarray, responses: Sequence[Response | Viscosity]) -> np.ndarray:
        """Return sums (m,) over each element's vertices of the product of ``vectors`` (n, 3) and its force, N."""
        if not responses:
            return np.zeros(sum(len(mesh.elements) for mesh in self.meshes))
        parts = zip(self.meshes, self._parts(vectors), responses, strict=True)
        return np.concatenate(
            [np.einsum("mki,mki->m", part[mesh.elements], mesh.on_vertices(response)) for mesh, part, response in parts]
        )

    def energy(self, responses: list[Response]) -> float:
        """Return the elastic energy, J."""
        return float(sum(mesh.stored(response) for mesh, response in zip(self.meshes, responses, strict=True)))

    def stiffness(
        self, responses: list[Response], share: float, inertia: bool, projected: bool = False,
        damping: tuple[list[Viscosity], float] = ([], 0.0),
    ) -> Stiffness:  # fmt: skip
        """Return the matrix ``share`` K + M + f D: K from ``responses``, M only if ``inertia``.

        ``damping``: (viscosities, f); D is the derivative of minus the viscous forces by velocities.
        ``projected``: see `ElasticMesh.blocks`.
        """
        entries = share * self._entries(responses, projected)
        viscous, part = damping
        if viscous:
            entries += part * self._entries(viscous)
        mass = np.repeat(self.mass, 3).reshape(-1, 3) * float(inertia)
        of_free, mixed, of_held = self._patterns
        return Stiffness(
            of_free.matrix(entries, mass[self.free].ravel()),
            mixed.matrix(entries),
            of_held.matrix(entries, mass[self.held].ravel()),
        )

    def _entries(self, responses: Sequence[Response | Viscosity], projected: bool = False) -> np.ndarray:
        parts = zip(self.meshes, responses, strict=True)
        return np.concatenate([mesh.blocks(response, projected).ravel() for mesh, response in parts])

    def slopes(self, responses: Sequence[Response | Viscosity]) -> csc_array:
        """Return derivatives (3 n, 3 n) of minus the forces, elastic by positions, N/m, viscous by velocities."""
        n = len(self.points)
        if not responses:
            return csc_array((3 * n, 3 * n))
        rows, columns = self._of_entries
        return coo_array((self._entries(responses), (rows, columns)), shape=(3 * n, 3 * n)).tocsc()

    def leverage(self, motion: np.ndarray, load: np.ndarray, rotation: np.ndarray) -> np.ndarray:
        """Return derivatives (nb, 3) by rotation vectors, body axes, of ``load`` (held, 3) . `velocities`."""
        body_load, sums = np.einsum("nji,nj->ni", rotation[self._slot], load), np.zeros((self._nb, 3))
        np.add.at(sums, self._slot, np.cross(np.cross(motion[self._slot, 3:], self._offset), body_load))
        return sums

    def carried_velocities(self, motion: np.ndarray) -> np.ndarray:
        """Return the velocity (held, 3) of the centre of the body of each held vertex, from ``motion`` (nb, 6)."""
        return motion[self._slot, :3]

    @cached_property
    def _of_entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the row and column in the (3 n, 3 n) matrix of each entry of the blocks of all elements."""
        elements = [mesh.elements + first for mesh, first in zip(self.meshes, self.first, strict=False)]
        columns = [
            (3 * element[:, :, None] + np.arange(3)).reshape(len(element), 3 * element.shape[1]) for element in elements
        ]
        return _down(columns), _along(columns)

    def factors(self, matrix: csc_array, more: np.ndarray | None = None) -> Any:
        """Return factors, with a method ``solve``, of `Stiffness.free` with ``more`` (3 f,) added to its diagonal."""
        if more is not None:
            matrix = matrix.copy()  # a sum would drop zeros, and `VertexOrder` needs the same pattern each time
            matrix.setdiag(matrix.diagonal() + more)
        if self._vertex_order is None:
            self._vertex_order = VertexOrder(matrix)
        return self._vertex_order.factor(matrix)

    def power(self, force: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the power (meshes,), W, of ``force`` (n, 3) on vertices with the velocities ``v`` (n, 3)."""
        return np.add.reduceat(np.sum(force * v, axis=1), self.first[:-1])

    def _parts(self, x: np.ndarray) -> list[np.ndarray]:
        return [x[first:last] for first, last in zip(self.first, self.first[1:], strict=False)]

    @cached_property
    def _patterns(self) -> tuple[SparsePattern, SparsePattern, SparsePattern]:
        number, is_free, is_held = np.zeros((3, len(self.points)), dtype=np.int64)
        number[self.free], number[self.held] = np.arange(len(self.free)), np.arange(len(self.held))
        is_free[self.free], is_held[self.held] = 1, 1
        elements = [mesh.elements + first for mesh, first in zip(self.meshes, self.first, strict=False)]
        columns = [
            (3 * number[element][:, :, None] + np.arange(3)).reshape(len(element), 3 * element.shape[1])
            for element in elements
        ]
        free, held = ([np.repeat(mark[element], 3, axis=1) > 0 for element in elements] for mark in (is_free, is_held))
        rows, across = _down(columns), _along(columns)

        def pattern(of_rows: list[np.ndarray], of_columns: list[np.ndarray], shape: tuple[int, int]) -> SparsePattern:
            return SparsePattern(rows, across, _down(of_rows) & _along(of_columns), shape)

        f, h = 3 * len(self.free), 3 * len(self.held)
        return pattern(free, free, (f, f)), pattern(free, held, (f, h)), pattern(held, held, (h, h))


def _down(values: list[np.ndarray]) -> np.ndarray:
    """Return the entry of ``values`` (m, w) for the row of each entry of blocks (m, w, w)."""
    return np.concatenate([np.repeat(rows, rows.shape[1], axis=1).ravel() for rows in values])


def _along(values: list[np.ndarray]) -> np.ndarray:
    """Return the entry of ``values`` (m, w) for the column of each entry of blocks (m, w, w)."""
    return np.concatenate([np.tile(rows, (1, rows.shape[1])).ravel() for rows in values])


def crossing_matrices(vectors: np.ndarray) -> np.ndarray:
    """Return matrices (n, 3, 3) that take y to v x y, for each v of ``vectors`` (n, 3)."""
    C = np.zeros((len(vectors), 3, 3))
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        C[:, a, b], C[:, b, a] = -vectors[:, c], vectors[:, c]
    return C
