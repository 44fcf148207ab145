"""The one compile decorator of the package, and where its results are kept.

numba's cache does not notice a change in a function called from another file, so the cache
folder carries a hash of every file in a folder of compiled code: any edit opens a fresh folder.
``NUMBA_CACHE_DIR`` wins over this choice; ``NUMBA_DISABLE_JIT=1`` runs the kernels as Python.
"""

import functools
import hashlib
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba

from varint._numba.compiler import Entry

config: Any = numba.config

PACKAGE = Path(__file__).parents[1]
COMPILED_FOLDERS = ("_numba", "algebra", "kernels", "measures", "model/forces", "products", "redmax/kernels")


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()} {platform.machine()}".encode())
    for folder in COMPILED_FOLDERS:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "varint" / _source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass  # a home that cannot be written: the temporary folder serves as well
    return Path(tempfile.gettempdir()) / f"varint-{os.getuid()}-{_source_hash()}"


CACHE_FOLDER = _cache_folder()


def is_compiled(entry_point) -> bool:
    """Whether ``entry_point``, a compiled function, is ready in memory or in the cache folder."""
    if config.DISABLE_JIT or entry_point.signatures:
        return True
    return any(CACHE_FOLDER.rglob(f"*.{entry_point.__name__}-*.nbc"))


@functools.cache
def _announce() -> None:
    print("varint: compiling its kernels, once on a machine (10 to 30 s) ...", file=sys.stderr, flush=True)


def announce_compilation(entry_point) -> None:
    """Say, once in a process, that compiling ``entry_point`` will take a while, if it will."""
    if not is_compiled(entry_point):
        _announce()


def njit(function=None, *, inline="never", cache=True):
    """Compile ``function``: cached, numpy's division rules (a zero pivot gives inf, never an exception),
    fused multiply-add allowed, no other liberty with floating point. It releases the interpreter's lock. ``cache``:
    whether to keep it, not for functions without a source file."""
    if function is None:
        return lambda f: njit(f, inline=inline, cache=cache)
    if config.DISABLE_JIT:
        return function
    options: Any = {
        "nopython": True,
        "boundscheck": None,
        "error_model": "numpy",
        "fastmath": {"contract"},
        "forceinline": inline == "always",
        "nogil": True,
        "_nrt": False,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": True,
    }
    entry = Entry(function, targetoptions=options)
    if cache:
        saved, config.CACHE_DIR = config.CACHE_DIR, str(CACHE_FOLDER)
        try:
            entry.enable_caching()
        finally:
            config.CACHE_DIR = saved
    return entry
