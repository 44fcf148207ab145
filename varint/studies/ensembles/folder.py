"""The folder of an ensemble: its description, its table, the runs of its members.

ensemble.json   source of its mechanisms, the arguments of all runs, the parameters of each member
results.csv     the table
runs/NNN/NNNNNN.h5
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from varint.base.atomic_writes import write_text
from varint.base.checks import is_nested_deep, shown
from varint.base.errors import FileError
from varint.base.paths import path_of
from varint.files.runs.lock import SUFFIX as LOCK

FORMAT = "varint ensemble 2"
FORMATS = ("varint ensemble 1", FORMAT)  # that are read; runs and rows of the first have no fingerprints
OF_RUNS = re.compile(r"runs/\d{3,}/\d{6,}\.h5(\.[0-9a-f]{8}\.new|\.lock)?")  # also unfinished ones of a killed process
DESCRIPTION, TABLE, RUNS = "ensemble.json", "results.csv", "runs"


def checked_folder(output: object, may_exist: bool) -> Path:
    """Return the absolute path of the folder of an ensemble. Raises FileError if other files are in it."""
    folder = Path(os.path.realpath(path_of(output, "output")))
    if folder.exists() and not folder.is_dir():
        raise FileError(f"'{output}' is not a folder: the runs of an ensemble lie in one")
    try:
        held = any(folder.iterdir()) if folder.is_dir() else False
    except OSError as problem:
        raise FileError(f"cannot read '{output}': {problem.strerror}") from None
    if held and not (folder / DESCRIPTION).is_file():
        raise FileError(f"'{output}' holds other files, and no ensemble: give an empty folder, or a new one")
    if held and not may_exist:
        raise FileError(f"'{output}' holds an ensemble: resume=True continues it, overwrite=True replaces it")
    if not folder.parent.is_dir():
        raise FileError(f"cannot write '{output}': no folder '{folder.parent}'")
    return folder


def make(folder: Path) -> None:
    """Make the folder if it is missing. Raises FileError."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise FileError(f"cannot write '{folder}': {problem.strerror}") from None


def clear(folder: Path) -> list[str]:
    """Remove the ensemble in the folder: its runs, its table, its description last.

    Returns the paths of all other files, below ``folder``: they stay. Raises FileError.
    """
    try:
        for path in sorted((folder / RUNS).glob("*/*")):
            if OF_RUNS.fullmatch(path.relative_to(folder).as_posix()):
                path.unlink()
        for path in sorted((folder / RUNS).glob("*")):
            _remove_empty(path)
        _remove_empty(folder / RUNS)
        (folder / TABLE).unlink(missing_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        others = [path for path in folder.rglob("*") if not path.is_dir() and path.name != DESCRIPTION + LOCK]
    except OSError as problem:
        raise FileError(f"cannot replace the ensemble in '{folder}': {problem.strerror}") from None
    return sorted(path.relative_to(folder).as_posix() for path in others)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def write_description(folder: Path, described: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> None:
    """Write the description of the ensemble; the file appears whole. Raises FileError."""
    data = {"format": FORMAT, **described, "members": members}
    write_text(folder / DESCRIPTION, json.dumps(data, indent=1) + "\n")


def read_description(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the description of the ensemble, and the parameters of its members. Raises FileError."""
    path = folder / DESCRIPTION
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if is_nested_deep(data):
            raise RecursionError
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise FileError(f"cannot read '{path}': {why}") from None
    except RecursionError:
        raise FileError(f"'{path}': lists are nested too deep for an ensemble") from None
    if not isinstance(data, dict) or data.pop("format", None) not in FORMATS:
        raise FileError(f"'{path}' does not describe an ensemble of varint: expected '{FORMAT}'")
    members = data.pop("members", None)
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        raise FileError(f"'{path}' has no list of members")
    return data, members


def check_same(folder: Path, described: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> None:
    """Check that the ensemble in the folder is this one, perhaps with members added at the end; raises FileError."""
    other, known = read_description(folder)
    for key in dict.fromkeys([*described, *other]):
        if other.get(key) != described.get(key):
            raise FileError(
                f"'{folder}' holds another ensemble: its {key} is {shown(other.get(key))}, not"
                f" {shown(described.get(key))}; overwrite=True replaces it"
            )
    for number, (old, new) in enumerate(zip(known, members, strict=False)):
        if old != new:
            raise FileError(
                f"'{folder}' holds another ensemble: its member {number} has {shown(old)}, not {shown(new)};"
                " overwrite=True replaces it"
            )
    if len(known) > len(members):
        raise FileError(
            f"'{folder}' holds an ensemble of {len(known)} members, not {len(members)}: give them all, more may follow"
        )
