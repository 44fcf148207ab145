"""The trend of the energy of the catalogue's starfish over a hundred thousand steps, by the size and order of steps.

``python benchmarks/mesh_energy.py [DT [ORDER [STEPS]]]``, DT in s, prints the slope of the energy with its standard
error, its change over the run, and the means over the first and the last eighth less the energy at the start.
docs/deformable.md says where a trend comes from.
"""

import sys

import numpy as np

import varint as vi

DT, ORDER, STEPS, EVERY = 2e-5, 2, 100_000, 50


def main(dt=DT, order=ORDER, steps=STEPS):
    """Run and print."""
    run = vi.simulate(vi.mechanisms.starfish(), steps * dt, dt, order=order, every=EVERY)
    away = run.energy - run.energy[0]
    first, last = (part.mean() for part in (away[: len(away) // 8], away[-(len(away) // 8) :]))
    trend = vi.energy_trend(run)
    print(f"{run.steps} steps of {dt:g} s, order {order}: {trend}")
    print(f"of {run.energy[0]:.4e} J it changes by {trend.change:.2e} +- {trend.error * run.t[-1]:.1e} J over the run,")
    print(f"first eighth {first:.2e} J, last {last:.2e} J, largest {np.abs(away).max():.2e} J from its start")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*(kind(text) for kind, text in zip((float, int, int), given, strict=False)))
