"""Panels of what is asked for: curves over time, ways of points, the mechanism."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from varint.analysis.columns import GROUPS, Column, columns, listed_name
from varint.analysis.derived import QUANTITIES
from varint.analysis.diagnostics import finest
from varint.analysis.trajectory import Trajectory
from varint.display import count_text, names_text, shortened
from varint.errors import ArgumentError
from varint.kinematics.frames import with_world
from varint.model.checks import of_type, sequence_of, shown, suggestion
from varint.viz.drawing import (
    EDGE,
    OVER,
    WIDTH,
    Traced,
    checked_times,
    draw_poses,
    figure_size,
    find_traced,
    make_painter,
    ways,
)
from varint.viz.figure import SUFFIXES, Picture, check_suffix, plain, write
from varint.viz.paint import Painter
from varint.viz.plots import FLOOR, curve, over_time, overview, plain_axes, time_unit, wrapped
from varint.viz.scene import Scene, placed
from varint.viz.style import COLOURS, FAINT, INK, TRACES
from varint.viz.view import choose_view

MOST = 8  # curves of a panel
VANISHING = 1e-9  # of the largest of a panel: zero but for round-off
LONGEST = 40  # characters of a label
PANEL, ABOVE, BESIDE = 2.3, 0.5, 1.6  # in: height of a panel, the title, the labels
PATH, MECHANISM = "path", "mechanism"
DRAWN = (*GROUPS, PATH, MECHANISM)
TAKEN = {"times": (MECHANISM,), "trace": (MECHANISM, PATH), "plane": (MECHANISM, PATH)}  # options, and by what


class Curves(NamedTuple):
    """A panel over time: columns of the same unit, of one quantity or of several of the whole mechanism.

    ``t``: (T,) s. ``beyond``: those that are too many to be drawn; ``zero``: how many of the quantity are not drawn as
    they are zero.
    """

    what: tuple[str, ...]
    t: np.ndarray
    unit: str
    columns: list[Column]
    beyond: list[Column]
    zero: int

    @property
    def logarithmic(self) -> bool:
        """Whether its axis is."""
        return any(name in QUANTITIES and QUANTITIES[name].logarithmic for name in self.what)

    def joins(self, other: "Curves") -> bool:
        """Whether ``other`` can be drawn in the same panel: both are of the whole mechanism, on the same axis."""
        whole = not any(GROUPS[name].of for name in (*self.what, *other.what))
        same = self.unit == other.unit and len(self.t) == len(other.t)
        return whole and same and self.logarithmic == other.logarithmic


class Drawing(NamedTuple):
    """A panel in metres: ways of points, and poses of the mechanism where there are any."""

    painter: Painter
    traced: list[Traced]
    ways: list[np.ndarray]
    poses: tuple[np.ndarray, np.ndarray] | None


class Given(NamedTuple):
    """What chooses among the things to draw, as given to `Trajectory.plot`."""

    of: dict[str, list[str]]  # names by "bodies", "joints", "forces"
    times: np.ndarray
    traced: list[Traced]
    plane: str | None


def plot(
    trajectory: Trajectory,
    what: Sequence[str],
    path: str | Path | None = None,
    *,
    of: str | Iterable[str] | None = None,
    times: ArrayLike | None = None,
    trace: object = None,
    plane: str | None = None,
) -> Figure:
    """See `Trajectory.plot`."""
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    file = None if path is None else check_suffix(path, SUFFIXES)
    check_drawn(what)
    check_used(what, times=times, trace=trace, plane=plane)
    traced, chosen_times = find_traced(trajectory.mechanism, trace), checked_times(trajectory, times)
    given = Given(_chosen(trajectory, what, of), chosen_times, traced, plane)
    figure = _figure(trajectory, _joined([p for name in dict.fromkeys(what) for p in _panels(trajectory, name, given)]))
    if file is not None:
        write(figure, file)
    return figure


def check_drawn(what: Iterable[object]) -> None:
    """Raises ArgumentError for what cannot be drawn, with what can."""
    for name in what:
        listed_name(name, DRAWN, "nothing to draw is called")


def check_used(what: Iterable[str], **options: object) -> None:
    """Raises ArgumentError for ``options`` of `plot` that nothing among ``what`` takes."""
    for name, value in options.items():
        if value is not None and not set(TAKEN[name]).intersection(what):
            raise ArgumentError(f"{name} has no effect here: it belongs to {' and '.join(map(repr, TAKEN[name]))}")


def _chosen(trajectory: Trajectory, what: Iterable[str], of: str | Iterable[str] | None) -> dict[str, list[str]]:
    """The names ``of`` by what they belong to; raises ArgumentError for those of nothing that is drawn."""
    if of is None:
        return {}
    kinds = {"bodies" if name == PATH else GROUPS[name].of for name in what if name != MECHANISM}
    known = {kind: [item.name for item in getattr(trajectory.mechanism, kind)] for kind in sorted(kinds - {""})}
    found: dict[str, list[str]] = {}
    for name in [of] if isinstance(of, str) else sequence_of(of, "of", "names", ArgumentError):
        owners = [kind for kind, names in known.items() if isinstance(name, str) and name in names]
        if not owners:
            near = suggestion(name, [n for names in known.values() for n in names]) if isinstance(name, str) else ""
            among = " or ".join(known) or "nothing that is drawn, which is of the whole mechanism"
            raise ArgumentError(f"of: {shown(name)} is no name of {among}{near}")
        for kind in owners:
            found.setdefault(kind, []).append(name)
    return found


# ---------------------------------------------------------------------------------------- what is in them


def _panels(trajectory: Trajectory, what: str, given: Given) -> list[Curves | Drawing]:
    if what == MECHANISM:
        return [_mechanism(trajectory, given)]
    if what == PATH:
        return [_path(trajectory, given)]
    source = finest(trajectory, what)
    found = columns(source, what, given.of.get(GROUPS[what].of))
    if not found:
        raise ArgumentError(f"'{trajectory.mechanism.name}' has no {GROUPS[what].of}: there is no {what!r} to draw")
    least = VANISHING * max(np.abs(column.values).max() for column in found)
    kept = [column for column in found if len(found) <= MOST or np.abs(column.values).max() >= least]
    by_unit = {column.unit: [each for each in kept if each.unit == column.unit] for column in kept}
    first, *others = (Curves((what,), source.t, unit, own[:MOST], own[MOST:], 0) for unit, own in by_unit.items())
    return [first._replace(zero=len(found) - len(kept)), *others]


def _joined(panels: Iterable[Curves | Drawing]) -> list[Curves | Drawing]:
    """The panels, neighbours in one where they can be."""
    found: list[Curves | Drawing] = []
    for panel in panels:
        last = found[-1] if found else None
        if isinstance(panel, Curves) and isinstance(last, Curves) and last.joins(panel):
            found[-1] = Curves((*last.what, *panel.what), last.t, last.unit, [*last.columns, *panel.columns], [], 0)
        else:
            found.append(panel)
    return found


def _mechanism(trajectory: Trajectory, given: Given) -> Drawing:
    """Poses at times of the run, on the view that all of them share."""
    mechanism, times = trajectory.mechanism, given.times
    at = trajectory.at(times) if len(trajectory) > 1 else trajectory
    x, R = with_world(at.position, at.quat_wxyz)
    lines = ways(trajectory, given.traced)
    view = choose_view(mechanism, given.plane)
    return Drawing(make_painter(mechanism, x, R, view, given.traced, lines), given.traced, lines, (x, R))


def _path(trajectory: Trajectory, given: Given) -> Drawing:
    mechanism = trajectory.mechanism
    names = given.of.get("bodies", [] if given.traced else list(mechanism.body_index)[:MOST])
    traced = [*given.traced, *find_traced(mechanism, names)]
    lines = ways(trajectory, traced)
    scene = Scene(mechanism, choose_view(mechanism, given.plane), [], [], [], [], [])
    x, R = with_world(trajectory.position[:1], trajectory.quat_wxyz[:1])
    return Drawing(Painter(scene, x, R, lines), traced, lines, None)


# ---------------------------------------------------------------------------------------- the figure


def _figure(trajectory: Trajectory, panels: Sequence[Curves | Drawing]) -> Figure:
    if not panels:
        return overview(trajectory)
    heights = [PANEL if isinstance(panel, Curves) else figure_size(panel.painter)[1] for panel in panels]
    timed = [k for k, panel in enumerate(panels) if isinstance(panel, Curves)]
    title = ABOVE if timed else 0.0
    layout: Literal["constrained", "compressed"] = "constrained" if timed else "compressed"
    figure = Picture(figsize=(WIDTH + BESIDE, title + EDGE * bool(timed) + sum(heights)), layout=layout)
    all_axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    unit, symbol = time_unit(trajectory.t)
    for axes, panel in zip(all_axes, panels, strict=True):
        if isinstance(panel, Curves):
            _draw_curves(axes, panel, panel.t / unit)
        else:
            _draw_metres(axes, panel)
    for k in timed:
        axes = all_axes[k]
        axes.sharex(all_axes[timed[0]])
        axes.tick_params(labelbottom=k == timed[-1])
    if timed:
        over_time(all_axes[timed[-1]], trajectory.t, unit, symbol)
        plain(figure.suptitle(trajectory.mechanism.name, fontsize=13, fontweight="bold", color=INK))
        figure.align_ylabels([all_axes[k] for k in timed])
    if notes := _notes([panel for panel in panels if isinstance(panel, Curves)]):
        text = "\n".join(textwrap.fill(note, 110) for note in notes)
        plain(figure.supxlabel(text, fontsize=7.5, color=FAINT, x=0.01, ha="left"))
    return figure


def _notes(panels: Sequence[Curves]) -> list[str]:
    """What is not drawn, and why."""
    zero = [f"{count_text(panel.zero, 'curve')} of {_words(panel.what)}" for panel in panels if panel.zero]
    return [f"not drawn as they are zero: {', '.join(zero)}"] * bool(zero) + [
        f"{_title(panel)}, left out beyond {MOST}, choose by of: {names_text(column.name for column in panel.beyond)}"
        for panel in panels
        if panel.beyond
    ]


def _draw_curves(axes: Axes, panel: Curves, t: np.ndarray) -> None:
    handles = []
    for column, colour in zip(panel.columns, COLOURS, strict=False):
        values = np.maximum(column.values, FLOOR) if panel.logarithmic else column.values
        handles.append(curve(axes, t, values, colour, "", 1.2))
    if panel.logarithmic:
        axes.set_yscale("log")
    else:
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    axes.set_ylabel(wrapped(_title(panel)))
    plain_axes(axes)
    if GROUPS[panel.what[0]].of or len(handles) > 1:
        legend(axes, handles, [column.name for column in panel.columns])


def _draw_metres(axes: Axes, panel: Drawing) -> None:
    if panel.poses is not None:
        draw_poses(axes, panel.painter, *panel.poses)
    else:
        panel.painter.attach(axes)
    palette = TRACES if panel.poses is not None else COLOURS
    colours = [palette[k % len(palette)] for k in range(len(panel.ways))]
    above = 0.0 if panel.poses is None else OVER * len(panel.poses[0])
    handles = [panel.painter.trace(way, c, above) for way, c in zip(panel.ways, colours, strict=True)]
    for way, each, colour in zip(panel.ways, panel.traced, colours, strict=True):
        point = way[0] if panel.poses is None else placed(panel.poses[0][-1], panel.poses[1][-1], each.body, each.point)
        panel.painter.dot(point, colour, above)
    if handles:
        legend(axes, handles, [each.name for each in panel.traced])


def legend(axes: Axes, handles: Sequence[Artist], names: Iterable[str]) -> None:
    """Names beside the axes, whatever signs are in them."""
    places = [str(k) for k in range(len(handles))]
    found = axes.legend(
        handles, places, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5, borderaxespad=0.0,
        handlelength=1.4,
    )  # fmt: skip
    for text, name in zip(found.get_texts(), names, strict=True):
        plain(text).set_text(shortened(name, LONGEST))


def _words(what: Iterable[str]) -> str:
    return ", ".join(GROUPS[name].title or name.replace("_", " ") for name in what)


def _title(panel: Curves) -> str:
    words = _words(panel.what).capitalize()
    return f"{words} ({panel.unit})" if panel.unit else words
