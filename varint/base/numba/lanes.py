"""Four numbers that one instruction of the processor works on, with the operators of a float; floats beside them count
for all four. With ``NUMBA_DISABLE_JIT=1`` they are an array."""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

from varint.base.numba.jit import config

COUNT = 4
VECTOR = ir.VectorType(ir.DoubleType(), COUNT)


class LanesType(types.Type):
    """The type of four numbers in compiled code."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


LANES = LanesType()


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    """They lie in one register."""

    def __init__(self, manager, kind) -> None:
        super().__init__(manager, kind, VECTOR)


def joined_lanes(builder, values):
    """Return code that puts four floats together."""
    whole = ir.Constant(VECTOR, ir.Undefined)
    for k, value in enumerate(values):
        whole = builder.insert_element(whole, value, ir.Constant(ir.IntType(32), k))
    return whole


def as_lanes(builder, kind, value):
    """Return code of a value of a type, which may be a float, as four numbers."""
    return value if kind == LANES else joined_lanes(builder, [value] * COUNT)


def call_intrinsic(builder, name, arguments):
    """Return code that calls a function of LLVM on four numbers each."""
    function = builder.module.declare_intrinsic(
        f"llvm.{name}.v{COUNT}f64", (), ir.FunctionType(VECTOR, [VECTOR] * len(arguments))
    )
    return builder.call(function, arguments)


def _allow(function, code):
    """Let compiled code apply an operator, ``code(builder, a, b)``, to four numbers."""

    @infer_global(function)
    class Typed(AbstractTemplate):
        def generic(self, args, kws):
            if LANES in args and all(arg in (LANES, types.float64) for arg in args):
                return signature(LANES, *args)
            return None

    def lowered(context, builder, sig, args):
        return code(builder, *(as_lanes(builder, *each) for each in zip(sig.args, args, strict=True)))

    if function is operator.neg:
        lower_builtin(function, LANES)(lowered)
        return
    for kinds in ((LANES, LANES), (LANES, types.float64), (types.float64, LANES)):
        lower_builtin(function, *kinds)(lowered)


_allow(operator.add, lambda builder, a, b: builder.fadd(a, b))
_allow(operator.sub, lambda builder, a, b: builder.fsub(a, b))
_allow(operator.mul, lambda builder, a, b: builder.fmul(a, b))
_allow(operator.truediv, lambda builder, a, b: builder.fdiv(a, b))
_allow(operator.neg, lambda builder, a: builder.fneg(a))


def _four(context, a, b, c, d):
    def code(context, builder, sig, arguments):
        return joined_lanes(builder, arguments)

    return LANES(*[types.float64] * COUNT), code


def _apart(context, lanes):
    def code(context, builder, sig, arguments):
        parts = [builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), k)) for k in range(COUNT)]
        return context.make_tuple(builder, sig.return_type, parts)

    return types.UniTuple(types.float64, COUNT)(LANES), code


def _root(context, x):
    def code(context, builder, sig, arguments):
        if x == LANES:
            return call_intrinsic(builder, "sqrt", arguments)
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [ir.DoubleType()]), arguments)

    return x(x), code


def _array(a, b, c, d):
    """Return four floats as lanes."""
    return np.array([a, b, c, d])


four: Any = _array if config.DISABLE_JIT else intrinsic(_four)
apart: Any = tuple if config.DISABLE_JIT else intrinsic(_apart)
root: Any = np.sqrt if config.DISABLE_JIT else intrinsic(_root)
