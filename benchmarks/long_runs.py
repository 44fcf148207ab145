"""A hundred million steps: whether the energy has a trend, and how far round-off takes it.

    python long_runs.py FOLDER [RUN ...]     # goes on with the runs in the folder; without names all of them
    python long_runs.py FOLDER --page        # writes docs/long_runs.md and its figure, of the runs that are done

The runs take minutes to hours each. A run that is stopped goes on where it was.
"""

import resource
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import varint as vi
from varint.drawing.axes import label_values, style_axes
from varint.drawing.style import COLOURS
from varint.methods.variational.schemes import SCHEMES

STEPS, KEPT, DIAGNOSED = 100_000_000, 1_000_000, 1000
PAGE = Path(__file__).parents[1] / "docs" / "long_runs.md"
FIGURE = PAGE.parent / "images" / "long_runs.png"
EPSILON = np.finfo(float).eps


class Run(NamedTuple):
    """A run of the page."""

    what: str
    mechanism: str
    parameters: dict
    scheme: str
    dt: float


RUNS = {
    "pendulum-2": Run("single pendulum", "n_pendulum", {"n": 1}, "rattle", 0.01),
    "pendulum-6": Run("single pendulum", "n_pendulum", {"n": 1}, "sofroniou-spaletta-13", 0.002),
    "four-bar-2": Run("four-bar", "four_bar", {}, "rattle", 0.005),
    "four-bar-6": Run("four-bar", "four_bar", {}, "kahan-li", 0.005),
}


def carry_out(folder, name):
    """Run, or go on with, one of `RUNS`."""
    run, path = RUNS[name], folder / f"{name}.h5"
    mechanism = getattr(vi.mechanisms, run.mechanism)(**run.parameters)
    duration = STEPS * run.dt * (1 + 1e-12)
    vi.simulate(
        mechanism, duration, run.dt, scheme=run.scheme, every=KEPT, diagnostics_every=DIAGNOSED, output=path,
        resume=path.exists(), on_unresolved="ignore",
    )  # fmt: skip
    print(name, "done; largest memory, MB:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, flush=True)


def figures(path):
    """Trajectory of a run, trend of its energy and largest energy error, J."""
    trajectory = vi.load(path)
    energy = trajectory.diagnostics.energy
    return trajectory, vi.energy_trend(trajectory), np.abs(energy - energy[0]).max()


def write_page(folder):
    """The page and its figure, of the runs that are done."""
    done = {name: figures(folder / f"{name}.h5") for name in RUNS if (folder / f"{name}.h5").exists()}
    done = {name: found for name, found in done.items() if found[0].steps == STEPS}
    figure, axes = plt.subplots(len(done), 1, figsize=(7, 2.2 * len(done)), layout="constrained", squeeze=False)
    rows = []
    for axis, (name, (trajectory, trend, largest)) in zip(axes[:, 0], done.items(), strict=True):
        run, span = RUNS[name], trajectory.t[-1]
        method, energy = SCHEMES[run.scheme], trajectory.diagnostics.energy
        axis.plot(trend.t / 3600, trend.away, "o-", color=COLOURS[0], markersize=3)
        axis.set(title=f"{run.what}, order {method.order}, dt = {1000 * run.dt:g} ms", xlabel="Time (h)")
        label_values(axis, "Energy - its mean", "J", np.abs(trend.away).max())
        style_axes(axis)
        stages = STEPS * method.stages.size
        law = EPSILON * np.abs(energy).max() * np.sqrt(stages)
        rows.append(
            f"| {run.what} | {method.order}, `{method.name}` | {1000 * run.dt:g} ms | {span / 3600:.0f} h |"
            f" {largest:.1e} J | {trend.change:.1e} ± {trend.error * span:.1e} J | {law:.1e} J |"
            f" {trajectory.wall_time / 60:.0f} min |"
        )
    figure.savefig(FIGURE, dpi=100)
    head = "| mechanism | order | dt | simulated | largest error | trend over the run | square-root law | stepping |"
    PAGE.write_text(TEXT.format(table="\n".join([head, "|---|---|---|---|---|---|---|---|", *rows])))


TEXT = """# A hundred million steps

Each of these runs has 10^8 steps. Energy, momenta and drift are recorded at each 1000th node, poses at each millionth,
so the files have some 10 MB. Memory stays below 300 MB however far they are, 400 MB where the run compiles first.
`benchmarks/long_runs.py` makes this page; it continues stopped runs.

{table}

* *Trend over the run*: slope of the energy times the duration, with its standard error (`varint.energy_trend`).
* *Square-root law*: the unit round-off of the energy times the square root of the number of stages. Round-off that is
  random in each stage would leave that much (Brouwer's law). From order 6 on much less is left.

At order 2 there is the error of the scheme, which comes and goes, and no trend. From order 6 on the last increment of
each stage uses double-double residuals ([theory](theory.md), section 6), and there is no trend either. With residuals
in plain numbers the pendulum lost 7.5e-14 J in 10^8 steps, ten standard errors, and the four-bar, with
`sofroniou-spaletta-13`, 1.0e-10 J: as much as the law, but straight, 1e-18 J in a step. The four-bar's slope is known
better where the error of the scheme is taken off, as a function of the crank's angle: -9e-23 ± 2.2e-21 J in a step,
over 4e5 steps.

The largest error of the pendulum at order 6 is three times the last digit of its energy, and the figure shows means.

![Batch means of the energy](images/long_runs.png)
"""


if __name__ == "__main__":
    folder, *names = Path(sys.argv[1]), *sys.argv[2:]
    if names == ["--page"]:
        write_page(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names or RUNS:
            carry_out(folder, name)
