"""Cost of a step against the number of links, and the memory of a very long chain."""

import resource
import subprocess
import sys
import time

import numpy as np
from common import chain, march_of

LENGTHS = (10, 30, 100, 300, 1000, 3000, 10_000)
EXPONENT_LIMIT = 1.1
MEMORY_LIMIT = 2.0  # GiB, whole process
LONGEST = 100_000


def seconds_a_step(n):
    """Of a chain bent by gravity alone, where every length needs the same Newton iterations."""
    march = march_of(chain(n, angle=0.1))
    steps = max(5, 20_000 // n)
    march.advance(steps)
    saved, best = march.checkpoint(), float("inf")
    for _ in range(5):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(steps)
        best = min(best, (time.perf_counter() - began) / block.newton_iterations)
    return best


def measure():
    times = [seconds_a_step(n) for n in LENGTHS]
    exponent = np.polyfit(np.log(LENGTHS), np.log(times), 1)[0]
    rows = [
        (f"one Newton iteration, n = {n}", f"{t * 1e6:.1f} us = {t / n * 1e6:.2f} us a link", "", None)
        for n, t in zip(LENGTHS, times, strict=True)
    ]
    rows.append(("exponent of the cost in n", f"{exponent:.3f}", f"<= {EXPONENT_LIMIT}", exponent <= EXPONENT_LIMIT))
    process = subprocess.run([sys.executable, __file__, str(LONGEST)], capture_output=True, text=True, check=True)
    memory = float(process.stdout)
    rows.append((f"memory, n = {LONGEST}", f"{memory:.2f} GiB", f"<= {MEMORY_LIMIT}", memory <= MEMORY_LIMIT))
    return rows


if __name__ == "__main__":
    long_chain = march_of(chain(int(sys.argv[1])))
    long_chain.advance(3)
    assert long_chain.failure is None
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
