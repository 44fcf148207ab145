"""The articulated-body algorithm: forward dynamics, and the inverse of the reduced inertia times a vector, in O(n).

DIFF Algorithms 9 and 10, in world axes at the reference point of each node. There the change of reference point from
a node to its parent is a shift by r = x - x_parent: accelerations go by X (w', v') = (w', v' + w' x r), wrenches by
X^T. The articulated-body inertia of a node, of itself and all that its children carry, is I = [A B; B^T C], angular
part first.

`factor` eliminates the joints from the leaves to the root, M_r = (1 + K) D (1 + K)^T with D = S^T I S of each joint =
L L^T. `inward_pass` applies L^-1 (1 + K)^-1, `outward_pass` the transpose of that. Nodes whose motion is prescribed
are not eliminated.
"""

import math

from varint.base.numba import Float1, Float2, Float3, Int2, njit
from varint.mathematics.vectors import cross
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TreeNodes
from varint.methods.reduced.recursions.wrenches import add_to_parent, bias_wrenches, dot6, reduced_rows

A, B, C = range(3)  # blocks of an articulated-body inertia


@njit(seconds=2, what="reduced coordinates")
def inward_dynamics(work: ReducedWorkspace, gravity: Float1, load: Float2, u: Float1) -> None:
    """Write the bias wrenches, ``work.wrench``, and the factors, see `factor`; pass the efforts ``u`` (nq,) inward.

    ``gravity`` (3,), m/s^2; ``load`` (nb, 6): force, N, world, and torque, N m, body axes. See `inward_pass`.
    """
    bias_wrenches(work, gravity, load)
    factor(work)
    inward_pass(work, work.bias, u)


@njit
def factor(work: ReducedWorkspace) -> None:
    """Write articulated-body inertias, ``work.inertia``, and the factors ``work.U``, ``work.L``; after `place`."""
    nodes = work.nodes
    nl, x = nodes.parent.size, work.point
    for i in range(nl + 1):
        _write_own_inertia(nodes, work.axes[i], i, work.inertia[i])
    for i in range(nl - 1, -1, -1):
        p, H = nodes.parent[i], work.inertia[i]
        if nodes.dof[i] > 0 and not work.prescribed[i]:
            _eliminate_joint(work.subspace, nodes.column[i], nodes.dof[i], H, work.U, work.L)
        if p < nl:
            _add_inertia_to_parent(H, x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2], work.inertia[p])


@njit
def _write_own_inertia(nodes: TreeNodes, F: Float2, i: int, H: Float3) -> None:
    """Write the inertia ``H`` (3, 3, 3) of node i alone, in world axes; its axes are ``F`` (3, 3)."""
    if i == nodes.mass.size or nodes.mass[i] == 0.0:
        H[:] = 0.0
        return
    I = nodes.inertia[i]
    for j in range(3):
        t0 = F[j, 0] * I[0, 0] + F[j, 1] * I[1, 0] + F[j, 2] * I[2, 0]
        t1 = F[j, 0] * I[0, 1] + F[j, 1] * I[1, 1] + F[j, 2] * I[2, 1]
        t2 = F[j, 0] * I[0, 2] + F[j, 1] * I[1, 2] + F[j, 2] * I[2, 2]
        for k in range(3):
            H[A, j, k] = t0 * F[k, 0] + t1 * F[k, 1] + t2 * F[k, 2]
            H[B, j, k] = 0.0
            H[C, j, k] = 0.0
        H[C, j, j] = nodes.mass[i]


@njit
def _eliminate_joint(S: Float2, k: int, dof: int, H: Float3, U: Float2, L: Float2) -> None:
    """Subtract H S D^-1 S^T H from ``H`` (3, 3, 3), with D = S^T H S = L L^T.

    Rows k : k + dof of ``U`` (nq, 6) become H S L^-T, and of ``L`` (nq, 3) the factor. ``S`` (nq, 6): motion subspaces.
    """
    for n in range(k, k + dof):
        s, u = S[n], U[n]
        for m in range(3):
            u[m] = H[A, m, 0] * s[0] + H[A, m, 1] * s[1] + H[A, m, 2] * s[2]
            u[m] += H[B, m, 0] * s[3] + H[B, m, 1] * s[4] + H[B, m, 2] * s[5]
            u[3 + m] = H[B, 0, m] * s[0] + H[B, 1, m] * s[1] + H[B, 2, m] * s[2]
            u[3 + m] += H[C, m, 0] * s[3] + H[C, m, 1] * s[4] + H[C, m, 2] * s[5]
    _cholesky(S, U, k, dof, L)
    for i in range(dof):
        u = U[k + i]
        scale = 1.0 / L[k + i, i]
        for m in range(6):
            for n in range(i):
                u[m] -= L[k + i, n] * U[k + n, m]
            u[m] *= scale
        for m in range(3):
            for n in range(3):
                H[A, m, n] -= u[m] * u[n]
                H[B, m, n] -= u[m] * u[3 + n]
                H[C, m, n] -= u[3 + m] * u[3 + n]


@njit
def _cholesky(S: Float2, U: Float2, k: int, dof: int, L: Float2) -> None:
    """Write L with L L^T = S^T U, lower triangle, to rows k : k + dof of ``L`` (nq, 3).

    ``S``, ``U`` (nq, 6): of the same rows.
    """
    for i in range(dof):
        for j in range(i + 1):
            total = dot6(S[k + i], U[k + j])
            for n in range(j):
                total -= L[k + i, n] * L[k + j, n]
            L[k + i, j] = math.sqrt(total) if i == j else total / L[k + j, j]


@njit
def _add_inertia_to_parent(H: Float3, r0: float, r1: float, r2: float, P: Float3) -> None:
    """Add X^T H X of ``H`` (3, 3, 3) to ``P`` (3, 3, 3): C, B' = B + [r] C, A + [r] B^T - B' [r].

    r0, r1, r2: m, world, from the parent.
    """
    r = (r0, r1, r2)
    for m in range(3):
        m1, m2 = (m + 1) % 3, (m + 2) % 3
        b0 = H[B, m, 0] + r[m1] * H[C, m2, 0] - r[m2] * H[C, m1, 0]
        b1 = H[B, m, 1] + r[m1] * H[C, m2, 1] - r[m2] * H[C, m1, 1]
        b2 = H[B, m, 2] + r[m1] * H[C, m2, 2] - r[m2] * H[C, m1, 2]
        P[A, m, 0] += H[A, m, 0] + r[m1] * H[B, 0, m2] - r[m2] * H[B, 0, m1] - b1 * r2 + b2 * r1
        P[A, m, 1] += H[A, m, 1] + r[m1] * H[B, 1, m2] - r[m2] * H[B, 1, m1] - b2 * r0 + b0 * r2
        P[A, m, 2] += H[A, m, 2] + r[m1] * H[B, 2, m2] - r[m2] * H[B, 2, m1] - b0 * r1 + b1 * r0
        P[B, m, 0] += b0
        P[B, m, 1] += b1
        P[B, m, 2] += b2
        P[C, m, 0] += H[C, m, 0]
        P[C, m, 1] += H[C, m, 1]
        P[C, m, 2] += H[C, m, 2]


@njit
def inward_pass(work: ReducedWorkspace, bias: Float2, u: Float1) -> None:
    """Pass from leaves to root: ``u`` (nq,), efforts, N, N m, becomes L^-1 (1 + K)^-1 (u - J^T wrench).

    ``work.wrench``: wrench that moves each node at zero acceleration; it is changed. ``bias`` (nl, 6): the bias
    accelerations, which of prescribed nodes hold S ddq as well.
    """
    nodes = work.nodes
    S, U, L = work.subspace, work.U, work.L
    for i in range(nodes.parent.size - 1, -1, -1):
        k, f, c, H, dof = nodes.column[i], work.wrench[i], bias[i], work.inertia[i], nodes.dof[i]
        eliminated = dof > 0 and not work.prescribed[i]
        if eliminated:
            for n in range(dof):
                u[k + n] -= dot6(S[k + n], f)
                for m in range(n):
                    u[k + n] -= L[k + n, m] * u[k + m]
                u[k + n] /= L[k + n, n]
        if nodes.parent[i] == nodes.parent.size:
            continue
        if eliminated:
            for n in range(k, k + dof):
                for m in range(6):
                    f[m] += U[n, m] * u[n]
        for m in range(3):
            f[m] += H[A, m, 0] * c[0] + H[A, m, 1] * c[1] + H[A, m, 2] * c[2]
            f[m] += H[B, m, 0] * c[3] + H[B, m, 1] * c[4] + H[B, m, 2] * c[5]
            f[3 + m] += H[B, 0, m] * c[0] + H[B, 1, m] * c[1] + H[B, 2, m] * c[2]
            f[3 + m] += H[C, m, 0] * c[3] + H[C, m, 1] * c[4] + H[C, m, 2] * c[5]
        add_to_parent(work.point, i, nodes.parent[i], work.wrench)


@njit
def scaled_rows(work: ReducedWorkspace, side: Int2, jacobian: Float3, bias: Float2, G: Float2) -> None:
    """Write ``G`` (m, nq) = G (1 + K)^-T L^-T; its first rows are made by `reduced_rows`.

    ``side`` (n, 2), ``jacobian`` (n, 2, 6): see there; ``bias`` (nl, 6): zero. Uses ``work.wrench``.
    """
    reduced_rows(work, side, jacobian, G)
    for r in range(G.shape[0]):
        work.wrench[:] = 0.0
        inward_pass(work, bias, G[r])


@njit
def outward_pass(work: ReducedWorkspace, bias: Float2, u: Float1) -> None:
    """Pass from root to leaves: ``u`` (nq,) of `inward_pass` is replaced by (1 + K)^-T L^-T u, which is ddq.

    Also writes the accelerations of the nodes, ``work.acceleration``. ``bias`` (nl, 6): as in `inward_pass`.
    """
    nodes = work.nodes
    S, U, L, x = work.subspace, work.U, work.L, work.point
    for i in range(nodes.parent.size):
        p, k, dof = nodes.parent[i], nodes.column[i], nodes.dof[i]
        a, ap = work.acceleration[i], work.acceleration[p]
        shift = cross(ap, (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]))
        for m in range(3):
            a[m] = ap[m] + bias[i, m]
            a[3 + m] = ap[3 + m] + shift[m] + bias[i, 3 + m]
        if dof == 0 or work.prescribed[i]:
            continue
        for n in range(dof):
            u[k + n] -= dot6(U[k + n], a)
        for n in range(dof - 1, -1, -1):
            for m in range(n + 1, dof):
                u[k + n] -= L[k + m, n] * u[k + m]
            u[k + n] /= L[k + n, n]
        for n in range(k, k + dof):
            for m in range(6):
                a[m] += S[n, m] * u[n]
