"""Rows of the loop closures, pulled back to reduced coordinates."""

from varint._numba import njit
from varint.kernels.gauges import turned
from varint.redmax.kernels.articulated import gather, pull_back


@njit
def pull_rows(parent, kind, column, body_node, x, S, rotation, side, jacobian, wrench, G):
    """``G`` (m, nq): J^T times each row; ``side`` (m, 2) body slots, ``jacobian`` (m, 2, 6) by their motions."""
    nb = body_node.size
    for r in range(side.shape[0]):
        wrench[:] = 0.0
        for s in range(2):
            b = side[r, s]
            if b < nb:
                f, torque = wrench[body_node[b]], turned(rotation[b], jacobian[r, s, 3:])
                for m in range(3):
                    f[m] += torque[m]
                    f[3 + m] += jacobian[r, s, m]
        pull_back(parent, kind, column, x, S, wrench, G[r])


@njit
def gather_rows(parent, kind, column, x, S, driven, hull, U, L, bias, wrench, G):
    """`gather` of each row of ``G`` (m, nq), in place; ``bias`` zero."""
    for r in range(G.shape[0]):
        wrench[:] = 0.0
        gather(parent, kind, column, x, S, driven, hull, U, L, bias, wrench, G[r])
