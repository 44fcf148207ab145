"""The one compile decorator of the package. ``NUMBA_DISABLE_JIT=1`` runs the kernels as Python."""

from typing import Any

import numba

from varint.base.numba.cache import FunctionCache
from varint.base.numba.compiler import Entry

config: Any = numba.config


def is_compiled(entry_point) -> bool:
    """Return whether ``entry_point``, a compiled function, is ready in memory or in the cache folder."""
    return bool(config.DISABLE_JIT) or entry_point.is_ready


def for_python(function) -> Any:
    """Return a compiled function whose annotations say its types, as Python calls it at the least cost.

    The types of a call are not looked at: arguments must be of these types.
    """
    if config.DISABLE_JIT:
        return function
    function.compile(function.annotated)
    return function.overloads[function.annotated].entry_point


def njit(function=None, *, inline="never", cache=True, seconds=0, what="", ahead="", contract=True):
    """Compile ``function``: cached, numpy's division rules (a zero pivot gives inf, never an exception),
    fused multiply-add allowed, no other liberty with floating point. It releases the interpreter's lock. ``cache``:
    whether to keep it, not for functions without a source file. ``seconds``: about how long it takes to compile as an
    entry; where it is given, the compilation is announced as ``what``, together with all entries of that name.
    ``ahead``: what is announced when another process shall begin to compile it, as it will be needed too; annotations
    then say the types of the arguments, as in `Indirect`. ``contract``: False where each operation has to round by
    itself, as in sums and products whose rounding errors are kept (mathematics/double_double.py)."""
    if function is None:
        return lambda f: njit(f, inline=inline, cache=cache, seconds=seconds, what=what, ahead=ahead, contract=contract)
    if config.DISABLE_JIT:
        return function
    options: Any = {
        "nopython": True,
        "boundscheck": None,
        "error_model": "numpy",
        "fastmath": {"contract"} if contract else False,
        "forceinline": inline == "always",
        "nogil": True,
        "_nrt": False,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": True,
    }
    entry = Entry(function, targetoptions=options, seconds=seconds, what=what, ahead=ahead)
    if cache:
        entry._cache = FunctionCache(function)
    return entry
