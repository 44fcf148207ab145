"""Panels of what is asked for: curves over time, coordinates and their rates, paths of points, the mechanism."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from varint.base.checks import choice, flag, sequence_of, shown, suggestion
from varint.base.display import count_text, names_text
from varint.base.errors import ArgumentError
from varint.drawing.axes import label_values, labelled, legend, style_axes, wrapped
from varint.drawing.mechanism_picture import (
    OVER,
    Traced,
    draw_names,
    draw_poses,
    figure_size,
    find_traced,
    make_painter,
)
from varint.drawing.paint import Painter
from varint.drawing.picture import plain
from varint.drawing.scene import Scene, placed
from varint.drawing.style import COLOURS, TRACES, line
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import with_world
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.known_forces import is_hard
from varint.results.derived import QUANTITIES
from varint.results.diagnostics import finest
from varint.results.recorded_motion import RecordedMotion
from varint.results.table_columns import GROUPS, Column, listed_name, shown_columns
from varint.views.contact_arrows import COLOUR, ContactArrows
from varint.views.curves import (
    beyond,
    curve,
    duration,
    is_dense,
    is_fast,
    over_time,
    sizes,
    time_unit,
    window,
    with_mean,
)
from varint.views.poses import checked_times, poses_of, ways

MOST = 8  # curves of a panel
AT_NODES = {"force": "effort", "power": "power"}  # quantities that have no impacts, and the word in their names
NODES_ALONE = ", without impacts"
VANISHING = 1e-9  # of the largest of a panel: zero but for round-off
PANEL = 1.5  # in, height
ROUND_OFF = float(np.finfo(float).eps)

ERROR, PHASE, PATH, MECHANISM, SNAPSHOT, COUPLER = "energy_error", "phase", "path", "mechanism", "snapshot", "coupler"
WITHIN: dict[str, list[str]] = {}  # quantities by the panel that they share
for _quantity in QUANTITIES.values():
    if _quantity.within:
        WITHIN.setdefault(_quantity.within, []).append(_quantity.name)
ONLY_DRAWN = {  # besides what is tabulated
    ERROR: "energy beyond the work done since the start, and its mean",
    **{name: " and ".join(kinds_drawn).replace("_", " ") for name, kinds_drawn in WITHIN.items() if name not in GROUPS},
    PHASE: "coordinates of joints against their rates",
    PATH: "paths of points, by default of centres of mass",
    MECHANISM: "poses of the mechanism over the run, the last one darkest",
    SNAPSHOT: "one pose of the mechanism",
    COUPLER: "paths of points with the mechanism drawn once, by default of bodies that no joint ties to the world",
}
DRAWN = (*GROUPS, *ONLY_DRAWN)
POSED = (MECHANISM, SNAPSHOT, COUPLER)
IN_METRES = (*POSED, PATH)
TAKEN = {"times": POSED, "labels": POSED, "trace": IN_METRES, "plane": IN_METRES}  # options, and by what


class Curves(NamedTuple):
    """A panel over time: columns of the same unit, of one quantity or of several of the whole mechanism.

    ``t``: (T,) s. ``beyond``: those that are too many to be drawn; ``zero``: how many of the quantity are not drawn as
    they are zero. ``floor``: round-off, on a logarithmic axis; ``mean``: whether a running mean is drawn.
    """

    quantities: tuple[str, ...]
    t: np.ndarray
    unit: str
    columns: list[Column]
    beyond: list[Column]
    zero: int
    floor: float | None = None
    mean: bool = False

    def joins(self, other: "Curves") -> bool:
        """Return whether ``other`` fits in the same panel: both are of the whole mechanism, on the same axis."""
        whole = not any(name not in QUANTITIES for name in (*self.quantities, *other.quantities))
        same = self.unit == other.unit and len(self.t) == len(other.t)
        return whole and same and self.floor == other.floor

    @property
    def span(self) -> float:
        """Return difference between largest and smallest value."""
        return float(max(each.values.max() for each in self.columns) - min(each.values.min() for each in self.columns))

    @property
    def has_bands(self) -> bool:
        """Return whether curves are drawn as bands."""
        return is_dense(self.t) and any(is_fast(self.t, each.values, self.span) for each in self.columns)

    @property
    def title(self) -> str:
        """Return the label of the axis of values."""
        if self.mean:
            return self.columns[0].name.capitalize()
        return (words(self.quantities) if self.floor is None else QUANTITIES[self.quantities[0]].label).capitalize()

    @property
    def names(self) -> list[str]:
        """Return the names in the legend, where they name columns."""
        if self.mean or self.floor is not None or not (owned(self.quantities[0]) or len(self.columns) > 1):
            return []
        return [column.name for column in self.columns]

    @property
    def size(self) -> tuple[float, int]:
        """Return the height, in, and the number of names above it."""
        return PANEL, 3 if self.mean or self.floor is not None else len(self.names) + bool(self.beyond)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: without a text below the figure on omitted curves."""
        (unit, _), entries = time_unit(self.t), []
        t = self.t / unit
        if self.mean:
            entries = with_mean(axes, self.t, self.columns[0].values, unit)
        elif self.floor is not None:
            entries = [entry for column in self.columns for entry in sizes(axes, t, column.values, self.floor)]
        else:
            lines = [
                curve(axes, self.t, column.values, line(k), self.span, unit) for k, column in enumerate(self.columns)
            ]
            entries = list(zip(lines, self.names, strict=False))
        if self.floor is None:
            label_values(axes, self.title, self.unit, max(np.abs(column.values).max() for column in self.columns))
        else:
            plain(axes.set_ylabel(wrapped(labelled(self.title, self.unit))))
        over_time(axes, self.t, *time_unit(self.t))
        _finish(axes, entries, self.beyond if alone else [])


class Portrait(NamedTuple):
    """A panel of coordinates and their rates, of one unit; ``beyond``: coordinates that are too many to be drawn."""

    unit: str
    pairs: list[tuple[Column, Column]]
    beyond: list[Column]

    @property
    def size(self) -> tuple[float, int]:
        """Return the height, in, and the number of names above it."""
        return 1.9 * PANEL, len(self.pairs) + bool(self.beyond)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: without a text below the figure on omitted curves."""
        entries = [(phase(axes, a.values, b.values, k), a.name) for k, (a, b) in enumerate(self.pairs)]
        one, other = self.pairs[0] if len(self.pairs) == 1 else (None, None)
        label_phase(axes, one.name if one else "Coordinate", other.name if other else "Rate", self.unit)
        _finish(axes, entries if len(self.pairs) > 1 else [], self.beyond if alone else [])


class Drawing(NamedTuple):
    """A panel in metres: paths of points, and poses of the mechanism, the last with names by ``labels``.

    ``arrows``: start and end (3,), m, world, of the contact forces of the last pose.
    """

    painter: Painter
    traced: list[Traced]
    ways: list[np.ndarray]
    poses: tuple[np.ndarray, np.ndarray] | None
    labels: bool = False
    arrows: Sequence[tuple[np.ndarray, np.ndarray]] = ()

    @property
    def size(self) -> tuple[float, int]:
        """Return the height, in, and the number of names above it."""
        return figure_size(self.painter)[1], len(self.traced)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: without a text below the figure on omitted curves."""
        if self.poses is not None:
            draw_poses(axes, self.painter, *self.poses)
        else:
            self.painter.attach(axes)
        palette = TRACES if self.poses is not None else COLOURS
        above = 0.0 if self.poses is None else OVER * len(self.poses[0])
        for start, end in self.arrows:
            self.painter.arrow(start, end, COLOUR, above)
        handles = []
        for k, (way, each) in enumerate(zip(self.ways, self.traced, strict=True)):
            colour, style = palette[k % len(palette)], line(k)["linestyle"]
            handles.append(self.painter.trace(way, colour, above, style))
            end = way[0] if self.poses is None else placed(self.poses[0][-1], self.poses[1][-1], each.body, each.point)
            self.painter.dot(end, colour, above)
            if len(self.ways) > 1:
                self.painter.name(each.name, end, colour, above)
        if self.labels and self.poses is not None:
            draw_names(self.painter, self.poses[0][-1], self.poses[1][-1], above)
        if handles:
            legend(axes, handles, [each.name for each in self.traced])


Panel = Curves | Portrait | Drawing


class PanelOptions(NamedTuple):
    """Options that choose among the things to draw, as given to `Trajectory.plot`."""

    of: dict[str, list[str]]  # names by "bodies", "joints", "forces"
    times: ArrayLike | None
    traced: list[Traced]
    plane: str | None
    labels: bool


def check_drawn(names: Iterable[object]) -> None:
    """Raise ArgumentError, with the known names, for names that cannot be drawn."""
    for name in names:
        listed_name(name, DRAWN, "nothing to draw is called")


def check_used(names: Iterable[str], **options: object) -> None:
    """Raise ArgumentError for ``options`` of `plot` without effect on ``names``."""
    for name, value in options.items():
        if value is not None and not set(TAKEN[name]).intersection(names):
            raise ArgumentError(f"{name} has no effect here: it belongs to {names_text(TAKEN[name])}")


def owned(name: str) -> str:
    """Return the owners of curves: "bodies", "joints", "forces", or ""."""
    return {PATH: "bodies", PHASE: "joints"}.get(name) or (GROUPS[name].of if name in GROUPS else "")


def words(names: Sequence[str]) -> str:
    """Return the description of a panel."""
    shared = {QUANTITIES[name].within if name in QUANTITIES else "" for name in names}
    if len(names) > 1 and len(shared) == 1 and "" not in shared:
        return shared.pop()
    return ", ".join(
        GROUPS[name].title if name in GROUPS and GROUPS[name].title else name.replace("_", " ") for name in names
    )


def find_panels(
    trajectory: RecordedMotion,
    names: Sequence[str],
    of: str | Iterable[str] | None,
    times: ArrayLike | None,
    trace: object,
    plane: str | None,
    labels: bool | None = None,
) -> list[Panel]:
    """Return the panels of ``names``, as given to `Trajectory.plot`. Raises ArgumentError."""
    check_drawn(names)
    named = labels is not None and flag(labels, "labels", ArgumentError)
    check_used(names, times=times, trace=trace, plane=plane, labels=named or None)
    traced = find_traced(trajectory.mechanism, trace)
    chosen = PanelOptions(_chosen(trajectory, names, of), times, traced, plane, named)
    if times is not None:
        checked_times(trajectory, times)
    return _joined([panel for name in dict.fromkeys(names) for panel in _panels(trajectory, name, chosen)])


def of_unit(panels: Sequence[Panel], unit: str) -> list[Panel]:
    """Return the panels in ``unit``. Raises ArgumentError if there is no panel."""
    known = [panel.unit for panel in panels if not isinstance(panel, Drawing)]
    choice(unit, known, "unit", ArgumentError)
    return [panel for panel in panels if not isinstance(panel, Drawing) and panel.unit == unit]


def notes(panels: Sequence[Panel]) -> list[str]:
    """Return the omitted curves, and the reason."""
    curves = [panel for panel in panels if isinstance(panel, Curves)]
    bands = [panel for panel in curves if panel.floor is None and not panel.mean and panel.has_bands]
    zero = [f"{count_text(panel.zero, 'curve')} of {words(panel.quantities)}" for panel in curves if panel.zero]
    remarks = (
        [f"bands: smallest to largest; lines: mean, over {duration(window(bands[0].t))} where swings are fast"]
        if bands
        else []
    )
    remarks += [f"not drawn as they are zero: {', '.join(zero)}"] * bool(zero)
    left_out = [
        (panel.title if isinstance(panel, Curves) else PHASE.capitalize(), panel.unit, panel.beyond)
        for panel in panels
        if not isinstance(panel, Drawing) and panel.beyond
    ]
    return remarks + [
        f"{labelled(title, unit)}, left out beyond {MOST}, choose by of: {names_text(each.name for each in several)}"
        for title, unit, several in left_out
    ]


def phase(axes: Axes, coordinate: np.ndarray, rate: np.ndarray, number: int = 0) -> Artist:
    """Draw a coordinate (T,) against its rate, broken at NaN, with a dot at the start; return the line."""
    (curve_line,) = axes.plot(coordinate, rate, linewidth=0.8, **line(number))
    axes.plot(coordinate[0], rate[0], "o", color=line(number)["color"], markersize=5, markeredgecolor="white")
    return curve_line


def label_phase(axes: Axes, name: str, rate: str, unit: str) -> None:
    """Label the axes of a phase portrait."""
    plain(axes.xaxis.label).set_text(labelled(name, unit))
    plain(axes.yaxis.label).set_text(labelled(rate, f"{unit or 1}/s"))


# ---------------------------------------------------------------------------------------- what is in them


def _finish(axes: Axes, entries: Sequence[tuple[Artist, str]], left_out: Sequence[Column]) -> None:
    style_axes(axes)
    entries = [*entries, *([beyond(len(left_out))] if left_out else [])]
    if entries:
        legend(axes, *zip(*entries, strict=True))


def _chosen(trajectory: RecordedMotion, asked: Iterable[str], of: str | Iterable[str] | None) -> dict[str, list[str]]:
    """Return the names ``of`` by their owners. Raises ArgumentError for names of nothing that is drawn."""
    if of is None:
        return {}
    kinds = {owned(name) for name in asked}
    known = {kind: [item.name for item in getattr(trajectory.mechanism, kind)] for kind in sorted(kinds - {""})}
    by_kind: dict[str, list[str]] = {}
    for name in [of] if isinstance(of, str) else sequence_of(of, "of", "names", ArgumentError):
        owners = [kind for kind, names in known.items() if isinstance(name, str) and name in names]
        if not owners:
            near = suggestion(name, [n for names in known.values() for n in names]) if isinstance(name, str) else ""
            among = " or ".join(known) or "nothing that is drawn, which is of the whole mechanism"
            raise ArgumentError(f"of: {shown(name)} is no name of {among}{near}")
        for kind in owners:
            by_kind.setdefault(kind, []).append(name)
    return by_kind


def _panels(trajectory: RecordedMotion, shown_name: str, options: PanelOptions) -> Sequence[Panel]:
    if shown_name in WITHIN:
        return [panel for name in WITHIN[shown_name] for panel in _curves(trajectory, name, options)]
    if shown_name == ERROR:
        return [_error(trajectory)]
    if shown_name == PHASE:
        return _portraits(trajectory, options)
    if shown_name == PATH:
        return [_path(trajectory, options)]
    return (
        [_poses(trajectory, shown_name, options)] if shown_name in POSED else _curves(trajectory, shown_name, options)
    )


def _curves(trajectory: RecordedMotion, shown_name: str, options: PanelOptions) -> list[Curves]:
    source = finest(trajectory, shown_name)
    candidates = _marked(
        trajectory.mechanism, shown_name, shown_columns(source, shown_name, options.of.get(GROUPS[shown_name].of))
    )
    if not candidates:
        kind, name = GROUPS[shown_name].of, trajectory.mechanism.name
        lacks = (
            f"none of the {kind} of '{name}' has any"
            if GROUPS[shown_name].names(trajectory)
            else f"'{name}' has no {kind}"
        )
        muscles = [force.name for force in trajectory.mechanism.forces if force.activated]
        instead = f" (draw 'command': {names_text(muscles)} have no activation_times)" if muscles else ""
        hint = instead if shown_name == "law_state" else ""
        raise ArgumentError(f"{lacks}: there is no {shown_name!r} to draw{hint}")
    logarithmic = shown_name in QUANTITIES and QUANTITIES[shown_name].logarithmic
    floor = ROUND_OFF * trajectory.mechanism.compiled.length if logarithmic else None
    least = VANISHING * max(np.abs(column.values).max() for column in candidates)
    visible = [column for column in candidates if len(candidates) <= MOST or np.abs(column.values).max() >= least]
    by_unit = {column.unit: [each for each in visible if each.unit == column.unit] for column in visible}
    first, *others = (
        Curves((shown_name,), source.t, unit, listed[:MOST], listed[MOST:], 0, floor)
        for unit, listed in by_unit.items()
    )
    return [first._replace(zero=len(candidates) - len(visible)), *others]


def _marked(mechanism: Mechanism, name: str, several: list[Column]) -> list[Column]:
    """Return the columns, with a note in the names of hard stops: at the nodes only their static effort is known."""
    hard = {f"{force.name} {AT_NODES.get(name)}" for force in mechanism.forces if is_hard(mechanism, force)}
    return [each._replace(name=each.name + NODES_ALONE) if each.name in hard else each for each in several]


def _error(trajectory: RecordedMotion) -> Curves:
    quantity = next(q for q in QUANTITIES.values() if q.label and not q.logarithmic and q.shown(trajectory))
    source = finest(trajectory, quantity.name)
    column = Column(quantity.label, quantity.unit, quantity.drawn(source))
    return Curves((ERROR,), source.t, quantity.unit, [column], [], 0, mean=True)


def _portraits(trajectory: RecordedMotion, options: PanelOptions) -> list[Portrait]:
    of = options.of.get("joints")
    pairs = list(zip(*(shown_columns(trajectory, group, of) for group in ("coordinates", "rates")), strict=True))
    if not pairs:
        raise ArgumentError(f"no joint of '{trajectory.mechanism.name}' has a coordinate: there is no 'phase' to draw")
    units = dict.fromkeys(coordinate.unit for coordinate, _ in pairs)
    by_unit = {unit: [pair for pair in pairs if pair[0].unit == unit] for unit in units}
    return [Portrait(unit, of[:MOST], [each for each, _ in of[MOST:]]) for unit, of in by_unit.items()]


def _joined(panels: Iterable[Panel]) -> list[Panel]:
    """Return the panels, neighbours in one where possible."""
    joined: list[Panel] = []
    for panel in panels:
        last = joined[-1] if joined else None
        if isinstance(panel, Curves) and isinstance(last, Curves) and last.joins(panel):
            several = list({column.name: column for column in (*last.columns, *panel.columns)}.values())
            joined_names = tuple(dict.fromkeys((*last.quantities, *panel.quantities)))
            joined[-1] = last._replace(quantities=joined_names, columns=several)
        else:
            joined.append(panel)
    return joined


def _poses(trajectory: RecordedMotion, name: str, options: PanelOptions) -> Drawing:
    """Return poses at times of the run, in the view that they share; one pose except for `MECHANISM`."""
    mechanism = trajectory.mechanism
    times = checked_times(trajectory, options.times)
    if name != MECHANISM:
        if options.times is not None and len(times) > 1:
            raise ArgumentError(f"{name!r} is at one time, got {len(times)}: {MECHANISM!r} draws several poses")
        times = times[-1:]
    at = trajectory._poses_at(times) if len(trajectory) > 1 else trajectory
    x, R = poses_of(at)
    traced = options.traced or (find_traced(mechanism, _couplers(mechanism)) if name == COUPLER else [])
    lines = ways(trajectory, traced)
    view = choose_view(mechanism, options.plane)
    painter = make_painter(mechanism, x, R, view, traced, lines)
    arrows = ContactArrows(trajectory).at(times[-1], painter.size)
    return Drawing(painter, traced, lines, (x, R), options.labels, arrows)


def _couplers(mechanism: Mechanism) -> list[str]:
    """Return the bodies that no joint ties to the world, else all; up to `MOST`."""
    tied = {
        body
        for joint in mechanism.joints
        if WORLD in (joint.body_a, joint.body_b)
        for body in (joint.body_a, joint.body_b)
    }
    return ([name for name in mechanism.body_index if name not in tied] or _listed(mechanism))[:MOST]


def _listed(mechanism: Mechanism) -> list[str]:
    """Return the names of the bodies that do not stand for armature."""
    return [name for name in mechanism.body_index if name not in mechanism.rotors]


def _path(trajectory: RecordedMotion, options: PanelOptions) -> Drawing:
    mechanism = trajectory.mechanism
    names = options.of.get("bodies", [] if options.traced else _listed(mechanism)[:MOST])
    traced = [*options.traced, *find_traced(mechanism, names)]
    lines = ways(trajectory, traced)
    scene = Scene(mechanism, choose_view(mechanism, options.plane), [], [], [], [], [], [])
    x, R = with_world(trajectory.position[:1], trajectory.quat_wxyz[:1])
    return Drawing(Painter(scene, x, R, lines), traced, lines, None)
