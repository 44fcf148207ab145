"""Users' functions of one or two numbers, of three results, compiled once in a process; called by their addresses."""

import math
from collections.abc import Callable
from threading import Lock
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

from varint.base.numba.jit import config

NUMPY_RULES: Any = {"error_model": "numpy"}
_DOUBLE = ir.DoubleType()
_lock = Lock()
_compiled: dict[
    tuple, tuple
] = {}  # function and how many numbers it takes: address, compiled function, and what else must stay in memory
_plain: dict[int, Callable] = {}


def compiled_law(function: Callable, numbers: int = 2) -> Callable:
    """Compile a user's ``function(value, rate)``, or ``function(value)``, of three results, for calls from Python.

    Raises TypeError where it cannot be compiled, or has other results.
    """
    return _known(function, numbers)[1]


def addresses_of(functions, numbers: int = 2) -> np.ndarray:
    """Return addresses (n,) of such functions in this process, for `call_back`; they belong in a run's workspace.

    ``numbers``: that they take; where it is one, `call_back` gives them the value alone.
    """
    return np.array([_known(function, numbers)[0] for function in functions], dtype=np.int64)


def _known(function, numbers):
    key = getattr(function, "py_func", function), numbers
    with _lock:
        if key not in _compiled:
            _compiled[key] = _compile(*key)
        return _compiled[key]


def _compile(function, numbers):
    if config.DISABLE_JIT:

        def plain(value, rate):
            return function(*(value, rate)[:numbers])

        _plain[id(plain)] = plain
        return id(plain), function, None
    compiled = numba.njit(function, **NUMPY_RULES)
    try:
        compiled.compile((types.float64,) * numbers)
    except errors.NumbaError as problem:
        raise TypeError(": ".join(str(problem).split("\n\n")[0].splitlines())) from problem
    (overload,) = compiled.overloads.values()
    kinds = getattr(overload.signature.return_type, "types", ())
    if len(kinds) != 3 or not all(isinstance(kind, types.Number) for kind in kinds):
        raise TypeError(f"its result is {overload.signature.return_type}, not a tuple of three numbers")

    def of_value(value, rate, out):
        for k in range(3):
            out[k] = math.nan  # what is left where it raises
        out[0], out[1], out[2] = compiled(value)

    def of_both(value, rate, out):
        for k in range(3):
            out[k] = math.nan
        out[0], out[1], out[2] = compiled(value, rate)

    kind = types.void(types.float64, types.float64, types.CPointer(types.float64))
    called = numba.cfunc(kind, **NUMPY_RULES)(of_value if numbers == 1 else of_both)
    return called.address, compiled, called


@intrinsic
def _call_address(typing, address, value, rate):
    """Return the three results of the function at ``address``, one of `addresses_of`."""

    def generate(context, builder, signature, arguments):
        number, *given = arguments
        kind = ir.FunctionType(ir.VoidType(), [_DOUBLE, _DOUBLE, _DOUBLE.as_pointer()])
        out = cgutils.alloca_once(builder, _DOUBLE, size=3)
        builder.call(builder.inttoptr(number, kind.as_pointer()), [*given, out])
        results = [builder.load(cgutils.gep_inbounds(builder, out, k)) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, results)

    return types.UniTuple(types.float64, 3)(types.int64, types.float64, types.float64), generate


def _call_plain(address, value, rate):
    return _plain[address](value, rate)


call_back: Callable = _call_plain if config.DISABLE_JIT else _call_address
