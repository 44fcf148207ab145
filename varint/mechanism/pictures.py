"""Pictures of configurations: assembly modes side by side, coordinates of joints along a sweep."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from varint.base.checks import flag, known_name, sequence_of
from varint.base.display import count_text
from varint.base.errors import ArgumentError
from varint.drawing.axes import label_values, labelled, legend, set_font_sizes, style_axes
from varint.drawing.mechanism_picture import draw_names, figure_size, make_painter
from varint.drawing.picture import SUFFIXES, Picture, check_suffix, plain, write
from varint.drawing.style import FAINT, INK, SMALL, TINY, TITLE, WIDTH, line
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import with_world
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units

if TYPE_CHECKING:
    from varint.mechanism.assembly_modes import AssemblyModes
    from varint.mechanism.sweep import Sweep

MOST_MODES = 24  # of a picture
COLUMNS = 4  # of modes
HEAD = 0.3  # in, of a title
MOST_CURVES = 8  # of a panel
PANEL, BELOW, ROW = 1.9, 0.45, 0.15  # in: heights of a panel, of the axis below it, of a row of names


def plot_modes(modes: "AssemblyModes", path: str | Path | None, plane: str | None, labels: bool) -> Figure:
    """Draw the modes, see `AssemblyModes.plot`."""
    file = None if path is None else check_suffix(path, SUFFIXES)
    flag(labels, "labels", ArgumentError)
    if not len(modes):
        raise ArgumentError(f"mechanism '{modes.mechanism.name}' has no assembly mode to draw at the held coordinates")
    drawn = modes.modes[:MOST_MODES]
    x, R = with_world(np.array([mode.position for mode in drawn]), np.array([mode.quat_wxyz for mode in drawn]))
    painter = make_painter(modes.mechanism, x, R, choose_view(modes.mechanism, plane))
    rows = -(-len(drawn) // COLUMNS)
    columns = -(-len(drawn) // rows)
    width, height = figure_size(painter)
    scale = 2 / 3 if columns > 2 else 1.0
    figure = Picture(figsize=(scale * width * columns, (scale * height + HEAD) * rows + HEAD), layout="compressed")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for k, (axes, mode) in enumerate(zip(panels, drawn, strict=False)):
        painter.attach(axes)
        painter.still(x[k : k + 1], R[k : k + 1])
        painter.pose(x[k], R[k])
        if labels:
            draw_names(painter, x[k], R[k])
        plain(axes.set_title(mode.name, fontsize=TITLE, color=INK))
        if k % columns:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
        if k + columns < len(drawn):
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
    for axes in panels[len(drawn) :]:
        axes.set_axis_off()
    plain(figure.suptitle(modes.mechanism.name, fontsize=TITLE, fontweight="bold", color=INK))
    if len(modes) > len(drawn):
        plain(figure.supxlabel(f"{count_text(len(modes) - len(drawn), 'more mode')}", fontsize=TINY, color=FAINT))
    if file is not None:
        write(figure, file)
    return figure


def plot_sweep(sweep: "Sweep", path: str | Path | None, of: str | Iterable[str] | None) -> Figure:
    """Draw a sweep, see `Sweep.plot`."""
    file = None if path is None else check_suffix(path, SUFFIXES)
    if not len(sweep):
        raise ArgumentError(f"sweep of {sweep.joint!r} reached none of its values: nothing to draw")
    curves = _curves(sweep, of)
    units = list(dict.fromkeys(unit for _, unit, _ in curves))
    panels = [[(name, q) for name, curve_unit, q in curves if curve_unit == unit] for unit in units]
    rows = [min(len(panel), MOST_CURVES) // 2 + 1 for panel in panels]
    height = (PANEL + ROW) * len(panels) + ROW * sum(rows) + BELOW + HEAD
    figure = Picture(figsize=(WIDTH, height), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
    for axes, unit, panel in zip(all_axes, units, panels, strict=True):
        style_axes(axes)
        marks = [axes.axvline(s, color=FAINT, linewidth=0.9, linestyle=":") for s in sweep.branch_points]
        ends = [] if sweep.lockup is None else [axes.axvline(sweep.lockup, color=INK, linewidth=0.9)]
        marker = "o" if len(sweep) == 1 else None
        drawn = [
            axes.plot(sweep.values, q, linewidth=1.2, marker=marker, **line(k))[0]
            for k, (_, q) in enumerate(panel[:MOST_CURVES])
        ]
        names = [name for name, _ in panel[:MOST_CURVES]]
        label_values(axes, "Coordinates", unit, max(np.abs(q).max() for _, q in panel[:MOST_CURVES]))
        legend(axes, [*drawn, *marks[:1], *ends], [*names, *["branch point"] * bool(marks), *["locked"] * len(ends)])
        if len(panel) > MOST_CURVES:
            more = f"and {len(panel) - MOST_CURVES} more, see of="
            axes.text(1.0, 0.02, more, transform=axes.transAxes, ha="right", fontsize=SMALL, color=FAINT)
        set_font_sizes(axes)
    driven = _name(sweep.mechanism.joint(sweep.joint), sweep.number)
    plain(all_axes[-1].set_xlabel(labelled(driven, sweep.unit)))
    plain(figure.suptitle(sweep.mechanism.name, fontsize=TITLE, fontweight="bold", color=INK))
    if file is not None:
        write(figure, file)
    return figure


def _curves(sweep: "Sweep", of: str | Iterable[str] | None) -> list[tuple[str, str, np.ndarray]]:
    """Return (name, unit, values (T,)) of each drawn coordinate: of joints ``of``, else of all that are not driven."""
    known = sweep.mechanism.joint_index
    names = (
        list(known) if of is None else [of] if isinstance(of, str) else sequence_of(of, "of", "names", ArgumentError)
    )
    curves = []
    for name in names:
        joint = sweep.mechanism.joint(known_name(name, known, "of: no joint", ArgumentError))
        q = sweep.coordinates[name].reshape(len(sweep), joint.dof)
        for k, unit in enumerate(coordinate_units(joint)):
            if of is not None or (name, k) != (sweep.joint, sweep.number):
                curves.append((_name(joint, k), unit, q[:, k]))
    if not curves:
        raise ArgumentError(f"sweep of {sweep.joint!r}: no other coordinate to draw")
    return curves


def _name(joint: Joint, number: int) -> str:
    """Name of a coordinate of a joint."""
    return f"{joint.name} {number}" if joint.dof > 1 else joint.name
