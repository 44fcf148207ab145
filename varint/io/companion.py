"""The companion of a robot file: a TOML file beside it, which includes it and holds what its format does not."""

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from varint.errors import FileError
from varint.io.toml_files import INCLUDE, SUFFIX
from varint.io.toml_text import value_text
from varint.whole import write_bytes, write_text, written_whole


def save_pair(path: Path, robot: str, companion: str, overwrite: bool) -> None:
    """Write the text ``robot`` to ``path`` and ``companion`` beside it; where that is empty, remove an old companion.

    Both files are replaced or none. ``overwrite``: also in place of a TOML file that is not the companion of ``path``.
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
    with _restored(other), written_whole(path) as fresh:
        fresh.write_text(robot, encoding="utf-8")
        if companion:
            write_text(other, f"{_mark(path)}\n{companion}")
        elif ours or foreign:
            os.unlink(os.path.realpath(other))


def _mark(path: Path) -> str:
    """The first line of the companion of ``path``."""
    name = value_text(path.name)
    return f"# Companion of {name}: saving {name} rewrites or removes this file, unless this line is deleted."


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.readline().rstrip("\n")


def _includes(other: Path, path: Path) -> bool:
    """Whether the file ``other`` is a TOML file that includes ``path``."""
    try:
        names = tomllib.loads(other.read_text(encoding="utf-8-sig")).get(INCLUDE, [])
    except (ValueError, RecursionError):  # no TOML, which nobody can load as a mechanism
        return False
    listed = [names] if isinstance(names, str) else names if isinstance(names, list) else []
    return any(isinstance(name, str) and (other.parent / name).resolve() == path.resolve() for name in listed)


@contextmanager
def _restored(path: Path) -> Iterator[None]:
    """Give the file at ``path`` its content back if the block raises; remove it if there was none."""
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
