"""The fused multiply-add of the processor."""

from fractions import Fraction

from numba.core import types
from numba.extending import intrinsic

from varint._numba.jit import config


def _plain(a, b, c):
    """``a b + c``, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _typed(context, a, b, c):
    def code(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), code


_typed.__doc__ = _plain.__doc__
fma = _plain if config.DISABLE_JIT else intrinsic(_typed)
