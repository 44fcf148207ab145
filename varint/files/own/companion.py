"""The companion of a robot file: a TOML file beside it, which includes it and holds what its format does not.

A save that replaces both renames two files. Between the two a marker lies beside the robot, with the digests of the new
files: if the process is killed there, `check_pair` finds one new file with one old file, and refuses to load them.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from varint.base.atomic_writes import write_bytes, written_whole
from varint.base.errors import FileError
from varint.files.own.toml_files import INCLUDE, SUFFIX
from varint.files.own.toml_places import too_long_key
from varint.files.own.toml_text import value_text

DIGITS = 64  # of a digest
LONGEST = 200  # characters of the name of a robot that the name of its marker has


def save_pair(path: Path, robot: str, companion: str, overwrite: bool) -> None:
    """Write the text ``robot`` to ``path`` and ``companion`` beside it; where that is empty, remove an old companion.

    Both files are replaced or none, but for a kill, see `check_pair`. ``overwrite``: also in place of a TOML file that
    is not the companion of ``path``.
    Raises FileError.
    """
    other = path.with_suffix(SUFFIX)
    ours = other.is_file() and _first_line(other) == _mark(path)
    foreign = other.is_file() and not ours and (bool(companion) or _includes(other, path))
    if foreign and not overwrite:
        if companion:
            why = (
                f"its loops, forces and start belong in '{other}', a file that was not saved with it: overwrite=True"
                " replaces it"
            )
        else:
            why = f"'{other}' includes it and was not written with it: overwrite=True removes it"
        raise FileError(f"cannot write '{path}': {why}")
    content = f"{_mark(path)}\n{companion}" if companion else ""
    marker = _marker(path)
    try:
        with _restored(other), written_whole(path) as fresh:
            fresh.write_text(robot, encoding="utf-8")
            if companion:
                with written_whole(other) as fresh_companion:
                    fresh_companion.write_text(content, encoding="utf-8")
                    _write_marker(marker, robot, content)
            elif ours or foreign:
                _write_marker(marker, robot, content)
                os.unlink(os.path.realpath(other))
    finally:
        marker.unlink(missing_ok=True)


def check_pair(path: Path) -> None:
    """Raise FileError where a save of the robot ``path`` was killed after it replaced one of its two files.

    Files that both are of that save, or both are not, pass.
    """
    marker, other = _marker(path), path.with_suffix(SUFFIX)
    try:
        digests = marker.read_text(encoding="utf-8").split()
    except (OSError, ValueError):  # no marker, or one that another program wrote
        return
    if [*map(len, digests)] != 2 * [DIGITS]:  # killed while the marker was written, before either file was replaced
        return
    now = [_digest(file.read_bytes() if file.is_file() else b"") for file in (path, other)]
    new = [digest == written for digest, written in zip(now, digests, strict=True)]
    if new[0] != new[1]:
        fresh, old = (path, other) if new[0] else (other, path)
        raise FileError(
            f"saving '{path}' was interrupted: '{fresh}' is new, and '{old}' is not. Save the mechanism again, or"
            f" remove '{marker}' to load the files as they are"
        )


def _marker(path: Path) -> Path:
    place = Path(os.path.realpath(path))
    return place.with_name(f"{place.name[:LONGEST]}.saving")


def _write_marker(marker: Path, robot: str, companion: str) -> None:
    with marker.open("w", encoding="utf-8") as file:
        file.write(f"{_digest(robot.encode())}\n{_digest(companion.encode())}\n")
        file.flush()
        os.fsync(file.fileno())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _mark(path: Path) -> str:
    """Return the first line of the companion of ``path``."""
    name = value_text(path.name)
    return f"# Companion of {name}: saving {name} rewrites or removes this file, unless this line is deleted."


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.readline().rstrip("\n")


def _includes(other: Path, path: Path) -> bool:
    """Return whether the file ``other`` is a TOML file that includes ``path``."""
    try:
        text = other.read_text(encoding="utf-8-sig")
        names = tomllib.loads(text).get(INCLUDE, []) if too_long_key(text) is None else []
    except (ValueError, RecursionError):  # no TOML, which nobody can load as a mechanism
        return False
    listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    return any(isinstance(name, str) and (other.parent / name).resolve() == path.resolve() for name in listed)


@contextmanager
def _restored(path: Path) -> Iterator[None]:
    """Give the file at ``path`` its content back if the block raises; remove it if it did not exist."""
    before = path.read_bytes() if path.is_file() else None
    try:
        yield
    except BaseException:
        now = path.read_bytes() if path.is_file() else None
        if before is None and now is not None:
            os.unlink(os.path.realpath(path))
        elif before is not None and now != before:
            write_bytes(path, before)
        raise
