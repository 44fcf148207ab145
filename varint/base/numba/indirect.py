"""Functions that compiled callers call through a pointer.

A caller that calls a compiled function by name holds all of its code, optimised once more. Through a pointer the
function is compiled once, and only where it is needed. The pointer lies in a cell that lives as long as the process,
outside of all plans and workspaces. Callers know the cell by a name, so that they can be kept in the cache folder.
"""

from typing import Any, get_type_hints

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate
from numba.extending import typeof_impl

from varint.base.numba.compiler import Entry
from varint.base.numba.jit import config, njit
from varint.base.numba.record_class import type_of


class Indirect:
    """A function that compiled callers call through a pointer; the annotations of its arguments and result say
    their types (`record.type_of`).

    From Python it is called as any other. Before a compiled function that calls it runs, Python must have called
    `prepare`; else it raises RuntimeError. It is pickled by its name: an address means nothing in another process.
    Of a function that is compiled already, callers call the very code that Python calls.
    """

    def __init__(self, function, **options):
        self.compiled = function if isinstance(function, Entry) else njit(function, **options)
        function = getattr(function, "py_func", function)
        self.__name__, self.__doc__, self.py_func = function.__name__, function.__doc__, function
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self.cell = np.zeros(1, dtype=np.int64)  # the address, zero until `prepare`
        if config.DISABLE_JIT:
            return
        kinds = [type_of(annotation) for annotation in get_type_hints(function, include_extras=True).values()]
        self.arguments, self.result = tuple(kinds[:-1]), kinds[-1]
        self.symbol = f"{function.__module__}.{function.__qualname__}"
        binding.add_symbol(self.symbol, self.cell.ctypes.data)
        self.type = _function_type(self)

    def __call__(self, *arguments):
        return self.compiled(*arguments)

    def __reduce__(self):
        return self.__qualname__

    def prepare(self) -> None:
        """Compile the function, or load it from the cache, where that is not done yet."""
        if self.cell[0] or config.DISABLE_JIT:
            return
        self.compiled.compile(self.arguments)
        overload = self.compiled.overloads[self.arguments]
        self.cell[0] = overload.library.get_pointer_to_function(overload.fndesc.llvm_func_name)


def indirect(function=None, **options) -> Any:
    """Make an `Indirect` of a function; ``options`` as in `njit`. A decorator."""
    return Indirect(function, **options) if function else lambda f: Indirect(f, **options)


@typeof_impl.register(Indirect)
def _typeof(function, context):
    return function.type


def _function_type(function):
    """Return numba's type of an `Indirect`, and define how a call of it is compiled."""

    def generic(self, arguments, keywords):
        if keywords or len(arguments) != len(function.arguments):
            return None
        if any(self.context.can_convert(*pair) is None for pair in zip(arguments, function.arguments, strict=True)):
            return None
        return signature(function.result, *function.arguments)

    @lower_builtin(function, *function.arguments)
    def call(context, builder, sig, arguments):
        word = ir.IntType(64)
        cell = builder.module.globals.get(function.symbol)
        if cell is None:
            cell = cgutils.add_global_variable(builder.module, word, function.symbol)
        address = builder.load(cell)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, address)):
            message = f"{function.symbol} is not prepared: call its prepare() before"
            context.call_conv.return_user_exc(builder, RuntimeError, (message,))
        kind = context.call_conv.get_function_type(sig.return_type, sig.args)
        place = builder.inttoptr(address, kind.as_pointer())
        status, result = context.call_conv.call_function(builder, place, sig.return_type, sig.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    template = type(f"Indirect_{function.__name__}", (AbstractTemplate,), {"key": function, "generic": generic})
    return types.Function(template)
