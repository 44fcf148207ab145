"""Mechanisms in files; the suffix says in which format."""

from collections.abc import Iterable
from pathlib import Path

from varint.errors import ArgumentError, FileError
from varint.io.formats import FORMATS
from varint.io.run_file import SUFFIXES
from varint.mechanism import Mechanism
from varint.model.checks import of_type, path_of


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


def load_mechanism(path: str | Path) -> Mechanism:
    """Read a mechanism from a file: data, or a script that defines ``build() -> Mechanism``, by its suffix.

    Raises FileError if it cannot be read, with file and line; MechanismError if it describes none.
    """
    path = Path(path_of(path))
    if path.suffix not in FORMATS:
        of_run = ", and varint.load reads the run" if path.suffix.lower() in SUFFIXES else ""
        raise FileError(f"cannot read '{path}': {_known(FORMATS, 'read')}{of_run}")
    return FORMATS[path.suffix].load(path)


def _known(suffixes: Iterable[str], done: str) -> str:
    return f"files of mechanisms that can be {done} end in {' or '.join(suffixes)}"
