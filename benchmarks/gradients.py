"""What a gradient costs, over a run: `python gradients.py` prints tables of docs/gradients.md and docs/redmax.md."""

import time

import numpy as np

import varint as vi
from varint.gradients import reduced_records, reduced_residuals, reduced_tape
from varint.gradients.reduced import SCHEMES
from varint.gradients.taped import Adjoint, TapedRun
from varint.integrators.schemes import scheme

STEPS, DT, REPEATS = 1000, 0.001, 5


def seconds(function):
    """Least of some trials, and what it gave last."""
    least = np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        found = function()
        least = min(least, time.perf_counter() - begin)
    return least, found


def ratios(links, order):
    """Run and gradient by the start, and each number, over the run alone."""
    mechanism, state = vi.mechanisms.n_pendulum(links), vi.mechanisms.n_pendulum(links).state()
    given = {"order": order, "every": STEPS, "tol": 1e-12, "on_unresolved": "ignore"}
    run, _ = seconds(lambda: vi.simulate(mechanism, STEPS * DT, DT, **given))
    taped, kept = seconds(lambda: TapedRun(mechanism, scheme(order), state, DT, 1e-12, [STEPS], (None, None)))
    by = np.random.default_rng(0).standard_normal((1, links, 12))
    back, adjoint = seconds(lambda: Adjoint(kept, by))
    scalar, _ = seconds(lambda: adjoint.scalar(mechanism, state))
    return (taped + back) / run, 4 * scalar / run


def reduced_ratios(mechanism, name, steps=200):
    """The same in reduced coordinates: the run that is kept, back along it, and each number."""
    state = mechanism.state()
    setting = reduced_records.Setting(steps, DT, None, None, 5.0, {}, "exponential", 1e-8)
    given = {"dt": DT, "every": steps, "integrator": name, "state": state}
    run, _ = seconds(lambda: vi.redmax.simulate(mechanism, steps * DT, **given))
    taped, kept = seconds(lambda: reduced_tape.TapedRun(mechanism, SCHEMES[name], state, setting, [steps]))
    by = np.random.default_rng(0).standard_normal((1, len(mechanism.bodies), 12))
    back, adjoint = seconds(lambda: reduced_residuals.ReducedAdjoint(kept, by))
    scalar, _ = seconds(lambda: adjoint.scalar(mechanism, state))
    return (taped + back) / run, 4 * scalar / run


if __name__ == "__main__":
    for links in (2, 10, 100):
        for order in (2, 4):
            start, number = ratios(links, order)
            print(f"{links} links, order {order}: start {start:.1f}, number {number:.1f}")
    for what, mechanism in (
        ("2 links", vi.mechanisms.n_pendulum(2)),
        ("10 links", vi.mechanisms.n_pendulum(10)),
        ("100 links", vi.mechanisms.n_pendulum(100)),
        ("four-bar", vi.mechanisms.four_bar()),
        ("Jansen leg", vi.mechanisms.jansen_leg()),
    ):
        for name in ("bdf1", "bdf2"):
            start, number = reduced_ratios(mechanism, name)
            print(f"reduced, {what}, {name}: start {start:.1f}, number {number:.1f}")
