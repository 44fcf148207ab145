"""Wrenches of the nodes and their projection on the coordinates: the inward half of the inverse dynamics.

With r = x - x_parent a wrench (torque, force) of a node is (torque + r x force, force) at its parent.
"""

from varint.base.numba import Float1, Float2, Float3, Int2, njit
from varint.mathematics.vectors import cross, rotate, rotate_back
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace


@njit
def bias_wrenches(work: ReducedWorkspace, gravity: Float1, load: Float2) -> None:
    """Write the wrench that moves each node at zero acceleration, w x I w, less its loads, to ``work.wrench``.

    ``gravity`` (3,), m/s^2; ``load`` (nb, 6) of the bodies: force, N, world, and torque, N m, body axes.
    """
    nodes = work.nodes
    for i in range(nodes.mass.size):
        f, w, F, I = work.wrench[i], work.twist[i], work.axes[i], nodes.inertia[i]
        f[:] = 0.0
        if nodes.mass[i] > 0.0:
            spin = rotate_back(F, w)
            gyroscopic = rotate(F, cross(spin, rotate(I, spin)))
            for m in range(3):
                f[m] = gyroscopic[m]
    work.wrench[nodes.mass.size] = 0.0
    subtract_loads(work, gravity, load)


@njit
def subtract_loads(work: ReducedWorkspace, gravity: Float1, load: Float2) -> None:
    """Subtract ``gravity`` (3,) and the ``load`` (nb, 6) of the bodies, as in `bias_wrenches`, from ``work.wrench``."""
    nodes = work.nodes
    for b in range(nodes.body_node.size):
        i = nodes.body_node[b]
        f, torque = work.wrench[i], rotate(work.rotation[b], load[b, 3:])
        for m in range(3):
            f[m] -= torque[m]
            f[3 + m] -= load[b, m] + nodes.mass[i] * gravity[m]


@njit
def add_inertial_wrenches(work: ReducedWorkspace, acceleration: Float2, wrench: Float2) -> None:
    """Add inertia times ``acceleration`` (nl + 1, 6) of the nodes to ``wrench`` (nl + 1, 6)."""
    nodes = work.nodes
    for i in range(nodes.mass.size):
        if nodes.mass[i] > 0.0:
            F = work.axes[i]
            torque = rotate(F, rotate(nodes.inertia[i], rotate_back(F, acceleration[i])))
            for m in range(3):
                wrench[i, m] += torque[m]
                wrench[i, 3 + m] += nodes.mass[i] * acceleration[i, 3 + m]


@njit
def transpose_product(work: ReducedWorkspace, wrench: Float2, out: Float1) -> None:
    """Write J^T ``wrench``, efforts, N, N m, to ``out`` (nq,), in O(n).

    ``wrench`` (nl + 1, 6) of the nodes is summed in place over all nodes beyond each joint.
    """
    nodes = work.nodes
    S = work.subspace
    for i in range(nodes.parent.size - 1, -1, -1):
        for n in range(nodes.column[i], nodes.column[i] + nodes.dof[i]):
            out[n] = dot6(S[n], wrench[i])
        add_to_parent(work.point, i, nodes.parent[i], wrench)


@njit
def dot6(a: Float1, b: Float1) -> float:
    """Return a . b of ``a``, ``b`` (6,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@njit
def add_to_parent(x: Float2, i: int, p: int, wrench: Float2) -> None:
    """Add the wrench of node ``i`` to its parent's, ``p``, both in ``wrench`` (nl + 1, 6).

    ``x`` (nl + 1, 3): points of the nodes, m, world.
    """
    f, out = wrench[i], wrench[p]
    lever = cross((x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]), (f[3], f[4], f[5]))
    for m in range(3):
        out[m] += f[m] + lever[m]
        out[3 + m] += f[3 + m]


@njit
def reduced_rows(work: ReducedWorkspace, side: Int2, jacobian: Float3, out: Float2) -> None:
    """Write rows times J to the first m rows of ``out`` (m or more, nq), in O(n) each.

    ``side`` (m, 2): numbers of the bodies that a row is about, ``jacobian`` (m, 2, 6): the row by their motions. Uses
    ``work.wrench``.
    """
    nodes = work.nodes
    nb, wrench = nodes.body_node.size, work.wrench
    for r in range(side.shape[0]):
        wrench[:] = 0.0
        for s in range(2):
            b = side[r, s]
            if b < nb:
                f, torque = wrench[nodes.body_node[b]], rotate(work.rotation[b], jacobian[r, s, 3:])
                for m in range(3):
                    f[m] += torque[m]
                    f[3 + m] += jacobian[r, s, m]
        transpose_product(work, wrench, out[r])
