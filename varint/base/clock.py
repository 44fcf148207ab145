"""A clock of the steps alone: it stands still while this thread compiles functions, or waits for their compilation."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class _Compiling(threading.local):
    depth, seconds = 0, 0.0  # compilations within one another; time of the outermost ones so far, s


_OF_THREAD = _Compiling()


def clock() -> float:
    """Return a time, s, of which differences are spans of this thread without compilation."""
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
