"""How hard does my engine shake its bed?

A single-cylinder engine turns at 3000 rpm. Which force does it put on its bed, and what does a counterweight help?

The bed feels the reactions of crank bearing and cylinder: what is left of the inertia of all parts. With the rod as two
masses, one at each end, the force of the piston is m r w^2 (cos a + r / l cos 2 a). A counterweight of half of it turns
the first part into a force that goes round, half as large. Nothing here is approximated; the formula is.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

CRANK, ROD, SPEED = 0.04, 0.14, 3000 * 2 * np.pi / 60  # m, m, rad/s
PISTON, ROD_MASS, CRANK_MASS = 0.4, 0.3, 1.0  # kg; the crank is balanced by itself
AT_PISTON = PISTON + ROD_MASS / 2  # kg, of the rod half: a slim rod has its centre in the middle


def shaking(counterweight):
    """(T,) crank, rad, and the force on the bed along and across the cylinder (2, T), N; counterweight, kg at CRANK."""
    pin, wrist = np.array([CRANK, 0, 0]), np.array([CRANK + ROD, 0, 0])
    wheel = vi.Body.sphere("wheel", 0.05, CRANK_MASS)
    weights = [(ROD_MASS / 2 + counterweight, -pin)]  # the rod's own half at the pin is always balanced
    bodies = [
        vi.Body.composite("crank", [wheel, *weights]),
        vi.Body.rod("rod", pin, wrist, ROD_MASS),
        vi.Body.box("piston", (0.05, 0.05, 0.05), PISTON, position=wrist),
    ]
    joints = [
        vi.Revolute("bearing", "world", "crank", point=(0, 0, 0), axis=(0, 1, 0)),
        vi.Revolute("pin", "crank", "rod", point=pin, axis=(0, 1, 0)),
        vi.Revolute("wrist", "rod", "piston", point=wrist, axis=(0, 1, 0)),
        vi.Prismatic("cylinder", "world", "piston", axis=(1, 0, 0)),
    ]
    drive = vi.PrescribedMotion("drive", joint="bearing", rate=SPEED)
    mech = vi.Mechanism("engine", bodies, joints, gravity=(0, 0, 0), forces=[drive])
    run = vi.simulate(mech, 2 * np.pi / SPEED, 2 * np.pi / SPEED / 360, order=4)
    bed = -(run.reactions["bearing"].force + run.reactions["cylinder"].force)
    return SPEED * run.t, bed[:, [0, 2]].T


def answer() -> dict:
    angle, alone = shaking(0.0)
    exact = AT_PISTON * CRANK * SPEED**2 * (np.cos(angle) + CRANK / ROD * np.cos(2 * angle))
    return {"angle": angle, "alone": alone, "half": shaking(AT_PISTON / 2)[1], "formula": exact}


def main(picture=None):
    found = answer()
    for name, text in (("alone", "alone"), ("half", "with half of the piston's mass as counterweight")):
        print(f"{text}: up to {np.hypot(*found[name]).max():.0f} N")
    print(f"by the formula of two harmonics, alone: {abs(found['formula']).max():.0f} N")
    if picture:
        figure = Figure(figsize=(6, 4.6), layout="constrained")
        axes = figure.subplots(
            subplot_kw={"aspect": "equal", "xlabel": "along the cylinder (kN)", "ylabel": "across it (kN)"}
        )
        axes.plot(found["formula"] / 1e3, 0 * found["angle"], color="0.7", linewidth=8, label="alone, by formula")
        axes.plot(*found["alone"] / 1e3, "k:", label="alone")
        axes.plot(*found["half"] / 1e3, "k-", label="counterweight")
        axes.set(xlim=(-2, 3.2), ylim=(-1.6, 1.6))
        figure.legend(loc="outside upper center", ncols=3, title="force on the bed over a turn")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
