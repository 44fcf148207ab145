"""Atomic writes: a temporary file in the same folder, synced to the disk, then renamed over its target."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from varint.base.errors import FileError

STEM = 40  # characters of the name of the target that its temporary file keeps


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path of the same suffix; the file written there replaces ``path`` at the end of the block.

    Links are followed; mode and owner of a replaced file are kept. A pipe or a device is written to directly.

    Raises FileError where the file cannot be written. On any exception ``path`` keeps its content, and no other file
    is left.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        place = Path(os.path.realpath(path))
        fresh = place.with_name(f"{place.stem[:STEM]}.{secrets.token_hex(4)}.new{place.suffix}")
        try:
            _make(fresh, place)
            yield fresh
            _sync(fresh)
            os.replace(fresh, place)
        finally:
            fresh.unlink(missing_ok=True)
    except FileError:
        raise
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror or problem}") from None


def write_text(path: Path, text: str) -> None:
    """Write ``text`` in UTF-8 as `written_whole` does. Raises FileError."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` as `written_whole` does. Raises FileError."""
    with written_whole(path) as fresh:
        fresh.write_bytes(content)


def _make(fresh: Path, place: Path) -> None:
    """Create ``fresh`` with the mode and owner of an existing ``place``; OSError if ``place`` is read-only."""
    if not place.exists():
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        return
    old = os.open(place, os.O_WRONLY)
    try:
        status = os.fstat(old)
    finally:
        os.close(old)
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with suppress(PermissionError):  # only the superuser may change owners: otherwise the caller becomes the owner
        os.chown(fresh, status.st_uid, status.st_gid)
    os.chmod(fresh, status.st_mode & 0o7777)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
