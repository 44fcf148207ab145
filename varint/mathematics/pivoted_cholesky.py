"""Cholesky factors of positive semidefinite matrices, with pivots of the diagonal."""

import math

from varint.base.numba import natural, njit

NO_PIVOT = 1e-13  # where the largest entries are about 1: round-off of rows that depend on others


@njit
def cholesky_factor(K, rank, order, pivot, column):
    """Factor the lower half of ``K`` (m, m) into L D L^T in place; return the largest pivot that is left out.

    At most ``rank`` pivots are taken; the others are infinite: `cholesky_solve` leaves out their rows. ``order`` (m,)
    gets the rows as they were taken, ``pivot`` (m,) the diagonal D; ``column`` (m,): scratch.
    """
    m = order.size
    for r in range(m):
        order[r] = r
    for k in range(m):
        best, largest = k, K[k, k]
        for i in range(k + 1, m):
            if K[i, i] > largest:
                best, largest = i, K[i, i]
        if k >= rank or not largest > NO_PIVOT:
            for i in range(k, m):
                pivot[i] = math.inf
                for j in range(k, i):
                    K[i, j] = 0.0
            return largest
        if best != k:
            order[k], order[best] = order[best], order[k]
            K[best, best] = K[k, k]
            for j in range(k):
                K[k, j], K[best, j] = K[best, j], K[k, j]
            for j in range(k + 1, best):
                K[j, k], K[best, j] = K[best, j], K[j, k]
            for i in range(best + 1, m):
                K[i, k], K[i, best] = K[i, best], K[i, k]
        pivot[k] = largest
        for i in range(k + 1, m):
            column[i] = K[i, k]
        for i in range(k + 1, m):
            f = column[i] / largest
            K[i, k] = f
            if f != 0.0:
                for j in range(i - k):
                    K[i, natural(k + 1) + j] -= f * column[natural(k + 1) + j]
    return 0.0


@njit
def cholesky_solve(K, order, pivot, z, b, solution):
    """Write a ``solution`` (m,) for ``b`` (m,) of the matrix that `cholesky_factor` factored; ``z`` (m,): scratch.

    ``K`` (m, m), ``order`` (m,) and ``pivot`` (m,): the factors.
    """
    m = order.size
    for i in range(m):
        total = b[order[i]]
        for j in range(i):
            total -= K[i, j] * z[j]
        z[i] = total
    for i in range(m):
        z[i] /= pivot[i]
    for i in range(m - 1, -1, -1):
        for j in range(i):
            z[j] -= K[i, j] * z[i]
    for i in range(m):
        solution[order[i]] = z[i]


@njit
def trace_of_inverse(K, pivot, rank, W):
    """Return the trace of the inverse of the first ``rank`` rows that `cholesky_factor` took.

    ``K`` (m, m) and ``pivot`` (m,): the factors. Writes to ``W`` (m, m), scratch.
    """
    total = 0.0
    for i in range(rank):
        for j in range(i):
            W[i, j] = 0.0
        W[i, i] = 1.0
        for k in range(i):
            f = K[i, k]
            if f != 0.0:
                for j in range(k + 1):
                    W[i, j] -= f * W[k, j]
        square = 0.0
        for j in range(i + 1):
            square += W[i, j] * W[i, j]
        total += square / pivot[i]
    return total
