"""Compensated sums: the part that a sum loses in rounding is kept and added the next time."""

from varint.base.numba import njit


@njit
def two_sum(a, b):
    """Return the rounded sum of two numbers, and the part lost in rounding.

    Source: Knuth, The Art of Computer Programming, 4.2.2.
    """
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)


@njit
def two_sums(a, b):
    """Return the rounded sums of the numbers of two vectors of three, and the parts lost in rounding: see `two_sum`."""
    x, y, z = two_sum(a[0], b[0]), two_sum(a[1], b[1]), two_sum(a[2], b[2])
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])
