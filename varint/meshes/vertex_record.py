"""The motion of vertices in the nodes of a run."""

from typing import Any

import numpy as np

from varint.model.forces.soft_mesh import soft_meshes
from varint.model.structure import Structure

LOST = "lost"  # (meshes,) J, by damping since the start, in what a node is made of
OF_VERTICES = ("vertices", "vertex_velocities")  # arrays of nodes


def check_vertices(structure: Structure, nodes: Any) -> None:
    """Raise ValueError where the `Nodes` of a record do not hold the motion of the deformable bodies."""
    bodies = soft_meshes(structure)
    if bodies:
        shape = (len(nodes["t"]), sum(body.count for body in bodies), 3)
        for name in OF_VERTICES:
            if name not in nodes or nodes[name].shape != shape:
                raise ValueError(f"its '{name}' are not those of its deformable bodies")


def subtract_lost(structure: Structure, work: np.ndarray, lost: np.ndarray) -> None:
    """Subtract the damping ``lost`` (T, meshes), J, from the ``work`` (T, forces) of the forces of the meshes."""
    names = [force.name for force in structure.forces]
    work[:, [names.index(body.name) for body in soft_meshes(structure)]] -= lost
