"""How small must the steps be when a chain whips?

A chain of ten links is let fall from the horizontal. Its end whips: for some hundredths of a second it is many times
as fast as the rest. Must all steps be as short as that asks for?

`adaptive=True` makes steps that follow the motion and stay reversible. They are compared with as many equal ones.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

LINKS, DURATION, DT = 10, 10.0, 0.02  # s, s: the longest step


def answer() -> dict:
    mech = vi.mechanisms.n_pendulum(LINKS, angle=np.pi / 2)
    following = vi.simulate(mech, DURATION, DT, order=4, adaptive=True)
    equal = vi.simulate(mech, DURATION, DURATION / following.steps, order=4, on_unresolved="ignore")
    runs = {"steps that follow the motion": following, "equal steps": equal}
    errors = {name: abs(run.energy - run.energy[0]) / run.kinetic.max() for name, run in runs.items()}
    speed = np.linalg.norm(following.path(f"link {LINKS}", (-LINKS, 0, 0)).velocity, axis=1)
    return {"runs": runs, "errors": errors, "speed": speed}


def film(path):
    """A moving picture, .gif or .mp4."""
    run = vi.simulate(vi.mechanisms.n_pendulum(LINKS, angle=np.pi / 2), 3.0, 0.005, order=4)
    run.animate(path, fps=12, trace=(f"link {LINKS}", (-LINKS, 0, 0)))


def main(picture=None):
    found = answer()
    for name, run in found["runs"].items():
        steps = np.diff(run.t)[:-1]
        between = f"{1e3 * steps.min():.2f} to {1e3 * steps.max():.2f} ms"
        print(f"{run.steps} {name}, {between}: energy error {found['errors'][name].max():.0e} of the kinetic energy")
    print(f"the chain's end reaches {found['speed'].max():.0f} m/s")
    if picture:
        figure = Figure(figsize=(6, 4.6), layout="constrained")
        step, error = figure.subplots(2, sharex=True)
        for (name, run), style in zip(found["runs"].items(), ("k-", "k--"), strict=True):
            step.semilogy(run.t[1:-1], 1e3 * np.diff(run.t)[:-1], style, label=name, linewidth=0.8)
            error.semilogy(run.t, np.maximum(found["errors"][name], 1e-12), style, linewidth=0.6)
        step.set_ylabel("step (ms)")
        step.legend(loc="lower left", fontsize="small")
        error.set(xlabel="time (s)", ylabel="energy error / kinetic energy", ylim=(1e-9, None))
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
