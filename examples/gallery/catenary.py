"""Which shape does my chain hang in, and how hard does it pull?

A chain of twenty links, 6 m long, hangs between two hooks 4 m apart. How far does it sag, and what is the pull at the
hooks?

`vi.equilibrium` finds the rest of the chain from any pose that closes it; the reactions at rest are the pulls. A rope
is the catenary a cosh(x / a), with a from the length; a chain of rods is near it.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq

import varint as vi

LINKS, LENGTH, SPAN, DENSITY = 20, 6.0, 4.0, 1.5  # , m, m, kg/m


def build() -> vi.Mechanism:
    """Along two sides of a triangle, which is no rest."""
    drop = np.sqrt(LENGTH**2 - SPAN**2) / 2
    corners = np.array([[0, 0, 0], [SPAN / 2, 0, -drop], [SPAN, 0, 0]])
    share = np.linspace(0, 2, LINKS + 1)
    points = np.stack([np.interp(share, range(3), corners[:, k]) for k in range(3)], axis=1)
    names = ["world", *(f"link {k}" for k in range(1, LINKS + 1)), "world"]
    mass = DENSITY * LENGTH / LINKS
    bodies = [vi.Body.rod(names[k], points[k - 1], points[k], mass) for k in range(1, LINKS + 1)]
    pairs = zip(names, names[1:], points, strict=False)
    joints = [vi.Revolute(f"{a} to {b}", a, b, point=p, axis=(0, 1, 0)) for a, b, p in pairs]
    return vi.Mechanism("chain", bodies, joints)


def answer() -> dict:
    mech = build()
    rest = vi.equilibrium(mech)
    hook = vi.accelerations(mech, rest).reactions[mech.joints[0].name].force
    a = brentq(lambda a: 2 * a * np.sinh(SPAN / (2 * a)) - LENGTH, 0.3, 10.0)
    weight = DENSITY * 9.81
    return {
        "places": rest.position,
        "sag": (-rest.position[:, 2].min(), a * (np.cosh(SPAN / (2 * a)) - 1)),
        "pull": (abs(hook[0]), weight * a),
        "carried": (abs(hook[2]), weight * LENGTH / 2),
        "a": a,
    }


def main(picture=None):
    found = answer()
    for name, text, unit in (("sag", "sag", "m"), ("pull", "pull along x", "N"), ("carried", "weight at a hook", "N")):
        print("{}: {:.3f} {unit}, of a catenary {:.3f} {unit}".format(text, *found[name], unit=unit))
    if picture:
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        axes = figure.subplots(subplot_kw={"aspect": "equal", "xlabel": "x (m)", "ylabel": "z (m)"})
        x = np.linspace(0, SPAN, 200)
        rope = found["a"] * (np.cosh((x - SPAN / 2) / found["a"]) - np.cosh(SPAN / (2 * found["a"])))
        axes.plot(x, rope, color="0.7", linewidth=6, label="catenary")
        axes.plot(*found["places"][:, [0, 2]].T, "k.", label="middles of the links")
        axes.plot([0, SPAN], [0, 0], "k^", markersize=8, label="hooks")
        axes.legend(loc="upper center")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
