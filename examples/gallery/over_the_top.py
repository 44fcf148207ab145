"""From which starts does the pendulum go over the top?

A pendulum is let go at an angle with a push. For which of them does it turn all round, and for which does it swing
back?

`vi.ensemble` runs a grid of starts on all cores, and `measure` reduces each run to a number. Without friction the
border is a curve in closed form: the rate 2 sqrt(g / l) cos(angle / 2), the separatrix.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

LENGTH = 1.0  # m
ANGLES = np.linspace(-3.0, 3.0, 17)  # rad, from hanging
RATES = np.linspace(-8.0, 8.0, 14)  # rad/s


def build() -> vi.Mechanism:
    bob = vi.Body.sphere("bob", 0.01, 1.0, position=(0, 0, -LENGTH))
    hinge = vi.Revolute("hinge", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    return vi.Mechanism("pendulum", [bob], [hinge])


def turns(run):
    """How many turns it is away from its start, over the run."""
    return {"turns": np.ptp(run.coordinates["hinge"]) / (2 * np.pi)}


def answer() -> dict:
    grid = {"coordinates.hinge": list(ANGLES), "rates.hinge": list(RATES)}
    table = vi.ensemble(build, grid, duration=6.0, dt=0.02, order=4, measure=turns).table
    found = np.asarray(table["turns"]).reshape(len(ANGLES), len(RATES)) > 1
    border = 2 * np.sqrt(9.81 / LENGTH) * np.cos(ANGLES / 2)
    return {"over": found, "exact": abs(RATES)[None, :] > border[:, None]}


def main(picture=None):
    found = answer()
    print(f"{found['over'].sum()} of {found['over'].size} starts go over the top")
    print(f"{np.sum(found['over'] != found['exact'])} of them are on the other side of the separatrix")
    if picture:
        figure = Figure(figsize=(6, 3.8), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "angle at the start (rad)", "ylabel": "rate at the start (rad/s)"})
        angle, rate = np.meshgrid(ANGLES, RATES, indexing="ij")
        for over, style, label in ((True, "k.", "goes over the top"), (False, "wo", "swings back")):
            chosen = found["over"] == over
            axes.plot(angle[chosen], rate[chosen], style, markeredgecolor="k", markersize=5, label=label)
        fine = np.linspace(-np.pi, np.pi, 200)
        for side in (1, -1):
            border = side * 2 * np.sqrt(9.81 / LENGTH) * np.cos(fine / 2)
            axes.plot(fine, border, color="C1", label="separatrix" if side > 0 else None)
        figure.legend(loc="outside upper center", ncols=3)
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
