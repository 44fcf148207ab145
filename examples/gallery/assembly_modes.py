"""On which branch is my linkage?

The same four links fit together in two ways: with the rocker's end on either side of the line from the crank pin to the
rocker's pivot. Which curve does the middle of the coupler draw, and does a full turn lead from one way to the other?

`mech.assemble` closes a guess on the branch that is nearest to it, and `mech.sweep` stays on its branch. Both are
compared with the intersection of two circles.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

CRANK, COUPLER, ROCKER, GROUND = 0.4, 1.0, 0.8, 1.0  # m
TURN = np.linspace(0, 2 * np.pi, 181)


def by_circles(angle, side):
    """(T, 3) middle of the coupler, from the crank's angle (T,); ``side``: +1 above the line of pin and pivot."""
    pin = CRANK * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    apart = np.array([GROUND, 0, 0]) - pin
    distance = np.linalg.norm(apart, axis=1, keepdims=True)
    along = (distance**2 + COUPLER**2 - ROCKER**2) / (2 * distance)
    left = np.stack([-apart[:, 2], apart[:, 1], apart[:, 0]], axis=1)
    return pin + 0.5 * (along * apart + side * np.sqrt(COUPLER**2 - along**2) * left) / distance


def answer() -> dict:
    mech = vi.mechanisms.four_bar(angle=0.0)
    above = mech.state()
    mirrored = above.position * [1, 1, -1]  # at this angle the crank is its own mirror image
    w, x, y, z = above.quat_wxyz.T
    guess = vi.State(mirrored, np.stack([-y, z, w, -x], axis=1), 0 * mirrored, 0 * mirrored)
    below = mech.assemble(guess, hold="crank pivot")
    curves = [mech.sweep("crank pivot", TURN, state).position[:, 1] for state in (above, below)]
    errors = [abs(curve - by_circles(TURN, side)).max() for curve, side in zip(curves, (1, -1), strict=True)]
    return {"curves": curves, "errors": errors, "closed": [np.linalg.norm(curve[-1] - curve[0]) for curve in curves]}


def main(picture=None):
    found = answer()
    for name, curve, error, gap in zip(
        ("above", "below"), *(found[k] for k in ("curves", "errors", "closed")), strict=True
    ):
        print(f"{name}: the curve is {np.ptp(curve[:, 0]):.4f} m wide and {np.ptp(curve[:, 2]):.4f} m high,")
        print(f"  off that of two circles by {error:.0e} m, and back at its start to {gap:.0e} m")
    if picture:
        figure = Figure(figsize=(6, 5.4), layout="constrained")
        axes = figure.subplots(subplot_kw={"aspect": "equal", "xlabel": "x (m)", "ylabel": "z (m)"})
        for name, curve, style in zip(("above", "below"), found["curves"], ("k-", "k--"), strict=True):
            axes.plot(curve[:, 0], curve[:, 2], style, label=f"assembled {name}")
        axes.plot([0, GROUND], [0, 0], "^", color="0.5", markersize=9, label="pivots")
        figure.legend(loc="outside upper center", ncols=3, title="way of the middle of the coupler")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
