"""Cost of a Newton iteration against the number of links, and the memory of a very long chain.

The highest frequency of a hanging chain of n uniform slender links of length l is below sqrt(12 g n / l), which it
approaches as n grows: at the top, where the tension is n m g, neighbouring joints swing in opposite directions. The
scheme of order 2 is stable up to omega dt = 2. A step of 10 ms is therefore too long for more than l / (3 g dt^2), some
340, links of 1 m: beyond that the iterations of a step grow with n, and the motion is not resolved. The step here falls
with n, so that omega dt is at most 1.
"""

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
GRAVITY = 9.81  # m/s^2
LINK = 1.0  # m
RESOLVED = 1.0  # omega dt of the fastest motion; the scheme is stable below 2


def time_step(n):
    """s: `RESOLVED` over the highest frequency of the chain, and at most 10 ms."""
    return min(0.01, RESOLVED / np.sqrt(12 * GRAVITY * n / LINK))


def iterations_a_step(n, dt):
    """Newton iterations a step of the bent chain, and the shortest wall time (s) of one."""
    march = march_of(chain(n, angle=0.1), dt)
    steps = max(5, 20_000 // n)
    march.advance(steps)
    saved, best = march.checkpoint(), float("inf")
    for _ in range(5):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(steps)
        best = min(best, (time.perf_counter() - began) / block.newton_iterations)
    assert march.failure is None
    return block.newton_iterations / steps, best


def measure():
    measured = [iterations_a_step(n, time_step(n)) for n in LENGTHS]
    exponent = np.polyfit(np.log(LENGTHS), np.log([seconds for _, seconds in measured]), 1)[0]
    rows = [
        (
            f"one Newton iteration, n = {n}, dt = {time_step(n) * 1e3:.2g} ms",
            f"{seconds * 1e6:.1f} us = {seconds / n * 1e6:.2f} us a link, {count:.1f} iterations a step",
            "",
            None,
        )
        for n, (count, seconds) in zip(LENGTHS, measured, strict=True)
    ]
    rows.append(("exponent of the cost in n", f"{exponent:.3f}", f"<= {EXPONENT_LIMIT}", exponent <= EXPONENT_LIMIT))
    process = subprocess.run([sys.executable, __file__, str(LONGEST)], capture_output=True, text=True, check=True)
    memory = float(process.stdout)
    rows.append((f"memory, n = {LONGEST}", f"{memory:.2f} GiB", f"<= {MEMORY_LIMIT}", memory <= MEMORY_LIMIT))
    return rows


if __name__ == "__main__":
    long_chain = march_of(chain(int(sys.argv[1])), time_step(int(sys.argv[1])))
    long_chain.advance(3)
    assert long_chain.failure is None
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
