"""The motion of vertices in the nodes of a run."""

from varint.model.forces.soft_mesh import soft_meshes
from varint.record import Record

OF_VERTICES = ("vertices", "vertex_velocities")  # arrays of nodes


def check_vertices(record: Record) -> None:
    """Raise ValueError where a record does not hold the motion of its deformable bodies."""
    bodies = soft_meshes(record.mechanism)
    if bodies:
        shape = (len(record.nodes["t"]), sum(body.count for body in bodies), 3)
        for name in OF_VERTICES:
            if name not in record.nodes or record.nodes[name].shape != shape:
                raise ValueError(f"its '{name}' are not those of its deformable bodies")
