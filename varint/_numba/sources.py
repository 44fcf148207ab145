"""The files with compiled code, and what else compiled functions depend on."""

import hashlib
import platform
import sys
from pathlib import Path

import llvmlite
import numba

PACKAGE = Path(__file__).parents[1]
COMPILED_FOLDERS = ("_numba", "algebra", "kernels", "measures", "model/forces", "products", "redmax/kernels")


def digest_of(path: Path) -> bytes:
    """Digest of the contents of a file. Raises OSError."""
    return hashlib.sha256(path.read_bytes()).digest()


def _all_sources() -> str:
    digest = hashlib.sha256()
    for folder in COMPILED_FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(digest_of(path))
    return digest.hexdigest()[:16]


SOURCES = _all_sources()
# the minor version of Python: its bytecode stays the same within one
VERSIONS = {"numba": numba.__version__, "llvmlite": llvmlite.__version__, "python": f"{sys.implementation.cache_tag}"}
SOURCE_HASH = hashlib.sha256(f"{SOURCES} {VERSIONS} {platform.machine()}".encode()).hexdigest()[:16]
