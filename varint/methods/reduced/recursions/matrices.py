"""J and dJ/dt as dense matrices, from the root to the leaves (DIFF Algorithm 5)."""

from varint.base.numba import Float2, Float3, njit
from varint.mathematics.vectors import cross
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace


@njit
def jacobian(work: ReducedWorkspace, J: Float3) -> None:
    """Write ``J`` (nl + 1, 6, nq): twists of the nodes by the rates, after `kinematics.place`.

    The world's, the last, must be zero.
    """
    nodes = work.nodes
    x, S = work.point, work.subspace
    for i in range(nodes.parent.size):
        p, k = nodes.parent[i], nodes.column[i]
        _shift_columns(J[p], (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]), J[i])
        for n in range(k, k + nodes.dof[i]):
            for m in range(6):
                J[i, m, n] += S[n, m]


@njit
def jacobian_rate(work: ReducedWorkspace, J: Float3, Jdot: Float3) -> None:
    """Write ``Jdot`` (nl + 1, 6, nq), the time derivative of ``J`` (nl + 1, 6, nq) of `jacobian`.

    After `kinematics.move`.
    """
    nodes = work.nodes
    x, twist, Sdot = work.point, work.twist, work.subspace_rate
    for i in range(nodes.parent.size):
        p, k = nodes.parent[i], nodes.column[i]
        dr = (twist[i, 3] - twist[p, 3], twist[i, 4] - twist[p, 4], twist[i, 5] - twist[p, 5])
        _shift_columns(Jdot[p], (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]), Jdot[i])
        for n in range(J.shape[2]):
            more = cross((J[p, 0, n], J[p, 1, n], J[p, 2, n]), dr)
            for m in range(3):
                Jdot[i, 3 + m, n] += more[m]
        for n in range(k, k + nodes.dof[i]):
            for m in range(6):
                Jdot[i, m, n] += Sdot[n, m]


@njit
def _shift_columns(P: Float2, r: tuple, out: Float2) -> None:
    """Write the twists in the columns of ``P`` (6, nq) at a point ``r``, m, from the parent's to ``out`` (6, nq)."""
    for n in range(P.shape[1]):
        lever = cross((P[0, n], P[1, n], P[2, n]), r)
        for m in range(3):
            out[m, n] = P[m, n]
            out[3 + m, n] = P[3 + m, n] + lever[m]


@njit
def jacobian_to_bodies(work: ReducedWorkspace, J: Float3, out: Float3) -> None:
    """Write velocities of the bodies by the rates to ``out`` (nb, 6, nq), linear, world, and angular, body axes.

    ``J`` (nl + 1, 6, nq): see `jacobian`.
    """
    nodes = work.nodes
    for b in range(nodes.body_node.size):
        N, R = J[nodes.body_node[b]], work.rotation[b]
        for n in range(J.shape[2]):
            for m in range(3):
                out[b, m, n] = N[3 + m, n]
                out[b, 3 + m, n] = R[0, m] * N[0, n] + R[1, m] * N[1, n] + R[2, m] * N[2, n]


@njit
def jacobian_rate_to_bodies(work: ReducedWorkspace, J: Float3, Jdot: Float3, out: Float3) -> None:
    """Write the time derivative of `jacobian_to_bodies` to ``out`` (nb, 6, nq); angular rows R^T (Jdot - w x J).

    ``J``, ``Jdot`` (nl + 1, 6, nq): see `jacobian`, `jacobian_rate`.
    """
    nodes = work.nodes
    for b in range(nodes.body_node.size):
        i, R = nodes.body_node[b], work.rotation[b]
        w = work.twist[i]
        for n in range(J.shape[2]):
            turn = cross(w, (J[i, 0, n], J[i, 1, n], J[i, 2, n]))
            d0, d1, d2 = Jdot[i, 0, n] - turn[0], Jdot[i, 1, n] - turn[1], Jdot[i, 2, n] - turn[2]
            for m in range(3):
                out[b, m, n] = Jdot[i, 3 + m, n]
                out[b, 3 + m, n] = R[0, m] * d0 + R[1, m] * d1 + R[2, m] * d2
