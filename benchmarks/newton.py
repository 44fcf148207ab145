"""One Newton iteration of a revolute chain of 100 links at tolerance 1e-10, all included."""

import time

from common import chain, march_of

LIMIT = 1.5  # us a link


def measure():
    march = march_of(chain(100))
    march.advance(50)
    saved = march.checkpoint()
    best = float("inf")
    for _ in range(7):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(300)
        best = min(best, (time.perf_counter() - began) / block.newton_iterations / 100 * 1e6)
    return [("one Newton iteration, revolute chain n = 100", f"{best:.2f} us a link", f"<= {LIMIT}", best <= LIMIT)]
