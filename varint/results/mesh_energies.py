"""Motion, energy and momentum of deformable bodies at the T nodes of a motion."""

from typing import NamedTuple

import numpy as np

from varint.meshes.mesh_state import MeshState, by_mesh, with_vertices
from varint.meshes.vertex_record import OF_VERTICES
from varint.model.forces.soft_mesh import SoftMesh, soft_meshes
from varint.model.state import State
from varint.model.structure import Structure
from varint.results.record import Nodes


class MovingMesh(NamedTuple):
    """A deformable body with its vertices at ``x``, m, and their velocities ``v``, m/s, (T, n, 3), world."""

    body: SoftMesh
    x: np.ndarray
    v: np.ndarray

    def kinetic_energy(self) -> np.ndarray:
        """Return the kinetic energy (T,), J."""
        return 0.5 * np.sum(self.v * self.v, axis=2) @ self.body.mesh.mass

    def potential_energy(self, gravity: np.ndarray) -> np.ndarray:
        """Return the potential energy (T,), J, elastic and of ``gravity`` (3,), m/s^2, zero at the origin."""
        elastic = np.array([self.body.mesh.energy(x) for x in self.x])
        return elastic - np.sum(self.x * gravity, axis=2) @ self.body.mesh.mass

    def linear_momentum(self) -> np.ndarray:
        """Return the linear momentum (T, 3), N s, world."""
        return np.einsum("n,tni->ti", self.body.mesh.mass, self.v)

    def angular_momentum(self) -> np.ndarray:
        """Return the angular momentum (T, 3), N m s, about the world's origin, world."""
        return np.einsum("n,tni->ti", self.body.mesh.mass, np.cross(self.x, self.v))


def by_body(structure: Structure, nodes: Nodes, array: str) -> dict[str, np.ndarray]:
    """Name of each deformable body to its part (T, n, 3) of an array of nodes."""
    return by_mesh(structure, nodes[array]) if array in nodes else {}


def node_state(structure: Structure, nodes: Nodes, k: int) -> State:
    """Return a copy of the state at node ``k``, with the recorded vertices."""
    names = "position", "quat_wxyz", "velocity", "angular_velocity"
    state = State(*(nodes[name][k].copy() for name in names))
    if OF_VERTICES[0] not in nodes:
        return state
    return with_vertices(structure, state, np.array([nodes[name][k] for name in OF_VERTICES]))


def meshes_at(structure: Structure, state: State) -> list[MovingMesh]:
    """Return the deformable bodies with their motion at one state, [] if it has no vertices."""
    if not isinstance(state, MeshState):
        return []
    x, v = state.vertices, state.vertex_velocities
    return [MovingMesh(body, x[body.name][None], v[body.name][None]) for body in soft_meshes(structure)]


def moving_meshes(structure: Structure, nodes: Nodes) -> list[MovingMesh]:
    """Return the deformable bodies with their motion."""
    x, v = (by_body(structure, nodes, array) for array in ("vertices", "vertex_velocities"))
    return [MovingMesh(body, x[body.name], v[body.name]) for body in soft_meshes(structure)]
