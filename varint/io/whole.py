"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from varint.errors import FileError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to, which is moved to its place in the end; a link is followed, not replaced.

    Raises FileError where it cannot be written; what was there before is then still there.
    """
    place = Path(os.path.realpath(path))
    fresh = place.with_name(f"{place.name}.{secrets.token_hex(4)}.new")
    try:
        yield fresh
        os.replace(fresh, place)
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror or problem}") from None
    finally:
        fresh.unlink(missing_ok=True)
