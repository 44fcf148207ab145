"""Matrices (3, 3) as three rows, each a tuple: they take no memory, and zeros and signs no time."""

from varint.base.numba import njit
from varint.mathematics.vectors import add, scale, sub, vector

IDENTITY = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@njit
def rows_of(A):
    """Return the three rows of an array ``A`` (3, 3)."""
    return vector(A[0]), vector(A[1]), vector(A[2])


@njit
def transposed(A):
    """Return A^T."""
    return (A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2])


@njit
def sum_of(A, B):
    """Return A + B."""
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


@njit
def scaled(s, A):
    """Return s A."""
    return scale(s, A[0]), scale(s, A[1]), scale(s, A[2])


@njit
def times(A, B):
    """Return A B."""
    return (
        add(scale(A[0][0], B[0]), add(scale(A[0][1], B[1]), scale(A[0][2], B[2]))),
        add(scale(A[1][0], B[0]), add(scale(A[1][1], B[1]), scale(A[1][2], B[2]))),
        add(scale(A[2][0], B[0]), add(scale(A[2][1], B[1]), scale(A[2][2], B[2]))),
    )


@njit
def outer(a, b):
    """Return a b^T."""
    return scale(a[0], b), scale(a[1], b), scale(a[2], b)


@njit
def skew(t):
    """Return [t], with [t] a = t x a."""
    return (0.0, -t[2], t[1]), (t[2], 0.0, -t[0]), (-t[1], t[0], 0.0)


@njit
def crossed(t, A):
    """Return [t] A."""
    return (
        sub(scale(t[1], A[2]), scale(t[2], A[1])),
        sub(scale(t[2], A[0]), scale(t[0], A[2])),
        sub(scale(t[0], A[1]), scale(t[1], A[0])),
    )
