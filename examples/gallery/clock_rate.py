"""How much does my clock lose when its swing grows?

A pendulum clock keeps time at a swing of 2 degrees. Freshly oiled it swings 3 degrees. How many seconds a day does it
lose?

The period of a pendulum that swings by a is 2 K(sin(a / 2)) / pi times that of a small swing, with the complete
elliptic integral K: the circular error. `vi.crossings` reads the period off a run to a nanosecond.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ellipk

import varint as vi

LENGTH = 0.994  # m: a period of 2 s
SWINGS = np.radians([0.5, 1, 2, 3, 5, 8, 12])
DAY = 86400.0  # s


def period(swing):
    """s"""
    bob = vi.Body.sphere("bob", 0.01, 1.0, position=(0, 0, -LENGTH))
    hinge = vi.Revolute("hinge", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    mech = vi.Mechanism("pendulum", [bob], [hinge], start={"coordinates": {"hinge": swing}})
    return np.diff(vi.crossings(vi.simulate(mech, 9.0, 0.02, order=8), "hinge", 0.0, direction=1)).mean()


def answer() -> dict:
    moment = LENGTH**2 + 0.4 * 0.01**2  # of a mass of 1 kg, about the hinge
    small = 2 * np.pi * np.sqrt(moment / (9.81 * LENGTH))
    found = np.array([period(swing) for swing in SWINGS]) / small
    exact = 2 / np.pi * ellipk(np.sin(SWINGS / 2) ** 2)
    return {"lost": DAY * (1 - 1 / found), "exact": DAY * (1 - 1 / exact)}


def main(picture=None):
    found = answer()
    for swing, lost, exact in zip(np.degrees(SWINGS), found["lost"], found["exact"], strict=True):
        print(f"at {swing:4.1f} degrees it loses {lost:8.4f} s a day, in closed form {exact:8.4f}")
    more = found["lost"][3] - found["lost"][2]
    print(f"from 2 to 3 degrees it loses {more:.2f} s a day")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "swing to each side (degrees)", "ylabel": "lost (s a day)"})
        axes.loglog(np.degrees(SWINGS), found["exact"], "k-", label="elliptic integral")
        axes.loglog(np.degrees(SWINGS), found["lost"], "o", color="C1", label="runs")
        axes.set_xticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
        axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        axes.minorticks_off()
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
