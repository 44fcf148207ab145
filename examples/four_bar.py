"""A four-bar linkage of one's own, its crank driven at constant speed: ``python examples/four_bar.py [FOLDER]``."""

import sys
from pathlib import Path

import numpy as np

import varint as vi

TURN, CRANK, COUPLER, ROCKER, GROUND = 1.0, 0.1, 0.35, 0.3, 0.4  # s, m
TRACER = "coupler", (COUPLER / 2, 0, CRANK + 0.1)  # a point of the coupler, as it is described below

# each link where it is easy to describe: the crank upright, the coupler level, the rocker upright
pin, end, pivot, top = (0, 0, CRANK), (COUPLER, 0, CRANK), (GROUND, 0, 0), (GROUND, 0, ROCKER)
links = {"crank": ((0, 0, 0), pin), "coupler": (pin, end), "rocker": (pivot, top)}
bodies = [vi.Body.rod(name, *ends, mass=0.2, radius=0.01) for name, ends in links.items()]
joints = [
    vi.Revolute("crank pivot", "world", "crank", point=(0, 0, 0), axis=(0, 1, 0)),
    vi.Revolute("crank pin", "crank", "coupler", point=pin, axis=(0, 1, 0)),
    vi.Revolute("rocker pin", "coupler", "rocker", point=end, point_b=top, axis=(0, 1, 0)),  # a run closes it
    vi.Revolute("rocker pivot", "world", "rocker", point=pivot, axis=(0, 1, 0)),
]
drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=2 * np.pi / TURN)
mech = vi.Mechanism("four-bar", bodies, joints, forces=[drive], start={"coordinates": {"crank pivot": 0.0}})


def main(folder="."):
    folder, run = Path(folder), vi.simulate(mech, TURN, 0.001)
    print(f"the rocker swings by {np.degrees(np.ptp(run.coordinates['rocker pivot'])):.2f} degrees")
    print(f"the drive takes up to {abs(run.force['drive']).max():.2f} N m")
    run.to_csv(folder / "turn.csv", "coordinates", "reactions", "force")
    run.plot("coordinates", "reactions", "force", path=folder / "turn.pdf")
    run.plot("mechanism", times=np.linspace(0, TURN, 8), trace=TRACER, path=folder / "curve.png")
    run.animate(folder / "turn.gif", trace=TRACER)
    print("the coupler curve is", np.ptp(run.path(*TRACER).position, axis=0).round(4), "m wide, deep and high")


if __name__ == "__main__":
    main(*sys.argv[1:])
