"""Factors of positive definite matrices without pivoting, as of normal equations; zeros are not worked on."""

import math

from varint.base.numba import njit

NO_PIVOT = 1e-13  # where the diagonal is about 1: the matrix is singular but for round-off


@njit
def ldl_factor(K, pivot, reciprocal):
    """Factor the lower half of ``K`` (n, n) into L D L^T in place.

    Writes D to ``pivot`` (n,), its inverses to ``reciprocal`` (n,). Pivots of a matrix that is not definite are
    infinite.
    """
    for i in range(pivot.size):
        for k in range(i):
            t = K[i, k]
            if t != 0.0:
                for j in range(k + 1, i):
                    K[i, j] -= t * K[j, k]
                f = t * reciprocal[k]
                K[i, i] -= t * f
                K[i, k] = f
        pivot[i] = K[i, i] if K[i, i] > NO_PIVOT else math.inf
        reciprocal[i] = 1.0 / pivot[i]


@njit
def ldl_solve(K, reciprocal, b):
    """Overwrite ``b`` (n,) with the solution, ``K`` (n, n) and ``reciprocal`` (n,) as `ldl_factor` left them."""
    n = b.size
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= K[i, j] * b[j]
        b[i] = total
    for i in range(n):
        b[i] *= reciprocal[i]
    for i in range(n - 1, -1, -1):
        for j in range(i):
            b[j] -= K[i, j] * b[i]
