"""Wrenches of the nodes and their projection on the coordinates: the inward half of the inverse dynamics.

With r = x - x_parent a wrench (torque, force) of a node is (torque + r x force, force) at its parent.
"""

from numpy import ndarray

from varint._jit import njit
from varint.kernels.gauges import cross, turned, turned_back
from varint.redmax.kernels.records import Nodes, ReducedWorkspace


@njit
def bias_wrenches(nodes: Nodes, work: ReducedWorkspace, gravity: ndarray, load: ndarray) -> None:
    """``work.wrench``: what the motion of each node takes at zero acceleration, w x I w, less its loads.

    ``gravity`` (3,) m/s^2; ``load`` (nb, 6) of the bodies: force, N, world, and torque, N m, body axes.
    """
    for i in range(nodes.mass.size):
        f, w, F, I = work.wrench[i], work.twist[i], work.axes[i], nodes.inertia[i]
        f[:] = 0.0
        if nodes.mass[i] > 0.0:
            own = turned_back(F, w)
            gyroscopic = turned(F, cross(own, turned(I, own)))
            for m in range(3):
                f[m] = gyroscopic[m]
    work.wrench[nodes.mass.size] = 0.0
    subtract_loads(nodes, work, gravity, load)


@njit
def subtract_loads(nodes: Nodes, work: ReducedWorkspace, gravity: ndarray, load: ndarray) -> None:
    """Subtract gravity and the ``load`` of the bodies, as in `bias_wrenches`, from ``work.wrench``."""
    for b in range(nodes.body_node.size):
        i = nodes.body_node[b]
        f, torque = work.wrench[i], turned(work.rotation[b], load[b, 3:])
        for m in range(3):
            f[m] -= torque[m]
            f[3 + m] -= load[b, m] + nodes.mass[i] * gravity[m]


@njit
def add_inertial_wrenches(nodes: Nodes, work: ReducedWorkspace, acceleration: ndarray, wrench: ndarray) -> None:
    """Add inertia times ``acceleration`` (nl + 1, 6) of the nodes to ``wrench`` (nl + 1, 6)."""
    for i in range(nodes.mass.size):
        if nodes.mass[i] > 0.0:
            F = work.axes[i]
            torque = turned(F, turned(nodes.inertia[i], turned_back(F, acceleration[i])))
            for m in range(3):
                wrench[i, m] += torque[m]
                wrench[i, 3 + m] += nodes.mass[i] * acceleration[i, 3 + m]


@njit
def transpose_product(nodes: Nodes, work: ReducedWorkspace, wrench: ndarray, out: ndarray) -> None:
    """``out`` (nq,) = J^T ``wrench``, efforts, N, N m, in O(n).

    ``wrench`` (nl + 1, 6) of the nodes becomes that of all nodes beyond each joint.
    """
    S = work.subspace
    for i in range(nodes.parent.size - 1, -1, -1):
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            out[n] = dot6(S[n], wrench[i])
        add_to_parent(work.point, i, nodes.parent[i], wrench)


@njit
def dot6(a: ndarray, b: ndarray) -> float:
    """a . b of six numbers."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@njit
def add_to_parent(x: ndarray, i: int, p: int, wrench: ndarray) -> None:
    """Add the wrench of node ``i`` to that of its parent ``p``, both in ``wrench`` (nl + 1, 6)."""
    f, out = wrench[i], wrench[p]
    lever = cross((x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]), (f[3], f[4], f[5]))
    for m in range(3):
        out[m] += f[m] + lever[m]
        out[3 + m] += f[3 + m]


@njit
def reduced_rows(nodes: Nodes, work: ReducedWorkspace, side: ndarray, jacobian: ndarray, out: ndarray) -> None:
    """``out`` (m, nq): rows times J, in O(n) each.

    ``side`` (m, 2): numbers of the bodies that a row is about, ``jacobian`` (m, 2, 6): the row by their motions.
    """
    nb, wrench = nodes.body_node.size, work.wrench
    for r in range(side.shape[0]):
        wrench[:] = 0.0
        for s in range(2):
            b = side[r, s]
            if b < nb:
                f, torque = wrench[nodes.body_node[b]], turned(work.rotation[b], jacobian[r, s, 3:])
                for m in range(3):
                    f[m] += torque[m]
                    f[3 + m] += jacobian[r, s, m]
        transpose_product(nodes, work, wrench, out[r])
