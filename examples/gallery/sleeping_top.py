"""How fast must a top spin to sleep?

A top that stands upright sleeps as long as it is fast enough. The air brakes it. When does it begin to wobble?

The critical spin is 2 sqrt(A m g l) / C, with the moments A across and C along the axis, about the tip. The spin decays
as exp(-c t / C), so the time follows; the wobble takes some seconds more to be seen. The top leans by a thousandth of a
degree at first; a `BodyDamper` is the air.

Source: the sleeping top, as in Goldstein, Classical Mechanics, section 5.7.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

MASS, RADIUS, THICKNESS, HEIGHT = 1.0, 0.1, 0.02, 0.05  # kg, m; the centre of mass above the tip
SPIN, BRAKE, DURATION, DT = 60.0, 1e-4, 60.0, 0.002  # rad/s, N m s, s, s
LEAN = np.radians(1e-3)


def answer() -> dict:
    place = HEIGHT * np.array([np.sin(LEAN), 0, np.cos(LEAN)])
    turned = (np.cos(LEAN / 2), 0, np.sin(LEAN / 2), 0)
    top = vi.Body.cylinder("top", RADIUS, THICKNESS, MASS, position=place, quat_wxyz=turned)
    tip = vi.Spherical("tip", "world", "top", point=(0, 0, 0))
    start = {"angular_velocity": {"top": (0, 0, SPIN)}}
    air = vi.BodyDamper("air", body="top", angular=BRAKE)
    run = vi.simulate(vi.Mechanism("top", [top], [tip], forces=[air], start=start), DURATION, DT, order=4)
    along = MASS * RADIUS**2 / 2
    across = MASS * (3 * RADIUS**2 + THICKNESS**2) / 12 + MASS * HEIGHT**2
    critical = 2 * np.sqrt(across * MASS * 9.81 * HEIGHT) / along
    lean = np.degrees(np.arctan2(np.hypot(*run.position[:, 0, :2].T), run.position[:, 0, 2]))
    spin = run.angular_velocity[:, 0, 2]
    awake = np.argmax(lean > 1.0)
    return {
        "t": run.t,
        "lean": lean,
        "spin": spin,
        "critical": critical,
        "exact": along / BRAKE * np.log(SPIN / critical),
        "seen": run.t[awake],
        "spin awake": spin[awake],
    }


def main(picture=None):
    found = answer()
    print(f"the critical spin is {found['critical']:.2f} rad/s, which it has after {found['exact']:.2f} s")
    print(f"it leans by a degree after {found['seen']:.2f} s, where it spins at {found['spin awake']:.2f} rad/s")
    if picture:
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        lean, spin = figure.subplots(2, sharex=True)
        lean.semilogy(found["t"], found["lean"], "k-", linewidth=0.6)
        lean.set_ylabel("lean (degrees)")
        spin.plot(found["t"], found["spin"], "k-")
        spin.axhline(found["critical"], color="0.5", linestyle="--", label="critical spin")
        spin.set(xlabel="time (s)", ylabel="spin (rad/s)")
        for axes in (lean, spin):
            axes.axvline(found["exact"], color="0.7", linewidth=4, zorder=0, label="when it should be reached")
        spin.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
