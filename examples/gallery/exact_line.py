"""Is Peaucellier's line exact?

Seven links and ten hinges turn a circle into a line. Is it one to round-off, and does it stay one while the linkage
swings under its weight?

The rhombus keeps the product of two distances, so a circle through the origin becomes a line: its depth is
(arm^2 - side^2) / (2 crank). A run of ten seconds shows how well the closed loops keep it.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

ARM, SIDE, CRANK = 1.0, 0.7, 0.3  # m


def answer() -> dict:
    mech = vi.mechanisms.peaucellier(arm=ARM, side=SIDE, crank=CRANK, angle=1.0)
    run = vi.simulate(mech, 10.0, 0.005, order=4)
    tip, pin = (run.path(body, mech.joint(joint).point).position for body, joint in TRACED)
    return {"tip": tip, "pin": pin, "depth": (ARM**2 - SIDE**2) / (2 * CRANK), "t": run.t}


TRACED = (("lower left", "tip"), ("crank", "crank pin left"))  # body and joint


def film(path):
    """A moving picture, .gif or .mp4."""
    vi.simulate(vi.mechanisms.peaucellier(arm=ARM, side=SIDE, crank=CRANK), 2.0, 0.005).animate(
        path, fps=12, trace="tip"
    )


def main(picture=None):
    found = answer()
    off = found["tip"][:, 2] + found["depth"]
    print(f"the tip runs {np.ptp(found['tip'][:, 0]):.3f} m to and fro, {found['depth']:.3f} m below the origin")
    print(f"it is off that line by {abs(off).max():.0e} m at most in {found['t'][-1]:g} s")
    if picture:
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        ways, error = figure.subplots(1, 2)
        ways.plot(*found["pin"][:, [0, 2]].T, "-", color="0.6", linewidth=4, label="pin of the crank")
        ways.plot(*found["tip"][:, [0, 2]].T, "k-", label="tip", linewidth=2)
        ways.set(
            aspect="equal",
            xlabel="x (m)",
            ylabel="z (m)",
            xlim=(-0.55, 0.55),
            ylim=(-0.95, 0.05),
            xticks=(-0.4, 0, 0.4),
        )
        ways.plot(0, 0, "k^", markersize=7)
        figure.legend(loc="outside upper center", ncols=2)
        error.plot(found["t"], 1e15 * off, "k.", markersize=1)
        error.set(xlabel="time (s)", ylabel="tip off the line (fm)")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
