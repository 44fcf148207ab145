"""Depths by which shapes of two bodies overlap at recorded nodes."""

from varint.base.numba import njit
from varint.step.configuration import place_node
from varint.step.contacts.finding import depth_of_pair


@njit(seconds=4, what="depths of contacts")
def depths_of_pairs(plan, ws, position, quat, out):
    """Write the depths of the pairs of shapes, m, to ``out`` (T, pairs), at position (T, nb, 3), quat (T, nb, 4)."""
    for node in range(out.shape[0]):
        place_node(plan, ws, position[node], quat[node])
        for p in range(out.shape[1]):
            out[node, p] = depth_of_pair(plan, ws, 0, p)
