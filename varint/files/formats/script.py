"""Mechanisms as Python files with a function ``build() -> Mechanism``."""

import functools
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from varint.base.checks import OF_USERS
from varint.base.errors import FileError, VarintError
from varint.files.formats.base import Format, register
from varint.mechanism.mechanism import Mechanism


def load(path: Path) -> Mechanism:
    """Return the mechanism that ``build()`` of the file returns.

    The file can import others of its folder, as scripts can.
    """
    with opened(path) as build:
        mechanism = build()
    if not isinstance(mechanism, Mechanism):
        raise FileError(f"build() of '{path}' returned {type(mechanism).__name__}, not a Mechanism")
    return mechanism


@contextmanager
def opened(path: Path) -> Iterator[Callable]:
    """Yield the function ``build`` of the file, which can import others of its folder while this is open."""
    with executed(path) as module:
        if not callable(getattr(module, "build", None)):
            raise FileError(f"'{path}' defines no build(): write a function build() that returns a Mechanism")
        yield _with_note(module.build, str(path))


@contextmanager
def executed(path: Path) -> Iterator[types.ModuleType]:
    """Yield the module that the file makes, which can import others of its folder while this is open.

    Raises FileError, with file and line, where the file cannot be read or its code raises an error.
    """
    if not path.is_file():
        raise FileError(f"cannot read '{path}': no such file")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        try:
            exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
        except VarintError:
            raise
        except Exception as problem:
            raise FileError(f"{_where(problem, str(path))}: {type(problem).__name__}: {problem}") from problem
        yield module
    finally:
        sys.path.remove(folder)


def _with_note(build: Callable, path: str) -> Callable:
    """Return ``build`` with a note at its errors that names the user's file and line."""

    @functools.wraps(build)
    def noted(*arguments: object, **options: object) -> object:
        try:
            return build(*arguments, **options)
        except Exception as problem:
            problem.add_note(f"{OF_USERS}{_where(problem, path)}, in build()")
            raise

    return noted


def _where(problem: Exception, path: str) -> str:
    """Return the file ``path`` and its line where ``problem`` arose or that led there."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == path]
    if isinstance(problem, SyntaxError) and problem.filename == path:
        lines.append(problem.lineno)
    return f"'{path}'" + (f", line {lines[-1]}" if lines else "")


register(Format(".py", "a script with `build() -> Mechanism`", load, opened=opened))
