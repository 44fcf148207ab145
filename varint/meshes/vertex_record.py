"""The motion of vertices in the nodes of a run."""

import numpy as np

from varint.mechanism import Mechanism
from varint.model.forces.soft_mesh import soft_meshes
from varint.record import Record

LOST = "lost"  # (meshes,) J, by damping since the start, in what a node is made of
OF_VERTICES = ("vertices", "vertex_velocities")  # arrays of nodes


def check_vertices(record: Record) -> None:
    """Raise ValueError where a record does not hold the motion of its deformable bodies."""
    bodies = soft_meshes(record.mechanism)
    if bodies:
        shape = (len(record.nodes["t"]), sum(body.count for body in bodies), 3)
        for name in OF_VERTICES:
            if name not in record.nodes or record.nodes[name].shape != shape:
                raise ValueError(f"its '{name}' are not those of its deformable bodies")


def subtract_lost(mechanism: Mechanism, work: np.ndarray, lost: np.ndarray) -> None:
    """Subtract what damping ``lost`` (T, meshes), J, from the ``work`` (T, forces) of the forces of the meshes."""
    names = [force.name for force in mechanism.forces]
    work[:, [names.index(body.name) for body in soft_meshes(mechanism)]] -= lost
