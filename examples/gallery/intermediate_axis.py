"""When does a spinning box turn over?

A box that spins about its middle axis in free flight turns over again and again, as Dzhanibekov's wing nut did. How
long does it take, and how does that depend on how well it was spun?

The time between turnovers is half of Jacobi's period, an elliptic integral (Landau and Lifshitz, Mechanics, section
37). It grows as the logarithm of the perturbation: spun a hundred times better it stays only a little longer.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import varint as vi

SPIN = 10.0  # rad/s, about the middle axis
PERTURBATIONS = np.geomspace(1e-4, 3.0, 10)  # rad/s, about the longest edge


def between_turnovers(perturbation):
    """Run, and mean time between turnovers, s."""
    run = vi.simulate(vi.mechanisms.free_body(spin=SPIN, perturbation=perturbation), 20.0, 0.01, order=6)
    times = vi.crossings(run, lambda state: state.angular_velocity[0, 1], 0.0)
    return run, np.diff(times).mean()


def answer() -> dict:
    module = vi.mechanisms.module("free_body")
    runs, found = zip(*(between_turnovers(perturbation) for perturbation in PERTURBATIONS), strict=True)
    moments = np.diag(runs[0].mechanism.bodies[0].inertia)
    moments, swap = np.sort(moments), np.argsort(moments)
    starts = [np.array([perturbation, SPIN, 0.0])[swap] for perturbation in PERTURBATIONS]
    exact = np.array([module.period(moments, start) / 2 for start in starts])
    return {"found": np.array(found), "exact": exact, "run": runs[5]}


def main(picture=None):
    found = answer()
    for perturbation, time, exact in zip(PERTURBATIONS[::3], found["found"][::3], found["exact"][::3], strict=True):
        print(f"perturbed by {perturbation:.4f} rad/s it turns over every {time:.5f} s, by Jacobi {exact:.5f} s")
    if picture:
        figure = Figure(figsize=(6, 4.6), layout="constrained")
        spins, times = figure.subplots(2)
        run = found["run"][:700]
        for k, (axis, style) in enumerate(zip(("long", "middle", "short"), ("k:", "k-", "k--"), strict=True)):
            spins.plot(run.t, run.angular_velocity[:, 0, k], style, label=f"{axis} axis", linewidth=1)
        spins.set(xlabel="time (s)", ylabel="spin (rad/s)")
        figure.legend(loc="outside upper center", ncols=3)
        times.semilogx(PERTURBATIONS, found["exact"], "k-", label="Jacobi")
        times.semilogx(PERTURBATIONS, found["found"], "o", color="C1", label="runs")
        times.set(xlabel="perturbation (rad/s)", ylabel="between turnovers (s)")
        times.legend()
        figure.savefig(picture, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
