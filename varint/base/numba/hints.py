"""Hints for the compiler: facts about indices and arrays that it cannot see for itself."""

from typing import Any

from numba.extending import intrinsic

from varint.base.numba.jit import config, njit
from varint.base.numba.record_class import with_known_sizes

LARGEST = 2**63 - 1


@njit
def natural(k):
    """Return ``k``, which must not be negative: an index by it is then not tested for counting from the end.

    The compiler has to allow for negative numbers in arrays, but not in a loop ``range(n)``.
    """
    return k & LARGEST


def inner_sizes(*sizes: int) -> Any:
    """Return a compiled function that returns its argument, an array (n, *sizes), as one of these constant sizes.

    They must be the array's: an access then needs no multiplication by sizes read from memory.
    """
    if config.DISABLE_JIT:
        return lambda array: array

    @intrinsic
    def known(context, array):
        def generate(context, builder, signature, arguments):
            return with_known_sizes(context, builder, signature.return_type, arguments[0], (0, *sizes))

        return array(array), generate

    return known
