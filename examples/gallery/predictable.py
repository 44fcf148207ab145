"""How long is a double pendulum predictable?

A double pendulum is let go from high up, known to a millionth of a radian. For how long can anyone say where it will
be?

Neighbours part as exp(L t), with the largest Lyapunov exponent L. So an error of 1e-6 reaches the size of the motion
after about ln(1e6) / L. `vi.lyapunov_exponent` finds L; two runs show the time.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

APART, LARGE = 1e-6, 1.0  # rad
ANGLE, DURATION, DT = 2.5, 20.0, 0.005  # rad from hanging, s, s


def answer() -> dict:
    runs = []
    for angle in (ANGLE, ANGLE + APART):
        mech = vi.mechanisms.double_pendulum(angle=0.0)
        state = mech.state(coordinates={"joint 1": angle})
        runs.append(vi.simulate(mech, DURATION, DT, state=state, order=6))
    gap = np.hypot(*(runs[1].coordinates[joint] - runs[0].coordinates[joint] for joint in ("joint 1", "joint 2")))
    found = vi.lyapunov_exponent(mech, 300.0, 0.01, state=mech.state(coordinates={"joint 1": ANGLE}), order=4)
    predicted = np.log(LARGE / APART) / found.exponent
    return {
        "t": runs[0].t,
        "gap": gap,
        "exponent": found.exponent,
        "error": found.error,
        "predicted": predicted,
        "seen": float(runs[0].t[np.argmax(gap > LARGE)]),
    }


def film(path):
    """A moving picture, .gif or .mp4."""
    vi.simulate(vi.mechanisms.double_pendulum(angle=ANGLE), 4.0, DT).animate(path, fps=10, trace=("link 2", (0, 0, -2)))


def main(picture=None):
    found = answer()
    print(f"largest Lyapunov exponent: {found['exponent']:.2f} +- {found['error']:.2f} 1/s")
    print(f"an error of {APART:g} rad should reach {LARGE:g} rad after {found['predicted']:.1f} s")
    print(f"two runs are {LARGE:g} rad apart after {found['seen']:.1f} s")
    if picture:
        figure = Figure(figsize=(6, 3.6), layout="constrained")
        axes = figure.subplots(subplot_kw={"xlabel": "time (s)", "ylabel": "distance of two runs (rad)"})
        axes.semilogy(found["t"], found["gap"], "k-", linewidth=1, label="two runs")
        growth = APART * np.exp(found["exponent"] * found["t"])
        axes.semilogy(
            found["t"][growth < LARGE], growth[growth < LARGE], "--", color="C1", label="exp(L t)", linewidth=2.5
        )
        axes.axhline(LARGE, color="0.7", label=f"{LARGE:g} rad")
        axes.set_ylim(1e-7, 1e3)
        axes.legend(loc="lower right")
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
