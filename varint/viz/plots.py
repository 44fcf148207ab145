"""Pictures of a run, drawn without a display."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from varint.analysis.trajectory import Trajectory
from varint.errors import FileError

DPI = 150
BINS = 1200  # envelopes across the picture, about one a pixel
LONGEST_MEAN = 600.0  # s
FLOOR = 1e-18  # m; a logarithmic axis has no zero
UNITS = ((3 * 3600.0, 3600.0, "h"), (600.0, 60.0, "min"), (0.0, 1.0, "s"))  # above this many s: s a unit, unit

ENERGY, DRIFT, MEAN, INK, FAINT = "#7fa8d1", "#5d9c8a", "#b5391e", "#222222", "#6b6b6b"


def plot_run(trajectory: Trajectory, path, *, order: int | None = None) -> None:
    """Draw energy error and joint drift over time into a PNG file.

    Over the energy error runs its mean over 10 minutes, or over a tenth of the run where that is
    shorter, so that a trend would show.

    Parameters
    ----------
    trajectory : Trajectory
    path
        Replaced if it exists.
    order : int, optional
        Of the scheme, for the title.

    Raises
    ------
    FileError
        The picture cannot be written.
    """
    t = trajectory.t
    span = t[-1] - t[0]
    unit, symbol = next((unit, symbol) for longest, unit, symbol in UNITS if span > longest or not longest)
    figure = Figure(figsize=(8.0, 5.4), layout="constrained")
    energy, drift = figure.subplots(2, 1, sharex=True)

    error = trajectory.energy - trajectory.energy[0]
    energy.axhline(0.0, color=INK, linewidth=0.6)
    _curve(energy, t / unit, error, ENERGY, "energy error")
    window = min(LONGEST_MEAN, span / 10)
    if len(t) > 20:
        times, mean = running_mean(t, error, window)
        energy.plot(times / unit, mean, color=MEAN, linewidth=1.4, label=f"mean over {_duration(window)}")
    energy.set_ylabel("Energy error (J)")
    energy.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    energy.margins(y=0.15)
    energy.legend(loc="upper right", bbox_to_anchor=(1.0, 1.14), ncols=2, frameon=False, fontsize=9, borderaxespad=0.0)

    _curve(drift, t / unit, np.maximum(trajectory.drift, FLOOR), DRIFT, "joint drift")
    drift.set_yscale("log")
    drift.set_ylabel("Joint drift (m)")
    drift.set_xlabel(f"Time ({symbol})")
    if span > 0:
        drift.set_xlim(t[0] / unit, t[-1] / unit)
    for axes in (energy, drift):
        axes.grid(color="#e4e4e4", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=9)
    figure.align_ylabels()
    _title(energy, trajectory, order)
    try:
        figure.savefig(path, dpi=DPI, format="png")
    except OSError as problem:
        raise FileError(f"cannot write '{Path(path)}': {problem.strerror or problem}") from None


def running_mean(t, values, window):
    """Centred means of ``values`` (T,) over ``window`` seconds, where a whole one fits, and their times."""
    spacing = (t[-1] - t[0]) / max(1, len(t) - 1)
    width = min(len(t), max(1, round(window / spacing))) if spacing else 1
    sums = np.concatenate([[0.0], np.cumsum(values)])
    first = np.unique(np.linspace(0, len(t) - width, BINS).astype(int))
    last = first + width
    return 0.5 * (t[first] + t[last - 1]), (sums[last] - sums[first]) / width


def envelope(t, values):
    """Times and smallest and largest of ``values`` (T,) in up to `BINS` bins; neighbours share a node."""
    edges = np.unique(np.linspace(0, len(t) - 1, BINS + 1).astype(int))
    lowest = np.minimum(np.minimum.reduceat(values, edges[:-1]), values[edges[1:]])
    highest = np.maximum(np.maximum.reduceat(values, edges[:-1]), values[edges[1:]])
    return 0.5 * (t[edges[:-1]] + t[edges[1:]]), lowest, highest


def _curve(axes, t, values, colour, label):
    """The curve itself, or where its nodes are closer than pixels, the band that it fills."""
    if len(t) <= 4 * BINS:
        axes.plot(t, values, color=colour, linewidth=0.9, marker="o" if len(t) == 1 else None, label=label)
    else:
        axes.fill_between(*envelope(t, values), color=colour, linewidth=0.5, label=label)


def _title(axes, trajectory, order):
    steps = trajectory.steps
    words = [f"{steps:,} step{'s' if steps != 1 else ''}".replace(",", "\N{NARROW NO-BREAK SPACE}")]
    if order is not None:
        words.append(f"order {order}")
    words.append(f"{trajectory.newton_iterations / max(1, steps):.2f} Newton iterations a step")
    if not trajectory.success:
        words.append("unfinished" if trajectory.status < 0 else "stopped: a step could not be solved")
    title = axes.set_title(trajectory.mechanism.name, fontsize=13, fontweight="bold", color=INK, pad=46)
    title.set_parse_math(False)
    place = {"xy": (0.5, 1.0), "xycoords": "axes fraction", "xytext": (0, 30), "textcoords": "offset points"}
    axes.annotate(", ".join(words), **place, ha="center", fontsize=10, color=FAINT)


def _duration(seconds):
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"
