"""Is my overconstrained frame mobile?

Four links, four hinges that are neither parallel nor meet in a point. Counted by Kutzbach, the loop has 6 - 4 = 2
constraints too many: a rigid frame. Bennett's proportions let it turn all round. Do mine?

`mech.diagnose()` tells mobility and redundant constraints. `mech.sweep` turns the linkage, whose angles obey
Bennett's relation. With one hinge twisted by a degree it is rigid, and `diagnose` says so.

Source: Bennett (1903).
"""

import sys
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import varint as vi

TWIST = np.pi / 6


def answer() -> dict:
    mech = vi.mechanisms.bennett(twist=TWIST, angle=np.pi / 2)
    hinge = mech.joint("rocker pivot")
    turned = hinge.axis + np.radians(1.0) * np.cross([1.0, 0, 0], hinge.axis)
    joints = [replace(hinge, axis=turned / np.linalg.norm(turned)) if j is hinge else j for j in mech.joints]
    twisted = vi.Mechanism("twisted", mech.bodies, joints)
    sweep = mech.sweep("crank pivot", np.linspace(0, 2 * np.pi, 121))
    other = vi.mechanisms.module("bennett").coupler_twist(0.5, 1.0, TWIST)
    ratio = np.sin(0.5 * (other + TWIST)) / np.sin(0.5 * (other - TWIST))  # tan(a/2) tan(b/2) of neighbouring hinges
    crank = np.pi / 2 + sweep.values
    following = np.unwrap(2 * np.arctan2(ratio * np.cos(0.5 * crank), np.sin(0.5 * crank)))
    return {
        "good": mech.diagnose(),
        "bad": twisted.diagnose(),
        "crank": crank,
        "pin": sweep.coordinates["crank pin"],
        "exact": following - following[0],
    }


def film(path):
    """A moving picture, .gif or .mp4."""
    vi.simulate(vi.mechanisms.bennett(twist=TWIST, angle=np.pi / 2), 1.0, 0.005).animate(path, fps=20)


def main(picture=None):
    found = answer()
    for name, diagnosis in (("Bennett's proportions", found["good"]), ("a hinge twisted by a degree", found["bad"])):
        print(f"{name}: mobility {diagnosis.generic_mobility}, {diagnosis.redundancy} redundant constraints")
    print(f"the pin's angle is off Bennett's relation by {abs(found['pin'] - found['exact']).max():.0e} rad")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        labels = {"xlabel": "crank (degrees)", "ylabel": "crank pin, from its start (degrees)"}
        axes = figure.subplots(subplot_kw=labels)
        axes.plot(*np.degrees([found["crank"], found["pin"]]), "k-", label="sweep")
        axes.plot(
            *np.degrees([found["crank"], found["exact"]])[:, ::6],
            "o",
            color="0.5",
            label="Bennett's relation",
            zorder=0,
        )
        axes.set_xticks(range(90, 451, 90))
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
