"""How does a crane stop its load from swinging?

A trolley takes a load on a cable 6 m along its beam. It speeds up evenly, runs, and brakes. For how long should it
speed up, so that the load hangs still at the end?

A load of small swing that is accelerated by a for the time T is left with a swing of 2 a / g |sin(w T / 2)|, with w =
sqrt(g / l): none where T is a whole period. The load here hangs on an elastic `Cable`, and the trolley is driven by a
`PrescribedMotion`, a function of time.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

LENGTH, SPEED, WAY, DT = 4.0, 1.0, 6.0, 0.002  # m, m/s, m, s
PERIOD = 2 * np.pi * np.sqrt(LENGTH / 9.81)  # s
PARTS = np.array([0.25, 0.5, 0.75, 1.0, 1.25])  # of the period, of speeding up


def trolley(t, time):
    """m: even acceleration for a ``time``, even speed, even braking."""
    end = WAY / SPEED + time
    rising, falling = np.clip(t, 0, time), np.clip(t - (end - time), 0, time)
    return SPEED * (rising**2 / (2 * time) + np.clip(t - time, 0, end - time) - falling**2 / (2 * time))


def run(time):
    """Until two periods after the stop."""
    cart = vi.Body.box("trolley", (0.5, 0.3, 0.2), 50.0)
    load = vi.Body.sphere("load", 0.2, 100.0, position=(0, 0, -LENGTH))
    joints = [vi.Prismatic("beam", "world", "trolley", axis=(1, 0, 0)), vi.Free("free", "world", "load")]
    ends = {"point_a": (0, 0, 0), "point_b": (0, 0, -LENGTH)}
    forces = [
        vi.PrescribedMotion("drive", joint="beam", position=lambda t: trolley(t, time)),
        vi.Cable("cable", "trolley", "load", **ends, stiffness=5e5, damping=2e3, rest_length=LENGTH - 100 * 9.81 / 5e5),
    ]
    return vi.simulate(vi.Mechanism("crane", [cart, load], joints, forces=forces), 6 + time + 2 * PERIOD, DT, every=10)


def answer() -> dict:
    runs = [run(part * PERIOD) for part in PARTS]
    swings = [np.arctan2(*(r.position[:, 1] - r.position[:, 0]).T[[0, 2]] * [[1], [-1]]) for r in runs]
    left = [abs(s[r.t > WAY / SPEED + part * PERIOD]).max() for s, r, part in zip(swings, runs, PARTS, strict=True)]
    # speeding up and braking leave one swing each, which add up by the time between them
    w, times = 2 * np.pi / PERIOD, PARTS * PERIOD
    exact = abs(4 * SPEED / (times * 9.81) * np.sin(np.pi * PARTS) * np.sin(w * WAY / SPEED / 2))
    return {"t": [r.t for r in runs], "swings": swings, "left": np.array(left), "exact": exact}


def main(picture=None):
    found = answer()
    for part, left, exact in zip(PARTS, *np.degrees([found["left"], found["exact"]]), strict=True):
        print(
            f"speeding up for {part:.2f} periods leaves a swing of {left:6.3f} degrees, for small swings {exact:6.3f}"
        )
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "time (s)", "ylabel": "cable from the vertical (degrees)"})
        for k, style in ((1, "k:"), (2, "k--"), (3, "k-")):
            axes.plot(found["t"][k], np.degrees(found["swings"][k]), style, label=f"{PARTS[k]:g} periods")
        figure.legend(loc="outside upper center", ncols=3, title="speeding up for")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
