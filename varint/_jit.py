"""The one compile decorator of the package, and where its results are kept.

numba's cache does not notice a change in a function called from another file, so the cache
folder carries a hash of every compiled source file: any edit opens a fresh folder.
``NUMBA_CACHE_DIR`` wins over this choice; ``NUMBA_DISABLE_JIT=1`` runs the kernels as Python.
"""

import functools
import hashlib
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

config: Any = numba.config

_COMPILED_PACKAGES = ("algebra", "kernels", "redmax/kernels")


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()} {platform.machine()}".encode())
    here = Path(__file__).parent
    for package in _COMPILED_PACKAGES:
        for path in sorted((here / package).glob("*.py")):
            digest.update(path.read_bytes())
    for name in ("_jit.py", "_record.py"):
        digest.update((here / name).read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "varint" / _source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass  # a home that cannot be written: the temporary folder serves as well
    return Path(tempfile.gettempdir()) / f"varint-{os.getuid()}-{_source_hash()}"


CACHE_FOLDER = _cache_folder()


def is_compiled(entry_point) -> bool:
    """Whether ``entry_point``, a compiled function, is ready in memory or in the cache folder."""
    if config.DISABLE_JIT or entry_point.signatures:
        return True
    return any(CACHE_FOLDER.rglob(f"*.{entry_point.__name__}-*.nbc"))


@functools.cache
def _announce() -> None:
    print("varint: compiling its kernels, once on a machine (about a minute) ...", file=sys.stderr, flush=True)


def announce_compilation(entry_point) -> None:
    """Say, once in a process, that compiling ``entry_point`` will take a while, if it will."""
    if not is_compiled(entry_point):
        _announce()


def njit(function=None, *, inline="never"):
    """Compile ``function``: cached, numpy's division rules (a zero pivot gives inf, never an exception),
    fused multiply-add allowed, no other liberty with floating point."""
    if function is None:
        return lambda f: njit(f, inline=inline)
    saved, config.CACHE_DIR = config.CACHE_DIR, str(CACHE_FOLDER)
    options: Any = {
        "error_model": "numpy",
        "fastmath": {"contract"},
        "inline": inline,
        "_nrt": False,
        "no_cfunc_wrapper": True,
    }
    try:
        return numba.njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = saved


def late(function):
    """``function``, of no result, to be called by its address (`address_of`) and a tuple of its arguments.

    A caller that calls it by name holds all of its code, optimised once more. By address it is compiled once, and
    only where it is needed.
    """
    if config.DISABLE_JIT:
        return lambda address, arguments: function(*arguments)

    @intrinsic
    def call(typing, address, arguments):
        kinds = tuple(types.unliteral(kind) for kind in arguments)

        def generate(context, builder, signature, values):
            number, given = values[0], cgutils.unpack_tuple(builder, values[1])
            kind = context.call_conv.get_function_type(types.none, kinds)
            place = builder.inttoptr(number, kind.as_pointer())
            return context.call_conv.call_function(builder, place, types.none, kinds, given)[1]

        return types.none(address, arguments), generate

    return call


def address_of(function, *arguments) -> int:
    """Where ``function`` is, compiled for arguments such as these; 0 where nothing is compiled."""
    if config.DISABLE_JIT:
        return 0
    announce_compilation(function)
    kinds = tuple(numba.typeof(argument) for argument in arguments)
    function.compile(kinds)
    compiled = function.overloads[kinds]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


NUMPY_RULES: Any = {"error_model": "numpy"}
_DOUBLE = ir.DoubleType()


@functools.cache
def callback(function) -> tuple[int, Callable]:
    """A user's ``function(value, rate)`` of three results, compiled: its address for `call_back`, and for Python.

    Both stay in memory. Raises TypeError where it cannot be compiled, or has other results.
    """
    function = getattr(function, "py_func", function)
    if config.DISABLE_JIT:
        _PLAIN[id(function)] = function
        return id(function), function
    compiled = numba.njit(function, **NUMPY_RULES)
    try:
        compiled.compile((types.float64, types.float64))
    except errors.NumbaError as problem:
        raise TypeError(": ".join(str(problem).split("\n\n")[0].splitlines())) from problem
    (overload,) = compiled.overloads.values()
    kinds = getattr(overload.signature.return_type, "types", ())
    if len(kinds) != 3 or not all(isinstance(kind, types.Number) for kind in kinds):
        raise TypeError(f"its result is {overload.signature.return_type}, not a tuple of three numbers")

    @numba.cfunc(types.void(types.float64, types.float64, types.CPointer(types.float64)), **NUMPY_RULES)
    def called(value, rate, out):
        for k in range(3):
            out[k] = math.nan  # what is left where it raises
        out[0], out[1], out[2] = compiled(value, rate)

    _KEPT.append(called)
    address: Any = called.address
    return address, compiled


_KEPT: list = []
_PLAIN: dict[int, Callable] = {}


@intrinsic
def _call_address(typing, address, value, rate):
    """The three results of the `callback` at ``address``."""

    def generate(context, builder, signature, arguments):
        number, *given = arguments
        kind = ir.FunctionType(ir.VoidType(), [_DOUBLE, _DOUBLE, _DOUBLE.as_pointer()])
        out = cgutils.alloca_once(builder, _DOUBLE, size=3)
        builder.call(builder.inttoptr(number, kind.as_pointer()), [*given, out])
        results = [builder.load(cgutils.gep_inbounds(builder, out, k)) for k in range(3)]
        return context.make_tuple(builder, signature.return_type, results)

    return types.UniTuple(types.float64, 3)(types.int64, types.float64, types.float64), generate


def _call_plain(address, value, rate):
    return _PLAIN[address](value, rate)


call_back = _call_plain if config.DISABLE_JIT else _call_address
