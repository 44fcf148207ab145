"""Checks of the path of a run file."""

import os
from pathlib import Path

from varint.base.errors import ArgumentError, FileError
from varint.files.runs.contents import SUFFIXES


def check_name(path: str | Path, label: str) -> None:
    """Check that ``path``, the argument ``label``, is named as files of runs are; raises ArgumentError."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        tables = ": tables are written by the trajectory, traj.to_csv(path)" if suffix == ".csv" else ""
        raise ArgumentError(f"{label} must end in {' or '.join(SUFFIXES)}, got '{path}'{tables}")


def check_place(path: Path, output: str | Path, may_exist: bool, otherwise: str = "") -> None:
    """Check that a file can be written at ``path``, which ``output`` leads to; raises FileError.

    ``otherwise``: what can be done about a file that exists, but replace it.
    """
    try:
        if not path.parent.is_dir():
            raise FileError(f"cannot write '{path}': no folder '{path.parent}'")
        if path.exists() and not path.is_file():
            raise FileError(f"cannot write '{path}': it is not a file")
        if path.exists() and not may_exist:
            raise FileError(f"'{output}' exists: overwrite=True to replace it{otherwise}")
        if path.exists() and not os.access(path, os.W_OK):
            raise FileError(f"cannot write '{path}': it is read-only")
    except PermissionError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror}") from None
