"""Which order should I take?

A double pendulum is to run for long. At the same price, is it better to take many steps of order 2 or few of a
higher order?

A step of order 2, 4, 6 or 8 is made of 1, 5, 13 or 21 stages. For each order the step is so long that all runs take the
same number of stages a second. All keep their energy without drift; the size of its swing is the error. High orders win
as soon as a step resolves the motion. `choose_step` compares them by trial runs, and with them collocation
(`varint.Lobatto`), which trees and loops may take.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

STAGES = {2: 1, 4: 5, 6: 13, 8: 21}
PRICES = np.array([400, 800, 1600, 3200])  # stages a second
DURATION = 100.0  # s


def error(order, price, duration=DURATION):
    """Largest energy error over the largest kinetic energy."""
    mech = vi.mechanisms.double_pendulum(angle=1.0)
    run = vi.simulate(mech, duration, STAGES[order] / price, order=order, every=5, on_unresolved="ignore")
    return abs(run.energy - run.energy[0]).max() / run.kinetic.max()


def answer() -> dict:
    errors = {order: np.array([error(order, price, DURATION * 400 / price) for price in PRICES]) for order in STAGES}
    mech = vi.mechanisms.double_pendulum(angle=1.0)
    choice = vi.choose_step(mech, DURATION, energy_error=1e-8)
    return {"errors": errors, "choice": choice, "run": vi.simulate(mech, DURATION, 0.0025, every=4)}


def main(picture=None):
    found = answer()
    for price, *errors in zip(PRICES, *found["errors"].values(), strict=True):
        listed = ", ".join(f"order {order} {e:.0e}" for order, e in zip(STAGES, errors, strict=True))
        print(f"{price} stages a second: energy error {listed}")
    choice = found["choice"]
    print(f"chosen for an energy error of 1e-8: {choice.scheme}, in steps of {1e3 * choice.dt:.1f} ms")
    trend = vi.energy_trend(found["run"])
    print(f"slope of the energy at order 2 over {DURATION:g} s: {trend.slope:.0e} +- {trend.error:.0e} J/s")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        labels = {"xlabel": "stages a second of motion", "ylabel": "energy error / kinetic energy"}
        axes = figure.subplots(subplot_kw=labels)
        for (order, errors), style in zip(found["errors"].items(), ("ko-", "ks--", "k^-.", "kD:"), strict=True):
            axes.loglog(PRICES, errors, style, label=f"order {order}")
        axes.set_xticks(PRICES, PRICES)
        axes.minorticks_off()
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
