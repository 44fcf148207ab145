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
from varint.drawing.axes import label_values, labelled, legend, plain_axes, wrapped
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
from varint.results.table_columns import GROUPS, Column, columns, listed_name
from varint.show.contact_arrows import COLOUR, ContactArrows
from varint.show.curves import (
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
from varint.show.poses import checked_times, poses_of, ways

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
    **{name: " and ".join(own).replace("_", " ") for name, own in WITHIN.items() if name not in GROUPS},
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

    what: tuple[str, ...]
    t: np.ndarray
    unit: str
    columns: list[Column]
    beyond: list[Column]
    zero: int
    floor: float | None = None
    mean: bool = False

    def joins(self, other: "Curves") -> bool:
        """Whether ``other`` can be drawn in the same panel: both are of the whole mechanism, on the same axis."""
        whole = not any(name not in QUANTITIES for name in (*self.what, *other.what))
        same = self.unit == other.unit and len(self.t) == len(other.t)
        return whole and same and self.floor == other.floor

    @property
    def span(self) -> float:
        """Difference between largest and smallest value."""
        return float(max(each.values.max() for each in self.columns) - min(each.values.min() for each in self.columns))

    @property
    def has_bands(self) -> bool:
        """Whether curves are bands that can be seen."""
        return is_dense(self.t) and any(is_fast(self.t, each.values, self.span) for each in self.columns)

    @property
    def title(self) -> str:
        """Label of the axis of values."""
        if self.mean:
            return self.columns[0].name.capitalize()
        return (words(self.what) if self.floor is None else QUANTITIES[self.what[0]].label).capitalize()

    @property
    def names(self) -> list[str]:
        """Names in the legend, where it names columns."""
        if self.mean or self.floor is not None or not (owned(self.what[0]) or len(self.columns) > 1):
            return []
        return [column.name for column in self.columns]

    @property
    def size(self) -> tuple[float, int]:
        """Height, in, and how many names are above it."""
        return PANEL, 3 if self.mean or self.floor is not None else len(self.names) + bool(self.beyond)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: where no text below the figure says what is left out."""
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
            axes.set_ylabel(wrapped(labelled(self.title, self.unit)))
        over_time(axes, self.t, *time_unit(self.t))
        _finish(axes, entries, self.beyond if alone else [])


class Portrait(NamedTuple):
    """A panel of coordinates and their rates, of one unit; ``beyond``: coordinates that are too many to be drawn."""

    unit: str
    pairs: list[tuple[Column, Column]]
    beyond: list[Column]

    @property
    def size(self) -> tuple[float, int]:
        """Height, in, and how many names are above it."""
        return 1.9 * PANEL, len(self.pairs) + bool(self.beyond)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: where no text below the figure says what is left out."""
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
        """Height, in, and how many names are above it."""
        return figure_size(self.painter)[1], len(self.traced)

    def draw(self, axes: Axes, alone: bool = False) -> None:
        """Draw it; ``alone``: where no text below the figure says what is left out."""
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


def check_drawn(what: Iterable[object]) -> None:
    """Raises ArgumentError for what cannot be drawn, with what can."""
    for name in what:
        listed_name(name, DRAWN, "nothing to draw is called")


def check_used(what: Iterable[str], **options: object) -> None:
    """Raises ArgumentError for ``options`` of `plot` that nothing among ``what`` takes."""
    for name, value in options.items():
        if value is not None and not set(TAKEN[name]).intersection(what):
            raise ArgumentError(f"{name} has no effect here: it belongs to {names_text(TAKEN[name])}")


def owned(what: str) -> str:
    """Owners of curves: "bodies", "joints", "forces", or nothing."""
    return {PATH: "bodies", PHASE: "joints"}.get(what) or (GROUPS[what].of if what in GROUPS else "")


def words(what: Sequence[str]) -> str:
    """Description of a panel."""
    shared = {QUANTITIES[name].within if name in QUANTITIES else "" for name in what}
    if len(what) > 1 and len(shared) == 1 and "" not in shared:
        return shared.pop()
    return ", ".join(
        GROUPS[name].title if name in GROUPS and GROUPS[name].title else name.replace("_", " ") for name in what
    )


def find_panels(
    trajectory: RecordedMotion,
    what: Sequence[str],
    of: str | Iterable[str] | None,
    times: ArrayLike | None,
    trace: object,
    plane: str | None,
    labels: bool | None = None,
) -> list[Panel]:
    """The panels of ``what``, as given to `Trajectory.plot`; raises ArgumentError."""
    check_drawn(what)
    named = labels is not None and flag(labels, "labels", ArgumentError)
    check_used(what, times=times, trace=trace, plane=plane, labels=named or None)
    traced = find_traced(trajectory.mechanism, trace)
    chosen = PanelOptions(_chosen(trajectory, what, of), times, traced, plane, named)
    if times is not None:
        checked_times(trajectory, times)
    return _joined([panel for name in dict.fromkeys(what) for panel in _panels(trajectory, name, chosen)])


def of_unit(panels: Sequence[Panel], unit: str) -> list[Panel]:
    """Panels in ``unit``; raises ArgumentError if there are none."""
    known = [panel.unit for panel in panels if not isinstance(panel, Drawing)]
    choice(unit, known, "unit", ArgumentError)
    return [panel for panel in panels if not isinstance(panel, Drawing) and panel.unit == unit]


def notes(panels: Sequence[Panel]) -> list[str]:
    """Omitted curves, and the reason."""
    curves = [panel for panel in panels if isinstance(panel, Curves)]
    bands = [panel for panel in curves if panel.floor is None and not panel.mean and panel.has_bands]
    zero = [f"{count_text(panel.zero, 'curve')} of {words(panel.what)}" for panel in curves if panel.zero]
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
    """A coordinate (T,) against its rate, broken where NaN, with a dot at the start."""
    (found,) = axes.plot(coordinate, rate, linewidth=0.8, **line(number))
    axes.plot(coordinate[0], rate[0], "o", color=line(number)["color"], markersize=5, markeredgecolor="white")
    return found


def label_phase(axes: Axes, name: str, rate: str, unit: str) -> None:
    """The axes of a phase portrait."""
    plain(axes.xaxis.label).set_text(labelled(name, unit))
    plain(axes.yaxis.label).set_text(labelled(rate, f"{unit or 1}/s"))


# ---------------------------------------------------------------------------------------- what is in them


def _finish(axes: Axes, entries: Sequence[tuple[Artist, str]], left_out: Sequence[Column]) -> None:
    plain_axes(axes)
    entries = [*entries, *([beyond(len(left_out))] if left_out else [])]
    if entries:
        legend(axes, *zip(*entries, strict=True))


def _chosen(trajectory: RecordedMotion, what: Iterable[str], of: str | Iterable[str] | None) -> dict[str, list[str]]:
    """The names ``of`` by what they belong to; raises ArgumentError for those of nothing that is drawn."""
    if of is None:
        return {}
    kinds = {owned(name) for name in what}
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


def _panels(trajectory: RecordedMotion, what: str, given: PanelOptions) -> Sequence[Panel]:
    if what in WITHIN:
        return [panel for name in WITHIN[what] for panel in _curves(trajectory, name, given)]
    if what == ERROR:
        return [_error(trajectory)]
    if what == PHASE:
        return _portraits(trajectory, given)
    if what == PATH:
        return [_path(trajectory, given)]
    return [_poses(trajectory, what, given)] if what in POSED else _curves(trajectory, what, given)


def _curves(trajectory: RecordedMotion, what: str, given: PanelOptions) -> list[Curves]:
    source = finest(trajectory, what)
    candidates = _marked(trajectory.mechanism, what, columns(source, what, given.of.get(GROUPS[what].of)))
    if not candidates:
        kind, name = GROUPS[what].of, trajectory.mechanism.name
        lacks = (
            f"none of the {kind} of '{name}' has any" if GROUPS[what].names(trajectory) else f"'{name}' has no {kind}"
        )
        raise ArgumentError(f"{lacks}: there is no {what!r} to draw")
    logarithmic = what in QUANTITIES and QUANTITIES[what].logarithmic
    floor = ROUND_OFF * trajectory.mechanism.compiled.length if logarithmic else None
    least = VANISHING * max(np.abs(column.values).max() for column in candidates)
    visible = [column for column in candidates if len(candidates) <= MOST or np.abs(column.values).max() >= least]
    by_unit = {column.unit: [each for each in visible if each.unit == column.unit] for column in visible}
    first, *others = (
        Curves((what,), source.t, unit, own[:MOST], own[MOST:], 0, floor) for unit, own in by_unit.items()
    )
    return [first._replace(zero=len(candidates) - len(visible)), *others]


def _marked(mechanism: Mechanism, what: str, several: list[Column]) -> list[Column]:
    """The columns, with a note in the names of those of hard stops: at the nodes there is only what they bear."""
    hard = {f"{force.name} {AT_NODES.get(what)}" for force in mechanism.forces if is_hard(mechanism, force)}
    return [each._replace(name=each.name + NODES_ALONE) if each.name in hard else each for each in several]


def _error(trajectory: RecordedMotion) -> Curves:
    quantity = next(q for q in QUANTITIES.values() if q.label and not q.logarithmic and q.shown(trajectory))
    source = finest(trajectory, quantity.name)
    column = Column(quantity.label, quantity.unit, quantity.drawn(source))
    return Curves((ERROR,), source.t, quantity.unit, [column], [], 0, mean=True)


def _portraits(trajectory: RecordedMotion, given: PanelOptions) -> list[Portrait]:
    of = given.of.get("joints")
    pairs = list(zip(*(columns(trajectory, what, of) for what in ("coordinates", "rates")), strict=True))
    if not pairs:
        raise ArgumentError(f"no joint of '{trajectory.mechanism.name}' has a coordinate: there is no 'phase' to draw")
    units = dict.fromkeys(coordinate.unit for coordinate, _ in pairs)
    by_unit = {unit: [pair for pair in pairs if pair[0].unit == unit] for unit in units}
    return [Portrait(unit, of[:MOST], [each for each, _ in of[MOST:]]) for unit, of in by_unit.items()]


def _joined(panels: Iterable[Panel]) -> list[Panel]:
    """The panels, neighbours in one where they can be."""
    joined: list[Panel] = []
    for panel in panels:
        last = joined[-1] if joined else None
        if isinstance(panel, Curves) and isinstance(last, Curves) and last.joins(panel):
            several = list({column.name: column for column in (*last.columns, *panel.columns)}.values())
            what = tuple(dict.fromkeys((*last.what, *panel.what)))
            joined[-1] = last._replace(what=what, columns=several)
        else:
            joined.append(panel)
    return joined


def _poses(trajectory: RecordedMotion, what: str, given: PanelOptions) -> Drawing:
    """Poses at times of the run, on the view that all of them share; one pose but for `MECHANISM`."""
    mechanism = trajectory.mechanism
    times = checked_times(trajectory, given.times)
    if what != MECHANISM:
        if given.times is not None and len(times) > 1:
            raise ArgumentError(f"{what!r} is at one time, got {len(times)}: {MECHANISM!r} draws several poses")
        times = times[-1:]
    at = trajectory.at(times) if len(trajectory) > 1 else trajectory
    x, R = poses_of(at)
    traced = given.traced or (find_traced(mechanism, _couplers(mechanism)) if what == COUPLER else [])
    lines = ways(trajectory, traced)
    view = choose_view(mechanism, given.plane)
    painter = make_painter(mechanism, x, R, view, traced, lines)
    arrows = ContactArrows(trajectory).at(times[-1], painter.size)
    return Drawing(painter, traced, lines, (x, R), given.labels, arrows)


def _couplers(mechanism: Mechanism) -> list[str]:
    """Bodies that no joint ties to the world, or where there are none, all; up to `MOST`."""
    tied = {
        body
        for joint in mechanism.joints
        if WORLD in (joint.body_a, joint.body_b)
        for body in (joint.body_a, joint.body_b)
    }
    return ([name for name in mechanism.body_index if name not in tied] or list(mechanism.body_index))[:MOST]


def _path(trajectory: RecordedMotion, given: PanelOptions) -> Drawing:
    mechanism = trajectory.mechanism
    names = given.of.get("bodies", [] if given.traced else list(mechanism.body_index)[:MOST])
    traced = [*given.traced, *find_traced(mechanism, names)]
    lines = ways(trajectory, traced)
    scene = Scene(mechanism, choose_view(mechanism, given.plane), [], [], [], [], [], [])
    x, R = with_world(trajectory.position[:1], trajectory.quat_wxyz[:1])
    return Drawing(Painter(scene, x, R, lines), traced, lines, None)
