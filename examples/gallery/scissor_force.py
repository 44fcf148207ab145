"""What force lifts my scissor lift?

A lift of three stages carries 200 kg. A cylinder pushes the lower slider inward. Which force does it need from the
lowest to the highest pose?

The slider's way is l cos(a), the platform's height 3 l sin(a): by virtual work the force is 3 W / tan(a), and the bars'
own weight counts half. A `PrescribedMotion` moves the slider slowly, and `traj.force` has what that takes, through all
four loops.
"""

import sys
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

import varint as vi

STAGES, LENGTH, LOAD, DURATION = 3, 1.0, 200.0, 100.0  # , m, kg, s
LOW, HIGH = np.radians(10), np.radians(60)  # of the bars from level


def answer() -> dict:
    lift = vi.mechanisms.scissor_lift(k=STAGES, length=LENGTH, angle=LOW, gravity=(0, 0, -9.81))
    bodies = [replace(body, mass=LOAD) if body.name == "platform" else body for body in lift.bodies]
    reach = LENGTH * (np.cos(HIGH) - np.cos(LOW))  # m, of the slider

    def way(t):
        return reach * (1 - np.cos(np.pi * t / DURATION)) / 2

    push = vi.PrescribedMotion("cylinder", joint="lower slide", position=way)
    run = vi.simulate(vi.Mechanism("lift", bodies, lift.joints, forces=[push]), DURATION, 0.1, order=4)
    angle = np.arccos(np.clip(np.cos(LOW) + run.coordinates["lower slide"] / LENGTH, -1, 1))
    bars, sliders = 2 * STAGES * LENGTH * 1.0, 1.0  # kg: bars of 1 kg/m; the upper slider rises with the platform
    lifted = (LOAD + sliders) * STAGES + bars * STAGES / 2
    return {"angle": angle, "force": run.force["cylinder"], "exact": -9.81 * lifted / np.tan(angle)}


def main(picture=None):
    found = answer()
    for degrees in (10, 20, 45, 60):
        k = abs(np.degrees(found["angle"]) - degrees).argmin()
        force, exact = abs(found["force"][k]) / 1e3, abs(found["exact"][k]) / 1e3
        print(f"at {degrees} degrees the cylinder pushes with {force:.3f} kN, by virtual work {exact:.3f} kN")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "bars from level (degrees)", "ylabel": "force (kN)"})
        angle = np.degrees(found["angle"])
        axes.plot(angle, abs(found["exact"]) / 1e3, color="0.7", linewidth=5, label="virtual work")
        axes.plot(angle, abs(found["force"]) / 1e3, "k-", linewidth=1, label="run")
        axes.set_ylim(0, None)
        axes.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
