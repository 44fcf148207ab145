"""Two threads that simulate the same mechanism, against one run after the other. Needs two idle cores."""

import time
from concurrent.futures import ThreadPoolExecutor

from common import chain

import varint as vi

LIMIT = 1.7  # times as fast


def measure():
    mechanism = chain(50)

    def work(_):
        return vi.simulate(mechanism, 20.0, 0.001, every=1000, on_unresolved="ignore")

    work(0)
    best = 0.0
    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            began = time.perf_counter()
            for number in range(2):
                work(number)
            alone = time.perf_counter() - began
            began = time.perf_counter()
            list(pool.map(work, range(2)))
            best = max(best, alone / (time.perf_counter() - began))
    return [("two runs in two threads", f"{best:.2f} times as fast", f">= {LIMIT}", best >= LIMIT)]
