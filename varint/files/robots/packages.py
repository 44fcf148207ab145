"""Files that other files name: by ``package://``, ``model://``, ``file://``, or a path. Nothing is opened here."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

SCHEMES = ("package://", "model://")
OF_FILE = "file://"


class ImportOptions(NamedTuple):
    """Options of the import of robot files.

    packages : folders in which ``package://`` and ``model://`` are looked for
    repair : whether defects that the import report lists as repaired are no errors
    """

    packages: Sequence[Path] = ()
    repair: bool = False


def found_file(uri: str, path: Path, packages: Sequence[Path]) -> Path | None:
    """Return the file of ``uri`` in a file at ``path``; None if it does not exist or is outside of its folder.

    ``package://NAME/REST`` and ``model://NAME/REST`` are looked for as NAME/REST in each of the ``packages``, as REST
    in those of them called NAME, and the same from the folders around ``path``. No other scheme is followed. A path is
    looked for from the folder of ``path``, then from each of the ``packages``.
    """
    scheme = next((scheme for scheme in SCHEMES if uri.startswith(scheme)), "")
    if scheme:
        name, _, rest = uri.removeprefix(scheme).partition("/")
        if not name or not _stays(f"{name}/{rest}"):
            return None
        folders = [*packages, *path.resolve().parents]
        candidates = [folder / name / rest for folder in folders]
        candidates += [folder / rest for folder in folders if folder.name == name]
    elif "://" in uri and not uri.startswith(OF_FILE):
        return None
    else:
        candidates = [path.resolve().parent / uri.removeprefix(OF_FILE)]
        if uri and not uri.startswith(OF_FILE) and _stays(uri):
            candidates += [folder / uri for folder in packages]
    return next((candidate for candidate in candidates if _exists(candidate)), None)


def _stays(text: str) -> bool:
    """Return whether a path stays below its first folder."""
    parts = PurePosixPath(text).parts
    return ".." not in parts and not text.startswith("/")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long, a zero byte
        return False
