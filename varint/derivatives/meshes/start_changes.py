"""Starts of the vertices of deformable bodies and nets with bodies elsewhere, for derivatives by differences."""

from functools import partial

import numpy as np

from varint.derivatives.numbers import Differences
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_start import start_along
from varint.model.rotation_vectors import matrix_from_vector

TURN = 1e-3  # rad, share of the size of a part and of the largest velocity: steps of differences of the start

BodiesAtStart = tuple[np.ndarray, np.ndarray, np.ndarray]  # positions, rotations, velocities, as `MeshStart` has them


class MeshStart:
    """The start of all vertices, with bodies at ``position`` (nb + 1, 3), ``rotation``, of velocities ``motion``.

    ``start``: of the vertices, see `start_along`.

    x, v : (n, 3) m, m/s
    """

    def __init__(
        self, meshes: AttachedMeshes, position: np.ndarray, rotation: np.ndarray, motion: np.ndarray,
        start: np.ndarray | None,
    ) -> None:  # fmt: skip
        self.meshes, self.rotation = meshes, rotation
        self.x, self.v = start_along(meshes, position, rotation, motion, start)


MovedStart = tuple[int, int, Differences[MeshStart]]


def moved_starts(
    meshes: AttachedMeshes, bodies: BodiesAtStart, length: float, start: np.ndarray | None
) -> list[MovedStart]:
    """Return slot of a body that holds vertices, number 0 to 11 of an entry of its state, starts changed along that.

    ``length``: size of a part, m. ``start``: see `MeshStart`.
    """
    position, rotation, motion = bodies
    fastest = max(1.0, float(np.abs(motion).max(initial=0.0)))
    steps = np.repeat([length, 1.0, fastest, fastest], 3) * TURN

    def moved(i: int, c: int, share: float) -> MeshStart:
        places, turns, speeds = position.copy(), rotation.copy(), motion.copy()
        if c < 3:
            places[i, c] += share
        elif c < 6:
            turns[i] = turns[i] @ matrix_from_vector(share * np.eye(3)[c - 3])
        else:
            speeds[i, c - 6] += share
        return MeshStart(meshes, places, turns, speeds, start)

    return [(i, c, Differences(partial(moved, i, c), steps[c])) for i in meshes.slots.tolist() for c in range(12)]
