"""`Experiment`, one section of the report, and what its scripts share: timing in turns, and curves."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import varint as vi
from varint.drawing.style import line

ROUNDS = 3  # of each timing, at least, after one that compiles


@dataclass(frozen=True)
class Experiment:
    """A section of the report.

    Parameters
    ----------
    name : str
        Of its files.
    title : str
    source : str
        What the source showed, one sentence; empty where there is none.
    measure : function
        () -> what was measured, JSON-ready.
    draw : function
        (what was measured, `Figure`) -> None
    seen : function
        (what was measured) -> what it shows, one or two sentences.
    table : function, optional
        (what was measured) -> a table in Markdown.
    """

    name: str
    title: str
    source: str
    measure: Callable[[], dict]
    draw: Callable[[dict, Figure], None]
    seen: Callable[[dict], str]
    table: Callable[[dict], str] | None = None


def in_turns(works: dict[str, Callable[[], object]], rounds: int = 5, enough: float = 2.0) -> dict[str, float]:
    """Least processor time of each work, s: all in turns, so that what else the machine does falls on all of them.

    A first round, which compiles, does not count. A work that took ``enough`` seconds in all takes no part in rounds
    beyond the third.
    """
    best, spent = dict.fromkeys(works, np.inf), dict.fromkeys(works, 0.0)
    for work in works.values():
        work()
    for turn in range(max(rounds, ROUNDS)):
        order = list(works) if turn % 2 == 0 else list(works)[::-1]
        for name in order:
            if turn >= ROUNDS and spent[name] > enough:
                continue
            began = time.process_time()
            works[name]()
            seconds = time.process_time() - began
            best[name], spent[name] = min(best[name], seconds), spent[name] + seconds
    return best


def timed(
    mechanism: vi.Mechanism, method: object, duration: float, recording: vi.Recording, rounds: int = ROUNDS
) -> tuple[vi.Trajectory, float]:
    """The run of a method, as far as it went, and the least time of its steps, s, in ``rounds`` runs after a short one.

    The short one compiles what the method needs.
    """
    vi.simulate(vi.Problem(mechanism, min(duration, 0.05)), method)
    runs = []
    for _ in range(rounds):
        try:
            runs.append(vi.simulate(vi.Problem(mechanism, duration), method, recording))
        except vi.ConvergenceError as failure:
            return failure.trajectory, failure.trajectory.wall_time
    return runs[0], min(run.wall_time for run in runs)


def curves(figure: Figure, panels: dict[str, dict[str, tuple]], x: str, y: str, scale: str = "log-log") -> None:
    """Draw a panel for each entry: label of a curve to (x values, y values); None and values that are no number are
    left out."""
    horizontal, vertical = scale.split("-")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    labels = list(dict.fromkeys(label for panel in panels.values() for label in panel))
    for axis, (title, panel) in zip(axes, panels.items(), strict=True):
        for label, (xs, ys) in panel.items():
            values = np.array([[a, np.nan if b is None else b] for a, b in zip(xs, ys, strict=True)], dtype=float)
            marks = {"marker": "o", "markersize": 3} if len(values) < 40 else {"linewidth": 1.0}
            axis.plot(*values.reshape(-1, 2).T, label=label, **line(labels.index(label)), **marks)
        axis.set(title=title, xlabel=x, xscale=horizontal, yscale=vertical)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(y)
    handles = {text: handle for axis in axes for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3)


def slope(x: list, y: list) -> float:
    """Exponent of y in x, by least squares in logarithms; entries that are None are left out."""
    kept = [(a, b) for a, b in zip(x, y, strict=True) if b is not None]
    return float(np.polyfit(*np.log(np.array(kept)).T, 1)[0])
