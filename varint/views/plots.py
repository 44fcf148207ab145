"""Figures of a run, drawn without a display, and panels on the axes of others."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from varint.base.checks import check_name, of_type, sequence_of, whole_number
from varint.base.display import count_text
from varint.base.errors import ArgumentError
from varint.base.paths import path_of
from varint.drawing.axes import set_font_sizes
from varint.drawing.picture import SUFFIXES, Picture, check_suffix, plain, write, write_as
from varint.drawing.style import DPI, FAINT, INK, TINY, TITLE, WIDTH
from varint.results.derived import QUANTITIES
from varint.results.recorded_motion import RecordedMotion
from varint.results.trajectory_display import method as method_of
from varint.views.panels import ERROR, Curves, Drawing, Panel, find_panels, notes, of_unit

MOST_ORDER = 100  # that a title names
ABOVE, BELOW, GAP, ROW = 0.3, 0.45, 0.12, 0.15  # in: the title, the axis of the time, between panels, a row of names
FOOT = 84  # letters in a line of it
OVERVIEW = (ERROR, *(quantity.name for quantity in QUANTITIES.values() if quantity.label and quantity.logarithmic))


def plot(
    trajectory: RecordedMotion,
    names: Sequence[str],
    path: str | Path | None = None,
    *,
    of: str | Iterable[str] | None = None,
    times: ArrayLike | None = None,
    trace: object = None,
    plane: str | None = None,
    labels: bool = False,
) -> Figure:
    """Draw a picture of a run, see `Trajectory.plot`."""
    of_type(trajectory, RecordedMotion, "trajectory", ArgumentError)
    file = None if path is None else check_suffix(path, SUFFIXES)
    panels = find_panels(trajectory, names, of, times, trace, plane, labels)
    figure = _figure(trajectory, panels) if panels else overview(trajectory)
    if file is not None:
        write(figure, file)
    return figure


def draw(
    trajectory: RecordedMotion,
    name: str,
    ax: Axes | Sequence[Axes] | None = None,
    *,
    of: str | Iterable[str] | None = None,
    unit: str | None = None,
    times: ArrayLike | None = None,
    trace: object = None,
    plane: str | None = None,
    labels: bool | None = None,
) -> Any:
    """Draw the panels called ``name``, on ``ax`` or in a figure of its own; see `varint.plot`.

    Returns the axes, an array of them where there are several panels. Raises ArgumentError, also where there are not
    as many axes as panels.
    """
    of_type(trajectory, RecordedMotion, "trajectory", ArgumentError)
    panels = find_panels(trajectory, [name], of, times, trace, plane, labels)
    if unit is not None:
        panels = of_unit(panels, unit)
    if ax is None:
        axes = _figure(trajectory, panels).axes
    else:
        axes = _given(ax, name, panels)
        for each, panel in zip(axes, panels, strict=True):
            panel.draw(each, alone=True)
    return axes[0] if len(panels) == 1 else np.array(axes)


def plot_run(
    trajectory: RecordedMotion, path: str | Path, *, order: int | None = None, method: str | None = None
) -> None:
    """Draw energy and joint drift over time into a PNG file, with the curves that `QUANTITIES` choose.

    The energy less that at the start, or where anything does work the energy balance, has a mean over 10 minutes drawn
    over it, or over a tenth of the run where that is shorter, so that a trend would show.

    Parameters
    ----------
    trajectory : RecordedMotion
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
    of_type(trajectory, RecordedMotion, "trajectory", ArgumentError)
    path = path_of(path)
    if order is not None:
        whole_number(order, "order", 1, ArgumentError, MOST_ORDER)
    if method is not None:
        check_name(method, "method", ArgumentError)
    figure = overview(trajectory, f"order {order}" if method is None and order is not None else method)
    write_as(figure, Path(path), ".png", DPI)


def overview(trajectory: RecordedMotion, method: str | None = None) -> Figure:
    """Draw energy and drift over time; ``method``: of the run, for the title, in place of its settings."""
    method = method_of(trajectory.settings) if method is None else method
    return _figure(
        trajectory, find_panels(trajectory, OVERVIEW, None, None, None, None), [_settings(trajectory, method)]
    )


def _given(ax: Axes | Sequence[Axes], name: str, panels: Sequence[Panel]) -> list[Axes]:
    """Return the axes for the panels. Raises ArgumentError for other objects, or another number."""
    several = list(ax.flat) if isinstance(ax, np.ndarray) else [ax] if isinstance(ax, Axes) else ax
    axes = list(sequence_of(several, "ax", "axes of matplotlib", ArgumentError))
    for each in axes:
        of_type(each, Axes, "ax", ArgumentError)
    if len(axes) != len(panels):
        units = ", ".join(repr(panel.unit) for panel in panels if not isinstance(panel, Drawing))
        raise ArgumentError(
            f"{name!r} has {count_text(len(panels), 'panel')}{f', in {units}' if units else ''}, and ax has"
            f" {len(axes)} axes: give as many{', or choose by unit=' if len(panels) > 1 else ''}"
        )
    return axes


def _figure(trajectory: RecordedMotion, panels: Sequence[Panel], subtitles: Sequence[str] = ()) -> Figure:
    timed = [k for k, panel in enumerate(panels) if isinstance(panel, Curves)]
    titled = any(not isinstance(panel, Drawing) for panel in panels)
    heights = [panel.size[0] for panel in panels]
    rows = [-(-panel.size[1] // 2) for panel in panels]
    foot = [textwrap.fill(note, FOOT) for note in (*subtitles, *notes(panels))]
    height = sum(heights) + ROW * (sum(rows) + sum(note.count("\n") + 1 for note in foot))
    height += GAP * len(panels) + ABOVE * titled + BELOW * titled
    layout: Literal["constrained", "compressed"] = "constrained" if titled else "compressed"
    figure = Picture(figsize=(WIDTH, height), layout=layout)
    all_axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, panel in zip(all_axes, panels, strict=True):
        panel.draw(axes)
        set_font_sizes(axes)
    for k in timed:
        all_axes[k].sharex(all_axes[timed[0]])
        all_axes[k].tick_params(labelbottom=k == timed[-1])
        if k != timed[-1]:
            all_axes[k].set_xlabel("")
    if titled:
        title = figure.suptitle(trajectory.mechanism.name, fontsize=TITLE, fontweight="bold", color=INK)
        plain(title)
        figure.align_ylabels(all_axes)
    if foot:
        plain(figure.supxlabel("\n".join(foot), fontsize=TINY, color=FAINT, x=0.01, ha="left"))
    return figure


def _settings(trajectory: RecordedMotion, method: str | None) -> str:
    """Return the settings of the run, as text."""
    steps = trajectory.steps
    parts = [f"{steps:,} step{'s' if steps != 1 else ''}".replace(",", "\N{NARROW NO-BREAK SPACE}")]
    if method is not None:
        parts.append(method)
    if trajectory.newton_iterations:
        parts.append(f"{trajectory.newton_iterations / max(1, steps):.2f} Newton iterations a step")
    if not trajectory.success:
        parts.append("unfinished" if trajectory.status < 0 else "stopped: a step could not be solved")
    return ", ".join(parts)
