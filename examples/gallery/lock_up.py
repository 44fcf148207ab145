"""Does my linkage lock up?

A crank of 0.8 m is to drive a four-bar with a coupler of 0.4 m, a rocker of 1 m and pivots 0.9 m apart. Does it turn
all round, and if not, how far does it go?

`mech.sweep` drives the crank by position alone, without dynamics, and stops where the linkage locks: there coupler and
rocker are in line. The law of cosines gives the same angles.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

CRANK, COUPLER, ROCKER, GROUND = 0.8, 0.4, 1.0, 0.9  # m: Grashof's double rocker
START = np.pi / 3  # rad, of the crank from the ground link


def answer() -> dict:
    mech = vi.mechanisms.four_bar(case="double-rocker", angle=START)
    forward, back = (mech.sweep("crank pivot", np.linspace(0, way, 200), on_lockup="ignore") for way in (np.pi, -np.pi))
    stretched, folded = (
        np.arccos((CRANK**2 + GROUND**2 - (ROCKER + sign * COUPLER) ** 2) / (2 * CRANK * GROUND)) for sign in (1, -1)
    )
    limits = START + np.array([back.lockup, forward.lockup])
    return {"limits": limits, "exact": np.array([folded, stretched]), "sweeps": (back, forward)}


def main(picture=None):
    found = answer()
    for name, limit, exact in zip(("least", "largest"), found["limits"], found["exact"], strict=True):
        print(
            f"{name} angle of the crank: {np.degrees(limit):.4f} degrees, by the law of cosines {np.degrees(exact):.4f}"
        )
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "crank (degrees)", "ylabel": "rocker, from the start (degrees)"})
        for sweep, style in zip(found["sweeps"], ("k--", "k-"), strict=True):
            axes.plot(np.degrees(START + sweep.values), np.degrees(sweep.coordinates["rocker pivot"]), style)
        for limit in np.degrees(found["limits"]):
            axes.axvline(limit, color="0.6", linewidth=6, zorder=0)
        axes.set_title("forward (full) and back (dashed) from the start; grey: locked")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
