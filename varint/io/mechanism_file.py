"""Mechanisms in files; the suffix says in which format."""

from pathlib import Path

from varint.errors import ArgumentError, FileError
from varint.io.formats import FORMATS, Format
from varint.mechanism import Mechanism
from varint.model.checks import of_type, path_of


def save_mechanism(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism in the format of the path's suffix; in the default one where the suffix is unknown.

    Raises FileError if the file cannot be written, or a mechanism not in this format.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    path = Path(path_of(path))
    save = _format_of(path).save
    if save is None:
        known = ", ".join(suffix for suffix, format_ in FORMATS.items() if format_.save)
        raise FileError(f"cannot write '{path}': mechanisms are written as {known}")
    try:
        save(mechanism, path)
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror}") from None


def load_mechanism(path: str | Path) -> Mechanism:
    """Read a mechanism from a file: data, or a script that defines ``build() -> Mechanism``, by its suffix.

    Raises FileError if it cannot be read, with file and line; MechanismError if it describes none.
    """
    path = Path(path_of(path))
    return _format_of(path).load(path)


def _format_of(path: Path) -> Format:
    default = next(format_ for format_ in FORMATS.values() if format_.default)
    return FORMATS.get(path.suffix, default)
