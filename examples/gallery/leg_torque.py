"""What torque does the leg need?

Jansen's leg, in the air, is turned by its crank. Which torque does the motor have to give over a turn, and how much of
it is weight, how much inertia?

A `PrescribedMotion` turns the crank evenly; `traj.force` has what this takes. Turned slowly it is weight alone: the
slope of the potential energy along a sweep, which needs no dynamics. Over a turn the work is zero.
"""

import sys
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicSpline

import varint as vi

LEG = vi.mechanisms.jansen_leg()
NODES = 360  # a turn


def turn(turns_a_second):
    """A run over a turn."""
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=2 * np.pi * turns_a_second)
    driven = replace(LEG, forces=[drive], start={})
    return vi.simulate(driven, 1 / turns_a_second, 1 / turns_a_second / NODES, order=4)


def weight():
    """(NODES / 5 + 1,) N m: the slope of the potential energy over the angle of the crank."""
    angle = np.linspace(0, 2 * np.pi, NODES // 5 + 1)
    potential = 9.81 * LEG.sweep("crank pivot", angle).position[..., 2] @ [body.mass for body in LEG.bodies]
    potential[-1] = potential[0]
    return CubicSpline(angle, potential, bc_type="periodic").derivative()(angle)


def answer() -> dict:
    speeds = (0.02, 1.0, 2.0)  # turns a second
    return {"torque": {speed: turn(speed).force["drive"] for speed in speeds}, "weight": weight()}


def film(path):
    """A moving picture, .gif or .mp4."""
    turn(1.0).animate(path, fps=20, trace="ankle")


def main(picture=None):
    found = answer()
    print(f"weight alone takes up to {abs(found['weight']).max():.3f} N m")
    for speed, effort in found["torque"].items():
        print(
            f"at {speed:g} turns a second up to {abs(effort).max():.3f} N m; its mean is {effort[:-1].mean():.0e} N m"
        )
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "crank (degrees)", "ylabel": "torque on the crank (N m)"})
        for (speed, effort), style in zip(found["torque"].items(), ("k-", "k--", "k:"), strict=True):
            axes.plot(np.linspace(0, 360, NODES + 1), effort, style, label=f"{speed:g} turns a second")
        axes.plot(np.linspace(0, 360, 37), found["weight"][::2], "o", color="0.5", label="weight, by a sweep", zorder=0)
        axes.set_xticks(range(0, 361, 90))
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
