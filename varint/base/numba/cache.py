"""The cache of compiled functions.

Each is one file. Its name says all that the code depends on: the function with all that is compiled into it
(`digests`), the types of its arguments, the processor; the folder's name is a hash of the compiler. An edit therefore
compiles only the functions that it can change, and a comment none. A file begins with a checksum
of the rest. It is written beside and renamed: two processes that compile the same leave one whole file. Whoever can
write such a file decides what runs, so the folder must be the user's alone; ``NUMBA_CACHE_DIR`` names one that is not
checked. A wheel can bring such files along (`shipped`), which are used where the folder has none.
"""

import contextlib
import errno
import functools
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from varint.base.numba import shipped
from varint.base.numba.digests import COMMON_HASH, digest_of

config: Any = numba.config

CHECKSUM = hashlib.sha256().digest_size  # bytes
ORIGINS: Counter[str] = Counter()  # of the forms of functions in this process: "kept", "shipped", "compiled"
USED: set[Any] = set()  # entries of this process that were compiled or read


class WantedCode:
    """Hook that a process runs before it compiles a function.

    ``shipped``: whether what a wheel brings along will do. ``ahead``: whether other processes may compile for it.
    """

    shipped = ahead = True


@functools.cache
def tell(line: str) -> None:
    """Write ``line`` to stderr, once in a process."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # a full disk may hold stderr too: that ends no run
            print(f"varint: {line}", file=sys.stderr, flush=True)


class NotPrivate(OSError):
    """A folder that another user can write to, or has made."""


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of compiled functions, None if no folder is usable; report refused folders on stderr."""
    chosen = bool(config.CACHE_DIR)
    refused: dict[Path, OSError] = {}
    found = None
    for folder in [Path(config.CACHE_DIR, "varint").absolute()] if chosen else _own_folders():
        try:
            folder.parent.mkdir(mode=0o777 if chosen else 0o700, parents=True, exist_ok=True)
            for made in (folder, folder / COMMON_HASH):
                made.mkdir(mode=0o777 if chosen else 0o700, exist_ok=True)
                if not chosen:
                    _check(made)
            found = folder / COMMON_HASH
            break
        except OSError as problem:
            refused[folder] = problem
    for folder, why in refused.items():
        if found is None or isinstance(why, NotPrivate):
            tell(f"compiled functions are not kept in '{folder}': {why.strerror or why}")
    return found


def _own_folders() -> Iterator[Path]:
    """Yield folders that may serve: in the user's folder for caches, then in the one for temporary files."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # others do not count, by the specification
        yield Path(named, "varint")
    else:
        with contextlib.suppress(RuntimeError):  # a user without a home
            home = Path.home()
            if home.is_absolute() and home.is_dir():
                yield home / ".cache" / "varint"
    with contextlib.suppress(OSError):  # no folder for temporary files, or a full disk
        owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # not on Windows: it has one such folder a user
        yield Path(tempfile.gettempdir(), f"varint{owner}")


def _check(folder: Path) -> None:
    """Raise NotPrivate where other users can change ``folder``, PermissionError where it cannot be written to."""
    found = folder.lstat()
    if hasattr(os, "getuid"):
        remedy = "remove it, or name a folder of your own in NUMBA_CACHE_DIR"
        if not stat.S_ISDIR(found.st_mode):
            raise NotPrivate(f"'{folder}' is a link; {remedy}")
        if found.st_uid != os.getuid():
            raise NotPrivate(f"'{folder}' belongs to another user; {remedy}")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise NotPrivate(f"other users can write to '{folder}'; {remedy}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it cannot be written to")


class FunctionCache:
    """The kept forms of one function, with the methods that numba's dispatchers call."""

    def __init__(self, function) -> None:
        self.function = function
        self.enabled = os.path.isfile(function.__code__.co_filename)  # not what was typed in

    @functools.cached_property
    def digest(self) -> bytes:
        """Digest of all that the function depends on, see `digest_of`."""
        return digest_of(self.function)

    @property
    def keeps(self) -> bool:
        """Whether a function compiled now will be there in later processes."""
        return self.enabled and cache_folder() is not None

    @property
    def cache_path(self) -> str | None:
        """The folder, as numba's statistics name it."""
        return str(cache_folder()) if self.keeps else None

    @property
    def prefix(self) -> str:
        """Common start of the names of this function's files."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return re.sub(r"[^a-zA-Z0-9._]", "_", name)[-100:]

    @property
    def _start(self) -> str:
        return f"{self.prefix}-{self.digest.hex()[:8]}"

    def disable(self) -> None:
        self.enabled = False

    @property
    def is_kept(self) -> bool:
        """Whether there is a file of this function, for any types of arguments."""
        brought = shipped.find().folder if WantedCode.shipped else None
        folders = [folder for folder in (cache_folder(), brought) if folder is not None]
        return self.enabled and any(any(folder.glob(f"{self._start}-*.nbc")) for folder in folders)

    def load_overload(self, signature, target_context) -> Any:
        """Return the compiled form for these types of arguments; None where it is not kept, or its file is damaged."""
        target_context.refresh()
        if not self.enabled:
            return None
        codegen = target_context.codegen()
        own = cache_folder()
        found = self._read(own / self._name(signature, _target(codegen)), target_context) if own else None
        if found is not None or not WantedCode.shipped:
            ORIGINS["kept"] += found is not None
            return found
        folder, why_not = shipped.find()
        if folder is not None:
            found = self._read(folder / self._name(signature, shipped.CPU_CLASS), target_context)
            ORIGINS["shipped"] += found is not None
        elif why_not:
            tell(f"the compiled functions that came with varint cannot be used: {why_not}")
        return found

    def _read(self, path, target_context) -> Any:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            tell(f"'{path}' cannot be read ({problem.strerror}): it is compiled anew")
            return None
        checksum, data = content[:CHECKSUM], content[CHECKSUM:]
        if hashlib.sha256(data).digest() != checksum:
            tell(f"files in the compile cache '{path.parent}' are damaged: they are compiled anew")
            return None
        try:
            form = CompileResult._rebuild(target_context, *pickle.loads(data))
        except ImportError:  # numba imports the function's module, which a script read by its path has not
            return None
        except Exception as problem:  # made by another build of what numba needs
            tell(f"'{path}' cannot be used ({type(problem).__name__}): it is compiled anew")
            return None
        USED.add(self.function)
        return form

    def save_overload(self, signature, compiled) -> None:
        """Keep a compiled form; says so on stderr where that fails."""
        ORIGINS["compiled"] += 1
        USED.add(self.function)
        if not self.keeps or compiled.library.has_dynamic_globals:
            return
        folder = cache_folder()
        assert folder is not None  # see `keeps`
        path = folder / self._name(signature, _target(compiled.library.codegen))
        data = dumps(compiled._replace(type_annotation="")._reduce())  # which would hold the source, with its path
        try:
            _write(path, hashlib.sha256(data).digest() + data)
        except OSError as problem:
            tell(
                f"compiled functions cannot be kept in '{path.parent}' ({problem.strerror}):"
                " they are compiled again in each process"
            )

    def _name(self, signature, target) -> str:
        digest = hashlib.sha256(repr((signature, target)).encode() + self.digest)
        return f"{self._start}-{digest.hexdigest()[:32]}.nbc"


def _target(codegen) -> Any:
    """Return the processor that ``codegen`` makes code for, as files of functions are named by it."""
    return shipped.CPU_CLASS if shipped.is_of_class(codegen) else codegen.magic_tuple()


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
