"""Poses and velocities of bodies that others carry, at recorded nodes; the kernel has their carriers alone."""

from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float2, Float3, Int1, njit
from varint.mathematics.quaternion import multiply, rotation_matrix
from varint.mathematics.vectors import add, cross, rotate, rotate_back, vector


@dataclass(frozen=True, eq=False)
class WeldTable(CompiledRecord):
    """Places of the n bodies of the description on bodies of the kernel (plan/welds.py)."""

    slot: Int1  # (n,) of the body that carries each, nb for the world
    merged: Int1  # (n,) 1 where the body of the slot is more than this one
    offset: Float2  # (n, 3) centre of mass from that of the body of the slot, m, axes of that
    turn: Float2  # (n, 4) quaternion of its axes in axes of the body of the slot
    axes: Float3  # (n, 3, 3) the same as a matrix


@njit(seconds=1, what="bodies that are welded to others")
def spread_nodes(welds, nodes, R, position, quat, velocity, spin):
    """Write the motion of all bodies at T nodes, in the order of the description.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4) and velocity (T, nb, 6) of the kernel; position (T, n, 3), quat
    (T, n, 4), velocity (T, n, 3), world, and spin (T, n, 3), body axes, of the bodies. ``R`` (3, 3): scratch.
    """
    x, q, u = nodes
    for t in range(position.shape[0]):
        for i in range(welds.slot.size):
            s, offset = welds.slot[i], vector(welds.offset[i])
            if s == x.shape[1]:
                for c in range(3):
                    position[t, i, c], velocity[t, i, c], spin[t, i, c] = offset[c], 0.0, 0.0
                for c in range(4):
                    quat[t, i, c] = welds.turn[i, c]
            elif welds.merged[i] == 0:
                for c in range(3):
                    position[t, i, c], velocity[t, i, c], spin[t, i, c] = x[t, s, c], u[t, s, c], u[t, s, 3 + c]
                for c in range(4):
                    quat[t, i, c] = q[t, s, c]
            else:
                rotation_matrix(q[t, s], R)
                w, turned = vector(u[t, s, 3:]), multiply(q[t, s], welds.turn[i])
                far, fast = rotate(R, offset), rotate(R, cross(w, offset))
                far, fast = add(vector(x[t, s]), far), add(vector(u[t, s]), fast)
                turning = rotate_back(welds.axes[i], w)
                for c in range(3):
                    position[t, i, c], velocity[t, i, c], spin[t, i, c] = far[c], fast[c], turning[c]
                for c in range(4):
                    quat[t, i, c] = turned[c]
