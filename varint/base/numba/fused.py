"""The fused multiply-add of the processor."""

from fractions import Fraction

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from varint.base.numba.jit import config
from varint.base.numba.lanes import LANES, as_lanes, call_intrinsic


def _plain(a, b, c):
    """Return ``a b + c``, rounded once; of floats, or lanes."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) or isinstance(c, np.ndarray):
        return np.array([_plain(*each) for each in zip(*np.broadcast_arrays(a, b, c), strict=True)])
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def _typed(context, a, b, c):
    kinds = a, b, c
    of_lanes = LANES in kinds

    def code(context, builder, signature, arguments):
        if not of_lanes:
            return builder.fma(*arguments)
        return call_intrinsic(builder, "fma", [as_lanes(builder, *each) for each in zip(kinds, arguments, strict=True)])

    if of_lanes:
        return LANES(*kinds), code
    return types.float64(types.float64, types.float64, types.float64), code


_typed.__doc__ = _plain.__doc__
fma = _plain if config.DISABLE_JIT else intrinsic(_typed)
