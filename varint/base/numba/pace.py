"""Times of compilations on this machine: a clock that moves meanwhile, and estimates by those that have ended."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from varint.base.printable import retell

TICK = 1.0  # s
ESTIMATED, MEASURED = 5.0, 2.0  # s, from both of which on a compilation says how fast the machine is
SLOWEST, FASTEST = 4.0, 0.25  # times as long as on the machine of the estimates


class CompilationPace:
    """The ratio of times of compilations to their estimates, of those of this process that have ended."""

    def __init__(self) -> None:
        self.spent = self.estimated = 0.0  # s
        self._shown = threading.Lock()

    def estimate(self, seconds: float) -> int:
        """Return the estimate of a compilation of so many seconds, s, at least 1."""
        share = self.spent / self.estimated if self.spent else 1.0
        return max(1, round(seconds * min(max(share, FASTEST), SLOWEST)))

    @contextmanager
    def timed(self, seconds: float) -> Iterator[None]:
        """Time a compilation that is estimated to take so many ``seconds``, and show them on a terminal as they pass.

        0: one that is not announced, which is neither timed nor shown.
        """
        if not seconds:
            yield
            return
        began, ended = time.monotonic(), threading.Event()
        shows = sys.stderr is not None and sys.stderr.isatty() and self._shown.acquire(blocking=False)
        ticking = threading.Thread(target=_tick, args=(began, ended), daemon=True) if shows else None
        if ticking is not None:
            ticking.start()
        try:
            yield
        finally:
            ended.set()
            if ticking is not None:
                ticking.join()
                self._shown.release()
            spent = time.monotonic() - began
            if seconds >= ESTIMATED and spent >= MEASURED:
                self.spent, self.estimated = self.spent + spent, self.estimated + seconds


def _tick(began: float, ended: threading.Event) -> None:
    """Show the seconds since ``began`` until ``ended``, and take them away."""
    told = False
    while not ended.wait(TICK):
        told = True
        retell(f"... {time.monotonic() - began:.0f} s")
    if told:
        retell("")


PACE = CompilationPace()
