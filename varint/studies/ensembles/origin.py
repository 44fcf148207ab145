"""A digest of the source of the mechanisms of an ensemble, and of functions: it changes when these are edited."""

import ast
import dataclasses
import functools
import hashlib
import json
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from varint.base.errors import VarintError
from varint.files.formats import FORMATS
from varint.files.own.mechanism_file import load_mechanism
from varint.studies.ensembles.source import Source

PYTHON = str(sys.implementation.cache_tag)  # bytecode is the same within one
SCRIPT = ".py"
DIGITS = 16


def digest_of(data: object) -> str:
    """Return a short digest of JSON-ready data; 1 and 1.0 are the same."""
    return hashlib.sha256(json.dumps(_equal_numbers(data), sort_keys=True).encode()).hexdigest()[:DIGITS]


def origin_of(source: Source) -> str:
    """Return the digest of the source of the mechanisms. Of functions the version of Python comes first, and a space.

    A mechanism of the catalogue is known by its name, as it changes with the version of varint alone; a script by its
    text, with scripts that it imports of its folder; another file by its text and the mechanism that it holds.
    """
    if isinstance(source.build, str):
        return digest_of(source.build)
    if not isinstance(source.build, Path):
        return origin_of_function(source.build)
    if source.build.suffix == SCRIPT:
        return digest_of([path.read_bytes().hex() for path in _scripts(source.build)])
    return digest_of([source.build.read_bytes().hex(), *_held(source.build)])


def origin_of_function(function: Callable) -> str:
    """Return the digest of a function: its bytecode, its defaults, and the values and functions that it reads.

    Functions of other folders than its own are known by their names.
    """
    return f"{PYTHON} {digest_of(_Description().of(function))}"


def _held(path: Path) -> list:
    """Return the description of the mechanism in a file, with the parameters of the file; empty if these do not fit."""
    try:
        return [_Description().of(load_mechanism(path))]
    except VarintError:
        if FORMATS[path.suffix].opened is None:
            raise
        return []  # other parameters may fit: the members have the error where they do not


def _scripts(path: Path) -> list[Path]:
    """Return the script, and the scripts that it imports of its folder, directly or not."""
    scripts, waiting = [], [path]
    while waiting:
        script = waiting.pop(0)
        if script in scripts or not script.is_file():
            continue
        scripts.append(script)
        for name in sorted(_imported(script)):
            place = path.parent.joinpath(*name.split("."))
            waiting += [place.with_suffix(SCRIPT), place / "__init__.py"]
    return scripts


def _imported(script: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(script.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


class _Description:
    """JSON-ready descriptions of functions and values; one that was described before is not again."""

    def __init__(self) -> None:
        self.described: list[object] = []  # held, so that no other object gets the same identity

    def of(self, value: object) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, bytes | complex | np.generic):
            return repr(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return [value.dtype.str, list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
        if isinstance(value, types.CodeType):
            return [value.co_code.hex(), self.of(value.co_consts), list(value.co_names), list(value.co_varnames)]
        if isinstance(value, tuple):  # equal ones may be one object or several, as Python chooses
            return [self.of(item) for item in value]
        if isinstance(value, set | frozenset):
            return sorted(json.dumps(self.of(item)) for item in value)
        if any(value is known for known in self.described):
            return "above"
        self.described.append(value)
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if isinstance(value, Mapping):
            return [[self.of(key), self.of(item)] for key, item in value.items()]
        return self._of_object(value)

    def _of_object(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return [_label(value), *self._of_function(value)]
        if isinstance(value, functools.partial):
            return [self.of(value.func), self.of(value.args), self.of(value.keywords)]
        if isinstance(value, types.MethodType):
            return [self.of(value.__func__), self.of(value.__self__)]
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.compare}
            return [_label(type(value)), self.of(fields)]
        if callable(value) and not isinstance(value, type):
            attributes = dict(getattr(value, "__dict__", {}))
            return [_label(type(value)), self.of(type(value).__call__), self.of(attributes)]
        return _label(value if isinstance(value, type) else type(value))

    def _of_function(self, function: types.FunctionType) -> Iterator[Any]:
        yield self.of(function.__code__)
        yield self.of([function.__defaults__, function.__kwdefaults__])
        yield [self.of(cell.cell_contents) for cell in function.__closure__ or () if _is_filled(cell)]
        for name, value in _globals_of(function):
            yield [name, self.of(value)]


def _globals_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the globals of a function that its code reads, without functions of other folders."""
    folder = _folder(function)
    names = sorted(_names_in(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            attributes = [(each, vars(value).get(each)) for each in names]
            functions = [(each, one) for each, one in attributes if isinstance(one, types.FunctionType)]
            yield from ((f"{name}.{each}", one) for each, one in functions if _folder(one) == folder)
        elif isinstance(value, types.FunctionType) and _folder(value) != folder:
            yield name, _label(value)
        elif isinstance(value, type):
            methods = [(each, one) for each, one in vars(value).items() if isinstance(one, types.FunctionType)]
            yield from ((f"{name}.{each}", one) for each, one in methods if _folder(one) == folder)
        elif value is not None:
            yield name, value


def _names_in(code: types.CodeType) -> set[str]:
    inner = [_names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)


def _folder(function: types.FunctionType) -> str:
    return function.__code__.co_filename.rpartition("/")[0]


def _label(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # a name that is not bound yet
        return False
    return True


def _equal_numbers(data: Any) -> Any:
    """Return ``data`` with floats that are whole numbers as int."""
    if isinstance(data, float) and data.is_integer():
        return int(data)
    if isinstance(data, Mapping):
        return {key: _equal_numbers(value) for key, value in data.items()}
    return [_equal_numbers(value) for value in data] if isinstance(data, list | tuple) else data
