"""J and J-dot as dense matrices, from the root to the leaves (DIFF Algorithm 5)."""

from varint._numba import njit
from varint.kernels.gauges import cross
from varint.redmax.kernels.kinematics import size_of


@njit
def jacobian(parent, kind, column, x, S, J):
    """``J`` (nl + 1, 6, nq): twists (w, v) of the nodes, world axes, by the rates; the world's part must be zero."""
    for i in range(parent.size):
        p, k = parent[i], column[i]
        r = (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2])
        _shifted(J[p], r, J[i])
        for n in range(k, k + size_of(kind[i])):
            for m in range(6):
                J[i, m, n] += S[n, m]


@njit
def jacobian_rate(parent, kind, column, x, twist, Sdot, J, Jdot):
    """``Jdot`` (nl + 1, 6, nq), the time derivative of `jacobian`."""
    for i in range(parent.size):
        p, k = parent[i], column[i]
        r = (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2])
        dr = (twist[i, 3] - twist[p, 3], twist[i, 4] - twist[p, 4], twist[i, 5] - twist[p, 5])
        _shifted(Jdot[p], r, Jdot[i])
        for n in range(J.shape[2]):
            more = cross((J[p, 0, n], J[p, 1, n], J[p, 2, n]), dr)
            for m in range(3):
                Jdot[i, 3 + m, n] += more[m]
        for n in range(k, k + size_of(kind[i])):
            for m in range(6):
                Jdot[i, m, n] += Sdot[n, m]


@njit
def _shifted(P, r, out):
    """``out`` = X P, (6, nq)."""
    for n in range(P.shape[1]):
        lever = cross((P[0, n], P[1, n], P[2, n]), r)
        for m in range(3):
            out[m, n] = P[m, n]
            out[3 + m, n] = P[3 + m, n] + lever[m]


@njit
def jacobian_to_bodies(body_node, rotation, J, out):
    """Rows of the bodies (nb, 6, nq): velocity in the world, angular velocity in body axes."""
    for b in range(body_node.size):
        N, R = J[body_node[b]], rotation[b]
        for n in range(J.shape[2]):
            for m in range(3):
                out[b, m, n] = N[3 + m, n]
                out[b, 3 + m, n] = R[0, m] * N[0, n] + R[1, m] * N[1, n] + R[2, m] * N[2, n]


@njit
def jacobian_rate_to_bodies(body_node, rotation, twist, J, Jdot, out):
    """The time derivative of `jacobian_to_bodies`: of angular rows R^T (Jdot - w x J)."""
    for b in range(body_node.size):
        i, R = body_node[b], rotation[b]
        w = twist[i]
        for n in range(J.shape[2]):
            turn = cross(w, (J[i, 0, n], J[i, 1, n], J[i, 2, n]))
            d0, d1, d2 = Jdot[i, 0, n] - turn[0], Jdot[i, 1, n] - turn[1], Jdot[i, 2, n] - turn[2]
            for m in range(3):
                out[b, m, n] = Jdot[i, 3 + m, n]
                out[b, 3 + m, n] = R[0, m] * d0 + R[1, m] * d1 + R[2, m] * d2
