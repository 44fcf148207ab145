"""A chain of rhombi, one loop each: cost of a step against their number, and against one dense node for all loops."""

import time

from common import march_of

import varint as vi

RATIO_LIMIT, GAIN_LIMIT, STEP_LIMIT = 5.0, 10.0, 1.0  # t(64) / t(16); single / clusters at 64; ms at 16
SECONDS = 1.0  # of the fall from the default start, at 10 ms


def milliseconds_a_step(m, clustered=True, repeats=5):
    """Wall time of a step, and Newton iterations, over the first second."""
    march = march_of(vi.mechanisms.rhombus_chain(m=m), clustered=clustered)
    saved, steps, best = march.checkpoint(), round(SECONDS / march.dt), float("inf")
    for _ in range(repeats):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(steps)
        best = min(best, (time.perf_counter() - began) / steps * 1e3)
    assert march.failure is None
    return best, block.newton_iterations / steps


def measure():
    (small, small_count), (large, large_count) = (milliseconds_a_step(m) for m in (16, 64))
    single, _ = milliseconds_a_step(64, clustered=False, repeats=2)
    ratio, gain = large / small, single / large
    return [
        (
            "a step, m = 16, 10 ms",
            f"{small:.2f} ms, {small_count:.2f} iterations",
            f"<= {STEP_LIMIT} ms",
            small <= STEP_LIMIT,
        ),
        ("a step, m = 64", f"{large:.2f} ms, {large_count:.2f} iterations", "", None),
        ("t(64) / t(16)", f"{ratio:.2f}", f"<= {RATIO_LIMIT}", ratio <= RATIO_LIMIT),
        ("one dense node / clusters, m = 64", f"{gain:.1f}", f">= {GAIN_LIMIT}", gain >= GAIN_LIMIT),
    ]
