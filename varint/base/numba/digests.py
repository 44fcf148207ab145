"""Digests of compiled functions: all that their machine code depends on beside the types of their arguments.

numba compiles into a function every function that it calls and every constant that it names. Its digest covers its
bytecode and, by the names in it, the functions and constants that it reaches; bytecode has neither comments nor blank
lines, and docstrings, line numbers and names of files are left out. A function that is called through a pointer
(`indirect`) counts by its name and types alone, as it is compiled by itself: an edit of it compiles it and no caller.
Records count by the types of their fields: in the type of an argument (`record_class`), or behind a word (`record_at`).
"""

import functools
import hashlib
import importlib.util
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.serialize import dumps

from varint.base.numba.record_class import record_type

PACKAGE = Path(__file__).parents[2]
WITH_DOCSTRING = 0x4000000  # flag of code, from Python 3.13 on
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


def digest_of(function: FunctionType) -> bytes:
    """Return the digest of ``function`` and of all that is compiled into it.

    What it calls has to be defined by then: ask for it when the function is compiled, not when it is decorated.
    """
    whole = hashlib.sha256(_facts(function)[0])
    for facts in sorted(_facts(each)[0] for each in compiled_into(function)):
        whole.update(facts)
    return whole.digest()


def compiled_into(function: FunctionType) -> set[FunctionType]:
    """Return ``function`` and all that is compiled into it."""
    reached: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            waiting += _facts(each)[1]
    return reached


@functools.cache
def _facts(function: FunctionType) -> tuple[bytes, tuple[FunctionType, ...]]:
    """Return the digest of a function without the functions that it calls, and these."""
    called: list[FunctionType] = []
    scope = function.__globals__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    named = {name: scope[name] for name in sorted(_names(function.__code__)) if name in scope}
    values = [function.__defaults__, function.__kwdefaults__, cells, named, _attributes(function.__code__, named)]
    facts = [function.__module__, function.__qualname__, _of_code(function.__code__), _described(values, called)]
    return hashlib.sha256(repr(facts).encode()).digest(), tuple(called)


def _names(code: CodeType) -> set[str]:
    """Return names of globals, and of attributes, that occur in ``code`` and in functions within it."""
    return set(code.co_names).union(*(_names(part) for part in code.co_consts if isinstance(part, CodeType)))


def _attributes(code: CodeType, named: dict[str, Any]) -> dict[str, Any]:
    """Return values that ``code`` may take from the modules of this package that it names."""
    modules = [value for value in named.values() if isinstance(value, ModuleType) and _is_own(value.__name__)]
    return {
        f"{module.__name__}.{name}": vars(module)[name]
        for module in modules
        for name in sorted(_names(code))
        if name in vars(module)
    }


def _is_own(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]


def _of_code(code: CodeType) -> list[Any]:
    """Return facts of ``code`` without comments, docstring, numbers of lines and names of files."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and code.co_flags & 2:  # of a function: its docstring, if any
        constants[0] = None
    parts = [_of_code(part) if isinstance(part, CodeType) else _constant(part) for part in constants]
    return [
        code.co_name,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~WITH_DOCSTRING),
        code.co_code,
        parts,
        (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
    ]


def _constant(value: Any) -> Any:
    if isinstance(value, frozenset):  # its order differs from process to process
        return sorted(map(repr, value))
    return [_constant(part) for part in value] if isinstance(value, tuple) else (type(value).__name__, repr(value))


def _described(value: Any, called: list[FunctionType]) -> Any:
    """Return facts of a value that a compiled function names; add functions compiled into it to ``called``."""
    if isinstance(value, PLAIN):
        return type(value).__name__, repr(value)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return [(key, _described(part, called)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__qualname__, [_described(part, called) for part in value]
    if hasattr(value, "symbol"):  # an `Indirect`: its callers know no more than these
        return value.symbol, [str(kind) for kind in (*value.arguments, value.result)]
    if hasattr(value, "class_behind_word"):  # of `record_at`
        return "record_at", str(record_type(value.class_behind_word))
    compiled = getattr(value, "py_func", None)
    if isinstance(compiled, FunctionType):
        called.append(compiled)
        return compiled.__module__, compiled.__qualname__, repr(sorted(value.targetoptions.items()))
    if isinstance(value, type):
        return value.__module__, value.__qualname__, getattr(value, "_fields", ()), _fields_of(value)
    if isinstance(value, FunctionType | BuiltinFunctionType | np.ufunc | ModuleType) or _is_own(type(value).__module__):
        return getattr(value, "__module__", ""), getattr(value, "__qualname__", getattr(value, "__name__", ""))
    if type(value).__module__.startswith("numba."):  # its types and intrinsics
        return str(type(value)), getattr(value, "__qualname__", str(value))
    return dumps(value)


def _fields_of(kind: type) -> Any:
    """Return annotations of a NamedTuple, whose values compiled code reads by name; others count by their types."""
    return [(name, str(hint)) for name, hint in kind.__annotations__.items()] if hasattr(kind, "_fields") else ()


def _of_modules() -> Iterator[bytes]:
    """Yield facts of the files of this folder, which make the code of all functions."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        spec = importlib.util.find_spec(f"{__package__}.{path.stem}" if path.stem != "__init__" else f"{__package__}")
        loader: Any = spec.loader if spec else None
        yield repr(_of_code(loader.get_code(spec.name if spec else ""))).encode()


# the minor version of Python: its bytecode stays the same within one
VERSIONS = {"numba": numba.__version__, "llvmlite": llvmlite.__version__, "python": f"{sys.implementation.cache_tag}"}
COMPILER = hashlib.sha256(b"".join(_of_modules())).hexdigest()[:16]
COMMON_HASH = hashlib.sha256(f"{COMPILER} {VERSIONS} {platform.machine()}".encode()).hexdigest()[:16]
