"""Cost of a step against the number of loops: rhombi in a chain, one loop each, and loops that share bodies."""

import time

from common import march_of

import varint as vi

RATIO_LIMIT, GAIN_LIMIT, STEP_LIMIT = 5.0, 10.0, 1.0  # t(64) / t(16); single / clusters at 64; ms at 16
LINEAR = 5.0  # t(40) / t(10) an iteration, of loops that share bodies
SECONDS = 1.0  # of the fall from the default start, at 10 ms


def milliseconds_a_step(mechanism, dt=0.01, clustered=True, repeats=5):
    """Wall time of a step, and Newton iterations, over the first second."""
    march = march_of(mechanism, dt, clustered=clustered)
    saved, steps, best = march.checkpoint(), round(SECONDS / march.dt), float("inf")
    for _ in range(repeats):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(steps)
        best = min(best, (time.perf_counter() - began) / steps * 1e3)
    assert march.failure is None
    return best, block.newton_iterations / steps


def measure():
    chain = vi.mechanisms.rhombus_chain
    (small, small_count), (large, large_count) = (milliseconds_a_step(chain(m=m)) for m in (16, 64))
    single, _ = milliseconds_a_step(chain(m=64), clustered=False, repeats=2)
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
        _shared("four-bars in a row", vi.mechanisms.n_four_bar, 0.01),
        _shared("cells of a ladder", vi.mechanisms.ladder, 0.005),
    ]


def _shared(what, build, dt):
    """Row of the table: one biconnected component, so many loops as the only argument of ``build`` says."""
    (small, small_count), (large, large_count) = (milliseconds_a_step(build(n), dt) for n in (10, 40))
    ratio = large / large_count / (small / small_count)
    return (
        f"a step, 40 {what}, {1000 * dt:.0f} ms",
        f"{large:.2f} ms, {large_count:.2f} iterations; {ratio:.1f} times 10 of them an iteration",
        f"<= {LINEAR}",
        ratio <= LINEAR,
    )
