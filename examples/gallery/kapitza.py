"""Can a shaken pendulum stand upright?

The pivot of a pendulum is shaken up and down by 20 mm. How fast, so that the pendulum stands on its head, and how
slowly does it then swing about the upright?

Kapitza: it stands where the speed of the pivot, amplitude times w, is above sqrt(2 g l), and swings about that at
sqrt(amplitude^2 w^2 / (2 l^2) - g / l), where the shaking is fast. The pivot is a slider with a `PrescribedMotion`.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

LENGTH, AMPLITUDE, START = 0.2, 0.02, 0.1  # m, m, rad from upright
CRITICAL = np.sqrt(2 * 9.81 * LENGTH) / AMPLITUDE  # rad/s


def run(shaking, duration=2.0):
    """With the pivot shaken at ``shaking`` rad/s."""
    bob = vi.Body.sphere("bob", 0.005, 1.0, position=(0, 0, LENGTH))
    slider = vi.Body.box("slider", (0.05, 0.05, 0.05), 1.0)
    joints = [
        vi.Prismatic("guide", "world", "slider", axis=(0, 0, 1)),
        vi.Revolute("pivot", "slider", "bob", point=(0, 0, 0), axis=(0, 1, 0)),
    ]
    motion = {
        "position": lambda t: AMPLITUDE * np.sin(shaking * t),
        "rate": lambda t: AMPLITUDE * shaking * np.cos(shaking * t),
        "acceleration": lambda t: -AMPLITUDE * shaking**2 * np.sin(shaking * t),
    }
    forces = [vi.PrescribedMotion("shaking", joint="guide", **motion)]
    start = {"coordinates": {"pivot": START}, "rates": {"pivot": -AMPLITUDE * shaking / LENGTH * np.sin(START)}}
    mech = vi.Mechanism("Kapitza's pendulum", [slider, bob], joints, forces=forces, start=start)
    return vi.simulate(mech, duration, 2 * np.pi / shaking / 80)


def answer() -> dict:
    runs = {factor: run(factor * CRITICAL) for factor in (0.8, 1.2, 2.0, 3.0)}
    fast = runs[3.0]
    window = 80  # nodes, a turn of the shaking
    slow = np.convolve(fast.coordinates["pivot"], np.ones(window) / window, mode="valid")
    changes = np.flatnonzero(np.diff(np.sign(slow)))
    return {
        "runs": runs,
        "found": np.pi / (np.diff(fast.t[changes]).mean()),
        "exact": np.sqrt((AMPLITUDE * 3 * CRITICAL) ** 2 / (2 * LENGTH**2) - 9.81 / LENGTH),
    }


def film(path):
    """A moving picture, .gif or .mp4."""
    run(2.0 * CRITICAL, 0.26).animate(path, fps=20, speed=0.1, trace="bob", width=480)


def main(picture=None):
    found = answer()
    print(f"the pivot has to be shaken at more than {CRITICAL / (2 * np.pi):.1f} Hz")
    for factor, one in found["runs"].items():
        print(f"at {factor:.1f} of that it leans by up to {abs(one.coordinates['pivot']).max():.2f} rad in 2 s")
    print(f"at 3 times it swings at {found['found']:.2f} rad/s, by Kapitza {found['exact']:.2f} rad/s")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "time (s)", "ylabel": "from upright (rad)"})
        for (factor, one), style in zip(found["runs"].items(), ("k:", "k--", "0.6", "k-"), strict=True):
            axes.plot(one.t, one.coordinates["pivot"], style, label=f"{factor:g}", linewidth=1)
        axes.set_ylim(-0.4, 0.4)
        figure.legend(loc="outside upper center", ncols=4, title="shaken at, of Kapitza's frequency:")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
