"""One writer a run file: a lock beside it, which goes with the process that holds it, however that ends."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from varint.base.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".lock"
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)  # of file systems that know none


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file at ``path``. Raises FileError, with the number of the process, where another has it.

    File systems without locks are taken as they are.
    """
    if fcntl is None:
        yield
        return
    beside = path.with_name(path.name + SUFFIX)
    handle = _acquired(beside, path)
    try:
        yield
    finally:
        beside.unlink(missing_ok=True)  # while it is held: nobody else can have locked it
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Return whether a process writes the run file at ``path``; False if that is unknown."""
    try:
        handle = os.open(path.with_name(path.name + SUFFIX), os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)


def _acquired(beside: Path, path: Path) -> int:
    while True:
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError as problem:
            raise FileError(f"cannot write '{path}': no lock file '{beside}': {problem.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            holder = os.read(handle, 100).decode(errors="replace").strip()
            if problem.errno not in NO_LOCKS:
                os.close(handle)
                who = f"process {holder}" if holder else "another process"
                raise FileError(
                    f"'{path}' is being written by {who}: wait for its end, or give another output"
                ) from None
        if is_at(handle, beside):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()} on {os.uname().nodename}\n".encode(), 0)
            return handle
        os.close(handle)  # its holder removed it after it was opened here


def is_at(handle: int, path: Path) -> bool:
    """Return whether the open file ``handle`` is the one that ``path`` names now."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
