"""Paths of files from users: checked before anything is computed or written."""

import os
import tempfile
from pathlib import Path

from varint.base.checks import shown
from varint.base.errors import FileError


def path_of(value: object, label: str = "a path") -> str:
    """Return ``value``, a text or a path, as a text; raises FileError where it cannot name a file."""
    if not isinstance(value, str | os.PathLike):
        raise FileError(f"{label} must be a text or a path, got {shown(value)}")
    try:
        path = os.fspath(value)
        if not isinstance(path, str):
            raise FileError(f"{label} must be a text or a path, got {shown(value)}")
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # reported when it is opened
    except FileError:
        raise
    except OSError as problem:
        raise FileError(f"cannot use {shown(value)}: {problem.strerror}") from None
    except Exception as problem:  # a zero byte, half a surrogate, an error of a user's class of paths
        raise FileError(f"no file can be called {shown(value)}: {shown(problem)}") from problem
    return path


def can_be_written(path: str | Path) -> None:
    """Raise FileError where no file can be written at ``path``; writes nothing."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileError(f"cannot write '{path}': no folder '{path.parent}'")
    try:
        if path.exists():
            path.open("ab").close()
        if path.is_file() or not path.exists():  # its replacement is made beside it, see `varint.base.atomic_writes`
            tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))).close()
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror or problem}") from None
