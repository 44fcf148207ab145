"""Depths by which shapes of two bodies overlap at recorded nodes."""

from varint.base.numba import njit
from varint.mathematics.quaternion import rotation_matrix
from varint.step.contacts.finding import depth_of_pair


@njit(seconds=4, what="depths of contacts")
def depths_of_pairs(plan, ws, position, quat, out):
    """Write the depths of the pairs of shapes, m, to ``out`` (T, pairs), at position (T, nb, 3), quat (T, nb, 4).

    Rows are not evaluated: no other function of a step has to be compiled. Writes ``ws.position`` and ``ws.rotation``.
    """
    for node in range(out.shape[0]):
        for i in range(plan.bodies.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            rotation_matrix(quat[node, i], ws.rotation[0, i])
        for p in range(out.shape[1]):
            out[node, p] = depth_of_pair(plan, ws, 0, p)
