"""The present node of a collocation step in the arrays of the other steps, which project, record and have impacts."""

import math

from varint.base.numba import natural, njit
from varint.step.configuration import place
from varint.step.roles import place_role_rows


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
