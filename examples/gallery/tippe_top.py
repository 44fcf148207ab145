"""Why does a tippe top stand on its head?

A ball whose centre of mass is below its middle is spun upright. With friction where it touches the table it turns over
and spins on its head. What does friction do, and what can it not change?

The friction acts through the point of contact, so it has no moment along the line from there to the centre of mass:
Jellett's number, the angular momentum along that line, stays what it was, whatever the friction. The energy falls, and
the centre of mass rises: the spin pays for both.

Source: Jellett's invariant, as in Bou-Rabee, Marsden and Romero, SIAM Journal on Applied Dynamical Systems 3 (2004).
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

RADIUS, BELOW, MASS = 0.02, 0.003, 0.03  # m, m, kg
SPIN, LEAN, DURATION, DT = 150.0, 0.1, 4.0, 2e-4  # rad/s, rad, s, s


def build() -> vi.Mechanism:
    axis = np.array([np.sin(LEAN), 0, np.cos(LEAN)])
    turned = (np.cos(LEAN / 2), 0, np.sin(LEAN / 2), 0)
    inertia = 0.4 * MASS * RADIUS**2 * np.diag([0.95, 0.95, 1.0])
    middle = np.array([0, 0, RADIUS])
    ball = vi.Body("ball", mass=MASS, inertia=inertia, position=middle - BELOW * axis, quat_wxyz=turned)
    table = vi.GroundContact(
        "table", body="ball", point=middle, radius=RADIUS, friction=0.3, smoothing=0.05, stiffness=2e4, damping=5.0
    )
    start = {"angular_velocity": {"ball": (0, 0, SPIN)}}
    return vi.Mechanism("tippe top", [ball], [vi.Free("free", "world", "ball")], forces=[table], start=start)


def answer() -> dict:
    run = vi.simulate(build(), DURATION, DT, every=20)
    rotation = rotation_matrix(run.quat_wxyz[:, 0])
    axis = rotation[..., 2]
    momentum = np.einsum("tij,jk,tk->ti", rotation, run.mechanism.bodies[0].inertia, run.angular_velocity[:, 0])
    to_contact = BELOW * axis - RADIUS * np.array([0, 0, 1.0])
    jellett = -np.einsum("ti,ti->t", momentum, to_contact)
    lean = np.degrees(np.arccos(axis[:, 2]))
    return {"t": run.t, "lean": lean, "jellett": jellett, "energy": run.energy - run.energy[-1], "run": run}


def main(picture=None):
    found = answer()
    print(f"it leans by {found['lean'][0]:.0f} degrees at first and by {found['lean'][-1]:.0f} after {DURATION:g} s")
    print(f"Jellett's number changes by {np.ptp(found['jellett']) / found['jellett'][0]:.0e} of itself")
    print(f"energy lost: {1e3 * (found['energy'][0] - found['energy'][-1]):.1f} mJ")
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        lean, kept = figure.subplots(2, sharex=True)
        lean.plot(found["t"], found["lean"], "k-", linewidth=1)
        lean.set(ylabel="lean (degrees)", yticks=range(0, 181, 45))
        for name, style in (("jellett", "k-"), ("energy", "k--")):
            label = "Jellett's number" if name == "jellett" else "energy, above that at the end"
            kept.plot(found["t"], found[name] / found[name][0], style, label=label)
        kept.set(xlabel="time (s)", ylabel="over that at the start")
        kept.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
