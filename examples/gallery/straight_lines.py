"""Which four-bar draws the straightest line?

Watt, Chebyshev and Hoeken each found a four-bar with a point that runs along nearly a line. How straight are they, and
over what stroke?

`mech.sweep` turns the driven link by position alone; the path of the point is compared with a line. The pivots of all
three are 0.4 m apart. Hoeken's crank turns all round, and its point runs half of the turn along the line.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

# pivot and pin of the driven link, pin and pivot of the other, the point, x and z; degrees swept to each side
LINKAGES = {
    "Watt": (((-0.2, 0.04), (0, 0.04), (0, -0.04), (0.2, -0.04), (0, 0)), 18),
    "Chebyshev": (((0, 0), (0.3, 0.4), (0.1, 0.4), (0.4, 0), (0.2, 0.4)), 35),
    "Hoeken": (((0, 0), (-0.2, 0), (0.1, 0.4), (0.4, 0), (0.4, 0.8)), 88),
}


def way(points, degrees):
    """(T, 2) x and z of the point, m."""
    first, pin, other, last, point = (np.array([x, 0.0, z]) for x, z in points)
    rods = {"driven": (first, pin), "coupler": (pin, other), "other": (other, last)}
    bodies = [vi.Body.rod(name, *ends, mass=1.0) for name, ends in rods.items()]
    hinges = [("drive", "world", "driven", first), ("pin", "driven", "coupler", pin)]
    hinges += [("other pin", "coupler", "other", other), ("pivot", "world", "other", last)]
    joints = [vi.Revolute(name, a, b, point=at, axis=(0, 1, 0)) for name, a, b, at in hinges]
    mech = vi.Mechanism("four-bar", bodies, joints)
    sides = [
        mech.sweep("drive", np.radians(np.linspace(0, side * degrees, 101)), on_lockup="ignore") for side in (-1, 1)
    ]
    coupler = bodies[1]
    arm = rotation_matrix(coupler.quat_wxyz).T @ (point - coupler.position)
    halves = [sweep.position[:, 1] + rotation_matrix(sweep.quat_wxyz[:, 1]) @ arm for sweep in sides]
    return np.concatenate([halves[0][::-1], halves[1][1:]])[:, [0, 2]]


def off_line(way):
    """Distance along a line (T,) and off it (T,), m: the line of least squares."""
    along, across = np.linalg.svd(way - way.mean(axis=0), full_matrices=False)[2]
    return (way - way.mean(axis=0)) @ along, (way - way.mean(axis=0)) @ across


def answer() -> dict:
    return {name: off_line(way(*linkage)) for name, linkage in LINKAGES.items()}


def main(picture=None):
    found = answer()
    for name, (along, across) in found.items():
        stroke, off = np.ptp(along), np.ptp(across)
        print(f"{name:10} stroke {1e3 * stroke:6.1f} mm, {1e3 * off:5.2f} mm off a line: 1 part in {stroke / off:.0f}")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "along the line (mm)", "ylabel": "off the line (mm)"})
        for (name, (along, across)), style in zip(found.items(), ("k-", "k--", "k:"), strict=True):
            axes.plot(1e3 * along, 1e3 * across, style, label=name)
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
