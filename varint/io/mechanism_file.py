"""Mechanisms in files; the suffix says in which format."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from varint.errors import ArgumentError, FileError
from varint.io.formats import FORMATS
from varint.io.run_file import SUFFIXES
from varint.mechanism import Mechanism
from varint.model.checks import arguments_of, known_name, of_type, path_of


def save_mechanism(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism in the format of the path's suffix. A file of that name is replaced.

    Raises FileError if the file cannot be written, or a mechanism not in this format.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    path = Path(path_of(path))
    written = {suffix: format_.save for suffix, format_ in FORMATS.items() if format_.save}
    if path.suffix not in written:
        raise FileError(f"cannot write '{path}': {_known(written, 'written')}")
    try:
        written[path.suffix](mechanism, path)
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror}") from None


def load_mechanism(path: str | Path, parameters: Mapping[str, Any] | None = None) -> Mechanism:
    """Read a mechanism from a file: data, or a script that defines ``build() -> Mechanism``, by its suffix.

    ``parameters``: in place of those of a TOML file, as numbers or expressions, or arguments of ``build``.

    Raises FileError if it cannot be read, with file and line; MechanismError if it describes none; ArgumentError for
    parameters that the file does not have.
    """
    path = Path(path_of(path))
    if path.suffix not in FORMATS:
        of_run = ", and varint.load reads the run" if path.suffix.lower() in SUFFIXES else ""
        raise FileError(f"cannot read '{path}': {_known(FORMATS, 'read')}{of_run}")
    format_ = FORMATS[path.suffix]
    if not parameters:
        return format_.load(path)
    of_type(parameters, Mapping, "parameters", ArgumentError)
    if format_.opened is None:
        raise ArgumentError(f"'{path}' has no parameters: files of {path.suffix} have none")
    with format_.opened(path) as build:
        names = arguments_of(build)
        for name in parameters:
            if names is not None:
                known_name(name, names, f"'{path}' has no parameter", ArgumentError)
        return of_type(build(**parameters), Mechanism, f"what build() of '{path}' returns", FileError)


def _known(suffixes: Iterable[str], done: str) -> str:
    return f"files of mechanisms that can be {done} end in {' or '.join(suffixes)}"
