"""How unevenly does a universal joint turn?

Two shafts meet at 30 degrees in a universal joint. The first turns evenly. By how much does the second lead and lag?

In closed form the second turns by arctan(tan(a) / cos(b)) where the first turns by a, with the angle b between them:
its speed swings between cos(b) and 1 / cos(b) of that of the first. The even shaft has to give a torque for it.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

BEND, SPEED, LENGTH = np.radians(30), 2 * np.pi, 0.3  # rad, rad/s, m


def answer() -> dict:
    along = np.array([np.cos(BEND), np.sin(BEND), 0.0])
    bodies = [
        vi.Body.rod("first", (-LENGTH, 0, 0), (0, 0, 0), 1.0, radius=0.02),
        vi.Body.rod("second", (0, 0, 0), LENGTH * along, 1.0, radius=0.02),
    ]
    joints = [
        vi.Revolute("first", "world", "first", point=(-LENGTH, 0, 0), axis=(1, 0, 0)),
        vi.Universal("cross", "first", "second", point=(0, 0, 0), axis=(0, 0, 1), axis_b=np.cross(along, (0, 0, 1))),
        vi.Revolute("second", "world", "second", point=LENGTH * along, axis=along),
    ]
    drive = vi.PrescribedMotion("drive", joint="first", rate=SPEED)
    mech = vi.Mechanism("shafts", bodies, joints, gravity=(0, 0, 0), forces=[drive])
    run = vi.simulate(mech, 1.0, 1 / 360, order=4)
    angle = run.coordinates["first"]
    exact = np.cos(BEND) / (1 - np.sin(BEND) ** 2 * np.sin(angle) ** 2)
    lead = run.coordinates["second"] - angle
    return {"angle": angle, "ratio": run.rates["second"] / SPEED, "exact": exact, "lead": lead, "mech": mech}


def main(picture=None):
    found = answer()
    off = abs(found["ratio"] - found["exact"]).max()
    print(f"the second shaft turns {found['ratio'].min():.4f} to {found['ratio'].max():.4f} as fast as the first")
    print(f"cos(b) = {np.cos(BEND):.4f}, 1 / cos(b) = {1 / np.cos(BEND):.4f}; off the closed form by {off:.0e}")
    print(f"it leads and lags by {np.degrees(abs(found['lead']).max()):.2f} degrees")
    print(f"joints with redundant constraints: {found['mech'].diagnose().redundancy} rows")
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        ratio, lead = figure.subplots(2, sharex=True)
        ratio.plot(np.degrees(found["angle"]), found["ratio"], "k-", label="run")
        ratio.plot(
            np.degrees(found["angle"])[::15], found["exact"][::15], "o", color="0.6", zorder=0, label="closed form"
        )
        ratio.legend()
        ratio.set_ylabel("speed, of the first")
        lead.plot(np.degrees(found["angle"]), np.degrees(found["lead"]), "k-")
        lead.set(xlabel="first shaft (degrees)", ylabel="lead (degrees)", xticks=range(0, 361, 90))
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
