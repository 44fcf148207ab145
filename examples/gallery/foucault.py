"""How far does a Foucault pendulum turn in a day?

A pendulum of 67 m swings in Paris, at 48.85 degrees north. By how much does its plane turn in a day, as seen from the
floor?

The floor is a body that turns about the Earth's axis, once a sidereal day. Its weight is a `CentralGravity` towards a
point of it, the Earth's centre, which turns along. So nothing but the turning makes the plane go round. In closed form
it turns by -360 degrees sin(latitude) a sidereal day; the width of the swing adds 3/8 of (amplitude / length)^2 of it.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

LENGTH, SWING, LATITUDE = 67.0, 3.0, np.radians(48.85)  # m, m, rad
DAY, EARTH, GRAVITY = 86164.1, 6.371e6, 9.81  # s, m, m/s^2
NORTH = (np.cos(LATITUDE), 0.0, np.sin(LATITUDE))  # the Earth's axis: x is north, z is up


def build() -> vi.Mechanism:
    low = LENGTH - np.sqrt(LENGTH**2 - SWING**2)
    bob = vi.Body.sphere("bob", 0.2, 28.0, position=(SWING, 0, low - LENGTH))
    bodies = [vi.Body.box("floor", (10, 10, 1), 1000.0), bob]
    joints = [
        vi.Revolute("Earth", "world", "floor", point=(0, 0, 0), axis=NORTH),
        vi.Spherical("wire", "floor", "bob", point=(0, 0, 0)),
    ]
    weight = {"mu": GRAVITY * EARTH**2, "point_a": (0, 0, -EARTH)}
    turning = vi.PrescribedMotion("turning", joint="Earth", rate=2 * np.pi / DAY)
    forces = [vi.CentralGravity("weight", "floor", "bob", **weight), turning]
    start = {"rates": {"Earth": 2 * np.pi / DAY, "wire": (0, 0, 0)}}  # at rest on the floor
    return vi.Mechanism("Foucault's pendulum", bodies, joints, gravity=(0, 0, 0), forces=forces, start=start)


def answer() -> dict:
    run = vi.simulate(build(), DAY, 0.5)
    x, y = run.relative("floor", "bob").position.T[:2]
    far = np.hypot(x, y)
    ends = np.flatnonzero((far[1:-1] > far[:-2]) & (far[1:-1] >= far[2:])) + 1  # of the swings
    plane = np.unwrap(2 * np.arctan2(y[ends], x[ends])) / 2  # of a line: half turns count alike
    exact = -2 * np.pi * np.sin(LATITUDE) * (1 - 3 / 8 * (SWING / LENGTH) ** 2)
    return {
        "t": run.t[ends],
        "plane": plane - plane[0],
        "found": plane[-1] - plane[0],
        "exact": exact,
        "way": np.stack([x, y]),
    }


def main(picture=None):
    found = answer()
    print(f"in a sidereal day the plane turns by {np.degrees(found['found']):.2f} degrees, clockwise seen from above")
    print(f"-360 sin(latitude), and 3/8 (amplitude / length)^2 less of it: {np.degrees(found['exact']):.2f} degrees")
    if picture:
        figure = Figure(figsize=(6, 3.4), layout="constrained")
        way, turn = figure.subplots(1, 2)
        x, y = found["way"][:, :132]
        way.plot(-1e3 * y, x, "k-", linewidth=0.6)
        way.set(xlabel="east (mm)", ylabel="north (m)", title="the first four swings")
        turn.plot(found["t"] / 3600, np.degrees(found["plane"]), "k-", label="run")
        turn.plot([0, DAY / 3600], [0, np.degrees(found["exact"])], "--", color="C1", label="closed form")
        turn.set(xlabel="time (h)", ylabel="plane of the swing (degrees)", xticks=range(0, 25, 6))
        turn.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
