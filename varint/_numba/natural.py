"""Numbers that are never negative, as the compiler has to be told."""

from varint._numba.jit import njit

LARGEST = 2**63 - 1


@njit
def natural(k):
    """``k``, which must not be negative: an index by it then needs no look whether it counts from the end.

    Numbers that arrays hold may be negative for all that the compiler knows, those of a loop ``range(n)`` may not.
    """
    return k & LARGEST
