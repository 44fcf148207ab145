"""Compensated sums: what rounding takes off a sum is kept and added the next time."""

from varint._numba import njit


@njit
def two_sum(a, b):
    """The rounded sum of two numbers, and what rounding took off it (Knuth, The Art of Computer Programming, 4.2.2)."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)
