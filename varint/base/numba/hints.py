"""Hints for the compiler: facts about indices and arrays that it cannot see for itself."""

from typing import Any

from numba.extending import intrinsic

from varint.base.numba.jit import config, njit
from varint.base.numba.record_class import with_known_sizes

LARGEST = 2**63 - 1


@njit
def natural(k):
    """``k``, which must not be negative: an index by it then needs no look whether it counts from the end.

    Numbers that arrays hold may be negative for all that the compiler knows, those of a loop ``range(n)`` may not.
    """
    return k & LARGEST


def inner_sizes(*sizes: int) -> Any:
    """A compiled function that returns the array that it is given, of shape (n, *sizes), as one of these sizes.

    They must be the array's: an access then needs no multiplication by what is read from memory.
    """
    if config.DISABLE_JIT:
        return lambda array: array

    @intrinsic
    def known(context, array):
        def generate(context, builder, signature, arguments):
            return with_known_sizes(context, builder, signature.return_type, arguments[0], (0, *sizes))

        return array(array), generate

    return known
