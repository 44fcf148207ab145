"""Mechanisms as Python files with a function ``build() -> Mechanism``."""

import functools
import hashlib
import importlib.util
import re
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

ENTERED: set[str] = set()  # names in sys.modules of modules that `executed` has made


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

    It stays in ``sys.modules``, where numba's cache looks for it, by the stem of the file unless another
    module has that name, and by a name of its path. A file that fails leaves no entry.

    Raises FileError, with file and line, where the file cannot be read or its code raises an error.
    """
    if not path.is_file():
        raise FileError(f"cannot read '{path}': no such file")
    by_path = f"{re.sub(r'[^0-9A-Za-z_]', '_', path.stem)}_{hashlib.sha256(bytes(path.resolve())).hexdigest()[:12]}"
    name = path.stem if _is_free(path) else by_path
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None, path  # every file that ends in .py has one
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    # A module that the user has imported from the same file keeps its entry. Functions that another process has
    # compiled may name this module by either name.
    entered = {each for each in (name, by_path) if each in ENTERED or each not in sys.modules}
    before = {each: sys.modules.get(each) for each in entered}
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    sys.modules.update(dict.fromkeys(entered, module))
    ENTERED.update(entered)
    try:
        try:
            exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
        except BaseException as problem:
            _restore(before)
            if isinstance(problem, VarintError) or not isinstance(problem, Exception):
                raise
            raise FileError(f"{_where(problem, str(path))}: {type(problem).__name__}: {problem}") from problem
        yield module
    finally:
        sys.path.remove(folder)


def _is_free(path: Path) -> bool:
    """Return whether no other module, imported or installed, has the name of a file."""
    name = path.stem
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
        return file is not None and Path(file).resolve() == path.resolve()
    if "." in name:  # import takes the first part for a package
        return False
    spec = importlib.util.find_spec(name)
    return spec is None or spec.origin is None or Path(spec.origin).resolve() == path.resolve()


def _restore(before: dict[str, types.ModuleType | None]) -> None:
    """Put back the entries of ``sys.modules`` before a file that failed; None: there was no entry."""
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is None:
            ENTERED.discard(name)
        else:
            sys.modules[name] = module


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
