"""States of mechanisms with deformable bodies or nets: poses and velocities of bodies and of vertices."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from varint.base.checks import array_of
from varint.base.display import count_text
from varint.base.errors import StateError
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.state import State
from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class MeshState(State):
    """Pose and velocity of all bodies, and of the vertices of deformable bodies and nets.

    A run that starts from it uses the places and velocities of its free vertices; attached ones follow the bodies.
    """

    vertices: Mapping[str, np.ndarray]  # name of a deformable body or net to places (n, 3), m, world
    vertex_velocities: Mapping[str, np.ndarray]  # the same to velocities (n, 3), m/s, world

    @property
    def all_vertices(self) -> np.ndarray:
        """Return places and velocities (2, n, 3) of all vertices, one mesh after another."""
        return np.array([np.concatenate([*arrays.values()]) for arrays in (self.vertices, self.vertex_velocities)])

    def of_vertices(self, motion: np.ndarray) -> "MeshState":
        """Return the state with the places, m, and velocities, m/s, ``motion`` (2, n, 3) of all vertices."""
        ends = np.cumsum([len(places) for places in self.vertices.values()])
        parts = [dict(zip(self.vertices, np.split(each, ends[:-1]), strict=True)) for each in motion]
        return replace(self, vertices=parts[0], vertex_velocities=parts[1])

    def _facts(self) -> Iterable[str]:
        yield from super()._facts()
        if self._is_whole:
            yield from (f"{count_text(len(x), 'vertex', 'vertices')} of '{name}'" for name, x in self.vertices.items())


def by_mesh(structure: Structure, array: np.ndarray) -> dict[str, np.ndarray]:
    """Return the part (..., n, 3) of each deformable body or net, by name, of ``array`` (..., N, 3), all vertices."""
    first, parts = 0, {}
    for body in soft_meshes(structure):
        last = first + body.count
        parts[body.name] = array[..., first:last, :]
        first = last
    return parts


def vertices_of(structure: Structure, state: object) -> np.ndarray | None:
    """Return places, m, and velocities, m/s, world, (2, n, 3) of all vertices in an initial ``state``.

    None if the state has no vertices. Raises StateError if its names or numbers of vertices differ from those of the
    deformable bodies and nets of ``structure``.
    """
    if not isinstance(state, MeshState):
        return None
    wanted = {body.name: (body.count, 3) for body in soft_meshes(structure)}
    arrays = []
    for key, by_name in (("vertices", state.vertices), ("vertex_velocities", state.vertex_velocities)):
        if set(by_name) != set(wanted):
            names = ", ".join(map(repr, wanted)) or "none"
            raise StateError(f"{key} of the state must be those of the deformable bodies and nets, {names}")
        parts = [array_of(by_name[name], shape, f"{key} of '{name}'", StateError) for name, shape in wanted.items()]
        arrays.append(np.concatenate([*parts, np.zeros((0, 3))]))
    return np.array(arrays)


def with_vertices(structure: Structure, state: State, motion: np.ndarray) -> State:
    """Return ``state`` with places, m, and velocities, m/s, world, ``motion`` (2, n, 3) of all vertices.

    Returns ``state`` itself if n is zero.
    """
    if not motion.size:
        return state
    parts = (by_mesh(structure, each) for each in motion)
    arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    return MeshState(*arrays, *parts, turns=state.turns, memory=state.memory, beyond_stops=state.beyond_stops)
