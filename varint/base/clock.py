"""A clock of the steps alone: it stands still while this thread compiles functions, or waits for their compilation."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Compiling(threading.local):
    depth, seconds = 0, 0.0  # nesting of compilations that run; s, of the outermost ones that have ended


_OF_THREAD = _Compiling()


def clock() -> float:
    """Return seconds of a clock that excludes this thread's compilations; for differences within one thread."""
    return time.perf_counter() - _OF_THREAD.seconds


@contextmanager
def stopped_clock() -> Iterator[None]:
    """Stop `clock` in this thread, for a compilation."""
    began = time.perf_counter()
    _OF_THREAD.depth += 1
    try:
        yield
    finally:
        _OF_THREAD.depth -= 1
        if not _OF_THREAD.depth:
            _OF_THREAD.seconds += time.perf_counter() - began
