"""Pictures of a run, drawn without a display."""

import textwrap
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from varint.analysis.derived import QUANTITIES, Quantity
from varint.analysis.diagnostics import finest
from varint.analysis.trajectory import Trajectory
from varint.analysis.trajectory_display import method as method_of
from varint.errors import ArgumentError, FileError
from varint.model.checks import check_name, of_type, path_of, whole_number
from varint.viz.figure import Picture, plain
from varint.viz.style import DPI, FAINT, INK, MEAN

MOST_ORDER = 100  # that a title names
LABEL = 24  # characters in a line of an axis label
BINS = 1200  # envelopes across the picture, about one a pixel
LONGEST_MEAN = 600.0  # s
FLOOR = 1e-18  # m; a logarithmic axis has no zero
UNITS = ((3 * 3600.0, 3600.0, "h"), (600.0, 60.0, "min"), (0.0, 1.0, "s"))  # above this many s: s a unit, unit

PANELS = ("#7fa8d1", "#5d9c8a")  # colours, in turn


def plot_run(trajectory: Trajectory, path: str | Path, *, order: int | None = None, method: str | None = None) -> None:
    """Draw energy and joint drift over time into a PNG file: what `QUANTITIES` say is drawn.

    The energy less that at the start, or where anything does work the energy balance, has a mean over 10 minutes drawn
    over it, or over a tenth of the run where that is shorter, so that a trend would show.

    Parameters
    ----------
    trajectory : Trajectory
    path
        Replaced if it exists.
    order : int, optional
        Of the scheme, for the title.
    method : str, optional
        By what the run was made, for the title, in place of the order; that of the run where neither is given.

    Raises
    ------
    FileError
        The picture cannot be written.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    path = path_of(path)
    if order is not None:
        whole_number(order, "order", 1, ArgumentError, MOST_ORDER)
    if method is not None:
        check_name(method, "method", ArgumentError)
    figure = overview(trajectory, f"order {order}" if method is None and order is not None else method)
    try:
        figure.savefig(path, dpi=DPI, format="png")
    except OSError as problem:
        raise FileError(f"cannot write '{Path(path)}': {problem.strerror or problem}") from None


def overview(trajectory: Trajectory, method: str | None = None) -> Figure:
    """Energy and drift over time; ``method``: by what the run was made, for the title, in place of its settings."""
    method = method_of(trajectory.settings) if method is None else method
    t = trajectory.t
    unit, symbol = time_unit(t)
    drawn = [quantity for quantity in QUANTITIES.values() if quantity.label and quantity.shown(trajectory)]
    figure = Picture(figsize=(8.0, 0.4 + 2.5 * len(drawn)), layout="constrained")
    panels = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    for axes, quantity, colour in zip(panels, drawn, cycle(PANELS), strict=False):
        _panel(axes, quantity, trajectory, unit, colour)
        axes.set_ylabel(wrapped(f"{quantity.label.capitalize()} ({quantity.unit})"))
        plain_axes(axes)
    over_time(panels[-1], t, unit, symbol)
    figure.align_ylabels()
    _title(panels[0], trajectory, method)
    return figure


def time_unit(t: np.ndarray) -> tuple[float, str]:
    """Seconds a unit of the time axis, and its symbol."""
    span = t[-1] - t[0]
    return next((unit, symbol) for longest, unit, symbol in UNITS if span > longest or not longest)


def over_time(axes: Axes, t: np.ndarray, unit: float, symbol: str) -> None:
    """The axis of the time below a panel."""
    axes.set_xlabel(f"Time ({symbol})")
    if t[-1] > t[0]:
        axes.set_xlim(t[0] / unit, t[-1] / unit)


def plain_axes(axes: Axes) -> None:
    """The look of a panel."""
    axes.grid(color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)


def wrapped(label: str) -> str:
    """The label of an axis in lines that fit beside a panel."""
    return "\n".join(textwrap.fill(line, LABEL) for line in label.replace(": ", ":\n").split("\n"))


def _panel(axes: Axes, quantity: Quantity, trajectory: Trajectory, unit: float, colour: str) -> None:
    """One quantity over time; on a linear axis with its mean."""
    found = finest(trajectory, quantity.name)
    t, values = found.t, quantity.drawn(found)
    if quantity.logarithmic:
        curve(axes, t / unit, np.maximum(values, FLOOR), colour, quantity.label)
        axes.set_yscale("log")
        return
    axes.axhline(0.0, color=INK, linewidth=0.6)
    curve(axes, t / unit, values, colour, quantity.label)
    window = min(LONGEST_MEAN, (t[-1] - t[0]) / 10)
    if len(t) > 20:
        times, mean = running_mean(t, values, window)
        axes.plot(times / unit, mean, color=MEAN, linewidth=1.4, label=f"mean over {_duration(window)}")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    axes.margins(y=0.15)
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 1.14), ncols=2, frameon=False, fontsize=9, borderaxespad=0.0)


def running_mean(t: np.ndarray, values: np.ndarray, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Centred means of ``values`` (T,) over ``window`` seconds, where a whole one fits, and their times."""
    spacing = (t[-1] - t[0]) / max(1, len(t) - 1)
    width = min(len(t), max(1, round(window / spacing))) if spacing else 1
    share = np.gradient(t) if len(t) > 1 else np.ones(1)  # s, of each node
    sums, spans = (np.concatenate([[0.0], np.cumsum(each)]) for each in (share * values, share))
    first = np.unique(np.linspace(0, len(t) - width, BINS).astype(int))
    last = first + width
    return 0.5 * (t[first] + t[last - 1]), (sums[last] - sums[first]) / (spans[last] - spans[first])


def envelope(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and smallest and largest of ``values`` (T,) in up to `BINS` bins; neighbours share a node."""
    edges = np.unique(np.linspace(0, len(t) - 1, BINS + 1).astype(int))
    lowest = np.minimum(np.minimum.reduceat(values, edges[:-1]), values[edges[1:]])
    highest = np.maximum(np.maximum.reduceat(values, edges[:-1]), values[edges[1:]])
    return 0.5 * (t[edges[:-1]] + t[edges[1:]]), lowest, highest


def curve(axes: Axes, t: np.ndarray, values: np.ndarray, colour: str, label: str, width: float = 0.9) -> Artist:
    """The curve itself, or where its nodes are closer than pixels, the band that it fills."""
    if len(t) <= 4 * BINS:
        marker = "o" if len(t) == 1 else None
        return axes.plot(t, values, color=colour, linewidth=width, marker=marker, label=label)[0]
    return axes.fill_between(*envelope(t, values), color=colour, linewidth=0.5, label=label)


def _title(axes: Axes, trajectory: Trajectory, method: str | None) -> None:
    steps = trajectory.steps
    words = [f"{steps:,} step{'s' if steps != 1 else ''}".replace(",", "\N{NARROW NO-BREAK SPACE}")]
    if method is not None:
        words.append(method)
    if trajectory.newton_iterations:
        words.append(f"{trajectory.newton_iterations / max(1, steps):.2f} Newton iterations a step")
    if not trajectory.success:
        words.append("unfinished" if trajectory.status < 0 else "stopped: a step could not be solved")
    plain(axes.set_title(trajectory.mechanism.name, fontsize=13, fontweight="bold", color=INK, pad=46))
    place: dict[str, Any] = {
        "xy": (0.5, 1.0),
        "xycoords": "axes fraction",
        "xytext": (0, 30),
        "textcoords": "offset points",
    }
    axes.annotate(", ".join(words), **place, ha="center", fontsize=10, color=FAINT)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"
