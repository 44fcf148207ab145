"""Nodes of a collocation step in the arrays of the other steps: poses and velocities of bodies, the present node."""

import math

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, dot, scale, vector, write
from varint.step.configuration import place
from varint.step.roles import place_role_rows

SHOWN = 1  # the pose of the workspace that shows a node


@njit
def show_bodies(tree, work, k):
    """Copy the poses of the bodies at node k, (slots, 3) and (slots, 3, 3), from their links."""
    for b in range(tree.link.size):
        n = natural(tree.link[b])
        for a in range(3):
            work.body_position[k, b, a] = work.position[k, n, a]
            for c in range(3):
                work.body_rotation[k, b, a, c] = work.rotation[k, n, a, c]


@njit
def copy_poses(work, k, position, rotation):
    """Copy the poses of the bodies at node k, after `show_bodies`, to ``position`` (nb, 3) and ``rotation``.

    ``rotation`` (nb, 3, 3); either may have the world after all bodies.
    """
    for b in range(work.body_position.shape[1]):
        for a in range(3):
            position[b, a] = work.body_position[k, b, a]
            for c in range(3):
                rotation[b, a, c] = work.body_rotation[k, b, a, c]


@njit
def bring_node(plan, ws, tree, work, pose):
    """Write poses and momenta at the present node to a ``pose``, 0 or 1, and ``ws.momentum`` (nb, 6); its rows."""
    for i in range(tree.link.size):
        n = natural(tree.link[i])
        R, p = work.rotation[0, n], work.momentum[n]
        write_quaternion(R, ws.quat[pose, i])
        for k in range(3):
            ws.position[pose, i, k], ws.momentum[i, k] = work.position[0, n, k], p[k]
            ws.momentum[i, 3 + k] = R[0, k] * p[3] + R[1, k] * p[4] + R[2, k] * p[5]
    place(plan, ws, pose)
    place_role_rows(plan, ws, pose)


@njit
def write_quaternion(R, q):
    """Write the unit quaternion of a rotation matrix, of the sign that is nearer to the one in ``q``."""
    x, y, z, trace = R[0, 0], R[1, 1], R[2, 2], R[0, 0] + R[1, 1] + R[2, 2]
    if trace >= max(x, max(y, z)):
        a, b, c, d = 1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif x >= max(y, z):
        a, b, c, d = R[2, 1] - R[1, 2], 1.0 + x - y - z, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]
    elif y >= z:
        a, b, c, d = R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 + y - x - z, R[1, 2] + R[2, 1]
    else:
        a, b, c, d = R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 + z - x - y
    share = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    if a * q[0] + b * q[1] + c * q[2] + d * q[3] < 0.0:
        share = -share
    q[0], q[1], q[2], q[3] = share * a, share * b, share * c, share * d


@njit
def write_velocities(tree, rule, work, velocity, h, j):
    """Write the velocities of all bodies at node j, angular ones in axes of the bodies, to ``velocity`` (nb, 6)."""
    for slot in range(velocity.shape[0]):
        i = natural(tree.link[slot])
        R, line = work.rotation[j, i], (0.0, 0.0, 0.0)
        a, b, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # rows of dR/dt
        for k in range(1, rule.weight.size):
            f, M = rule.slope[j, k] / h, work.change[k, i]
            line = add(line, scale(f, vector(work.shift[k, i])))
            a, b, c = add(a, scale(f, vector(M[0]))), add(b, scale(f, vector(M[1]))), add(c, scale(f, vector(M[2])))
        x, y, z = _column(a, b, c, 0), _column(a, b, c, 1), _column(a, b, c, 2)
        p, q, r = _column_of(R, 0), _column_of(R, 1), _column_of(R, 2)
        turn = dot(r, y) - dot(q, z), dot(p, z) - dot(r, x), dot(q, x) - dot(p, y)
        write(velocity[slot], line, scale(0.5, turn))


@njit(inline="always")
def _column(a, b, c, k):
    """Column k of a matrix of rows a, b, c (3,)."""
    return a[k], b[k], c[k]


@njit(inline="always")
def _column_of(R, k):
    return R[0, k], R[1, k], R[2, k]
