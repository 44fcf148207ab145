"""Articulated-body recursions: reduced inverse inertia times a vector, and forward dynamics, in O(n).

DIFF Algorithms 9 and 10, in world axes at the reference point of each node, where the way from a node to its parent
is a shift: with r = x - x_parent, accelerations go by X (w', v') = (w', v' + w' x r), wrenches by X^T.
The inertia of what hangs on a node is [A B; B^T C], angular part first.

`factor` eliminates the joints from the leaves on, M_r = (1 + K) D (1 + K)^T with D = S^T I S of each joint = L L^T.
`gather` applies L^-1 (1 + K)^-1, `spread` the transpose of that.
"""

import math

from varint._numba import njit
from varint.kernels.gauges import cross, turned, turned_back
from varint.redmax.kernels.kinematics import WELD, size_of

A, B, C = range(3)


@njit
def factor(parent, kind, column, mass, inertia, F, x, S, driven, hull, U, L):
    """Articulated inertias ``hull`` (nl + 1, 3, 3, 3): A, B, C; ``U`` = I S (nq, 6) and factors ``L`` (nq, 3).

    ``driven`` (nl,): nodes whose motion is given, and which are not eliminated.
    """
    nl = parent.size
    for i in range(nl + 1):
        _start(mass, inertia, F, i, hull[i])
    for i in range(nl - 1, -1, -1):
        k = column[i]
        H = hull[i]
        if kind[i] != WELD and not driven[i]:
            size = size_of(kind[i])
            for n in range(k, k + size):
                s, u = S[n], U[n]
                for m in range(3):
                    u[m] = H[A, m, 0] * s[0] + H[A, m, 1] * s[1] + H[A, m, 2] * s[2]
                    u[m] += H[B, m, 0] * s[3] + H[B, m, 1] * s[4] + H[B, m, 2] * s[5]
                    u[3 + m] = H[B, 0, m] * s[0] + H[B, 1, m] * s[1] + H[B, 2, m] * s[2]
                    u[3 + m] += H[C, m, 0] * s[3] + H[C, m, 1] * s[4] + H[C, m, 2] * s[5]
            _cholesky(S, U, k, size, L)
            _eliminate(U, k, size, L, H)
        p = parent[i]
        if p < nl:
            _hang(H, x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2], hull[p])


@njit
def _start(mass, inertia, F, i, H):
    """The inertia of the node itself."""
    if i == mass.size or mass[i] == 0.0:
        H[:] = 0.0
        return
    R, J = F[i], inertia[i]
    for j in range(3):
        t0 = R[j, 0] * J[0, 0] + R[j, 1] * J[1, 0] + R[j, 2] * J[2, 0]
        t1 = R[j, 0] * J[0, 1] + R[j, 1] * J[1, 1] + R[j, 2] * J[2, 1]
        t2 = R[j, 0] * J[0, 2] + R[j, 1] * J[1, 2] + R[j, 2] * J[2, 2]
        for k in range(3):
            H[A, j, k] = t0 * R[k, 0] + t1 * R[k, 1] + t2 * R[k, 2]
            H[B, j, k] = 0.0
            H[C, j, k] = 0.0
        H[C, j, j] = mass[i]


@njit
def _dot6(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@njit
def _cholesky(S, U, k, size, L):
    """L L^T = S^T U, lower triangle in rows k : k + size."""
    for i in range(size):
        for j in range(i + 1):
            total = _dot6(S[k + i], U[k + j])
            for n in range(j):
                total -= L[k + i, n] * L[k + j, n]
            L[k + i, j] = math.sqrt(total) if i == j else total / L[k + j, j]


@njit
def _eliminate(U, k, size, L, H):
    """H -= U D^-1 U^T; U becomes U L^-T on the way."""
    for i in range(size):
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
def _hang(H, r0, r1, r2, P):
    """P += X^T H X: C, B' = B + [r] C, A + [r] B^T - B' [r]."""
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
def wrenches(mass, inertia, F, twist, wrench):
    """The wrench (nl + 1, 6), (torque, force), that each node needs at zero acceleration: w x J w; else zero."""
    for i in range(mass.size):
        f, w, R, J = wrench[i], twist[i], F[i], inertia[i]
        f[:] = 0.0
        if mass[i] > 0.0:
            own = turned_back(R, w)
            gyroscopic = turned(R, cross(own, turned(J, own)))
            for m in range(3):
                f[m] = gyroscopic[m]
    wrench[mass.size] = 0.0


@njit
def add_loads(body_node, rotation, mass, gravity, load, wrench):
    """Take gravity and the ``load`` (nb, 6) of bodies, N, world, and N m, body axes, off the wrenches."""
    for b in range(body_node.size):
        i = body_node[b]
        torque = turned(rotation[b], load[b, 3:])
        for m in range(3):
            wrench[i, m] -= torque[m]
            wrench[i, 3 + m] -= load[b, m] + mass[i] * gravity[m]


@njit
def add_inertia(mass, inertia, F, acceleration, wrench):
    """Add what the accelerations (nl + 1, 6) of the nodes need to ``wrench`` (nl + 1, 6)."""
    for i in range(mass.size):
        if mass[i] > 0.0:
            own = turned(F[i], turned(inertia[i], turned_back(F[i], acceleration[i])))
            for m in range(3):
                wrench[i, m] += own[m]
                wrench[i, 3 + m] += mass[i] * acceleration[i, 3 + m]


@njit
def pull_back(parent, kind, column, x, S, wrench, out):
    """J^T wrench (nq,) in O(n) (DIFF Algorithm 6); changes ``wrench`` (nl + 1, 6)."""
    for i in range(parent.size - 1, -1, -1):
        f, p = wrench[i], parent[i]
        for n in range(column[i], column[i] + size_of(kind[i])):
            out[n] = _dot6(S[n], f)
        _pass_on(x, i, p, f, wrench[p])


@njit
def _pass_on(x, i, p, f, out):
    """Add the wrench ``f`` of node i to that of its parent."""
    lever = cross((x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]), (f[3], f[4], f[5]))
    for m in range(3):
        out[m] += f[m] + lever[m]
        out[3 + m] += f[3 + m]


@njit
def gather(parent, kind, column, x, S, driven, hull, U, L, bias, wrench, u):
    """From the leaves on: ``u`` (nq,), efforts, to L^-1 (1 + K)^-1 (u - J^T wrench); changes ``wrench`` (nl + 1, 6).

    A wrench is a (torque, force) that the motion of a node must overcome; ``bias`` (nl, 6) of `biases`, which of
    driven nodes holds their own acceleration as well.
    """
    for i in range(parent.size - 1, -1, -1):
        k, f, c, H = column[i], wrench[i], bias[i], hull[i]
        eliminated = kind[i] != WELD and not driven[i]
        size = size_of(kind[i])
        if eliminated:
            for n in range(size):
                u[k + n] -= _dot6(S[k + n], f)
                for m in range(n):
                    u[k + n] -= L[k + n, m] * u[k + m]
                u[k + n] /= L[k + n, n]
        if parent[i] == parent.size:
            continue
        if eliminated:
            for n in range(k, k + size):
                for m in range(6):
                    f[m] += U[n, m] * u[n]
        for m in range(3):
            f[m] += H[A, m, 0] * c[0] + H[A, m, 1] * c[1] + H[A, m, 2] * c[2]
            f[m] += H[B, m, 0] * c[3] + H[B, m, 1] * c[4] + H[B, m, 2] * c[5]
            f[3 + m] += H[B, 0, m] * c[0] + H[B, 1, m] * c[1] + H[B, 2, m] * c[2]
            f[3 + m] += H[C, m, 0] * c[3] + H[C, m, 1] * c[4] + H[C, m, 2] * c[5]
        _pass_on(x, i, parent[i], f, wrench[parent[i]])


@njit
def spread(parent, kind, column, x, S, driven, U, L, bias, u, acceleration):
    """From the root on: ``u`` (nq,) of `gather` to D^-1 (1 + K)^-T, and accelerations of the nodes (nl + 1, 6)."""
    for i in range(parent.size):
        p, k = parent[i], column[i]
        a, ap = acceleration[i], acceleration[p]
        shift = cross(ap, (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2]))
        for m in range(3):
            a[m] = ap[m] + bias[i, m]
            a[3 + m] = ap[3 + m] + shift[m] + bias[i, 3 + m]
        if kind[i] == WELD or driven[i]:
            continue
        size = size_of(kind[i])
        for n in range(size):
            u[k + n] -= _dot6(U[k + n], a)
        for n in range(size - 1, -1, -1):
            for m in range(n + 1, size):
                u[k + n] -= L[k + m, n] * u[k + m]
            u[k + n] /= L[k + n, n]
        for n in range(k, k + size):
            for m in range(6):
                a[m] += S[n, m] * u[n]
