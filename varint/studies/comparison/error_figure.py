"""The figure of a comparison, drawn without a display: over time, then over step and wall time."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from varint.drawing.axes import set_font_sizes, style_axes
from varint.drawing.picture import Picture
from varint.drawing.style import FAINT, INK, SMALL, TINY, TITLE, line
from varint.runs.method import is_of_user
from varint.studies.comparison.series import Series
from varint.views.curves import BINS, envelope, typical

if TYPE_CHECKING:
    from varint.studies.comparison.comparison_result import Comparison

STYLES = {"position": "-", "orientation": "--", "velocity": "-.", "angular_velocity": ":"}
UNITS = {"position": "m", "orientation": "rad", "velocity": "m/s", "angular_velocity": "rad/s"}
PALEST = 0.65  # part of white in the colour of the coarsest run
FLOOR = 1e-18  # m; a logarithmic axis has no zero
MOVED = 1e-9  # m; where no body moves as far, orientations are drawn in place of positions
SMALLEST, LARGEST = 4.0, 7.0  # pt, points of the series
LINE = 0.1  # of the height of a panel
SIZE, FOOT = (6.6, 8.4), 130  # in, letters
BESIDE, KEY_LINE = 6, 0.38  # methods of a key beside the panels, and the height, in, of each below them
REFERENCE: dict[str, Any] = {"color": FAINT, "linewidth": 1.0, "linestyle": (0, (1, 1))}


def draw(comparison: "Comparison", facts: dict[str, str]) -> Figure:
    """Return the figure of a `Comparison`, with ``facts`` at its foot."""
    reference, series = comparison.reference, comparison.series
    way = np.linalg.norm(reference.position - reference.position[0], axis=2).max()
    kind, unit = ("position", "m") if way > MOVED else ("orientation", "rad")
    colours = {each: line(k)["color"] for k, each in enumerate(series)}

    below = KEY_LINE * ((len(series) + 3) // 2) if len(series) > BESIDE else 0.0  # in, of a key below the panels
    figure = Picture(figsize=(SIZE[0], SIZE[1] + below), layout="constrained")
    heights = [1.0, 1.0, 1.0, 3.0 * below / SIZE[1]]
    placed = figure.subplot_mosaic("ab;cd;e.;kk" if below else "ab;cd;ek", height_ratios=heights[: 4 if below else 3])
    *above, step, cost, key = (placed[name] for name in "abcdek")
    _over_time(above, comparison, kind, unit, colours)
    by_step = [each for each in series if each.parameter == "dt"]
    for each in by_step:
        for name, style in STYLES.items() if len(by_step) == 1 else [(kind, _style(comparison, each))]:
            _points(step, each.values, each, name, (colours[each], _marker(comparison, each)), style)
    for each in series:
        look = colours[each], _marker(comparison, each)
        _points(cost, each.wall_time, each, kind, look, _style(comparison, each))
    error = f"Largest error of {kind} ({unit})"
    step.set(xlabel="Step (s)", ylabel="Largest error" if len(by_step) == 1 else error, xscale="log", yscale="log")
    step.xaxis.minorticks_off()
    step.set_xticks(comparison.vi.values, comparison.vi.settings)
    if len(by_step) == 1:  # room for the labels
        smallest, largest = comparison.vi.values[[-1, 0]]
        _labels(step, comparison.vi)
        step.set_xlim(0.9 * smallest, 1.5 * largest * (largest / smallest) ** 1.4)
    cost.set(xlabel="Wall time (s)", ylabel=error, xscale="log", yscale="log")
    floor = max(getattr(comparison.reference_error, kind), FLOOR)
    cost.axhline(floor, **REFERENCE)
    for axes, letter in zip((*above, step, cost), "abcde", strict=True):
        style_axes(axes)
        set_font_sizes(axes)
        axes.set_title(letter, loc="left", fontsize=TITLE, fontweight="bold", color=INK)
    _key(key, comparison, kind, colours, 2 if below else 1)
    figure.suptitle(comparison.mechanism.name, fontsize=TITLE, fontweight="bold", color=INK).set_parse_math(False)
    text = "\n".join(textwrap.fill(f"{name}: {text_of_fact}", FOOT) for name, text_of_fact in facts.items())
    figure.supxlabel(text, fontsize=TINY, color=FAINT, x=0.01, ha="left").set_parse_math(False)
    return figure


def _over_time(
    panels: Sequence[Axes], comparison: "Comparison", kind: str, unit: str, colours: Mapping[Series, str]
) -> None:
    """Plot differences, energy errors and drift over time, of the series of `_drawn_over_time`."""
    difference, energy, drift = panels
    for series in _drawn_over_time(comparison):
        colour, style = colours[series], _style(comparison, series)
        for k in range(len(series.values)):
            look = {"color": _paled(colour, k, len(series.values)), "linewidth": 1.1, "linestyle": style}
            _curve(difference, comparison.t, getattr(series.difference, kind)[k], look)
            _curve(energy, comparison.t, np.maximum.accumulate(np.abs(series.energy[k])), look)
            times, _, largest = typical(comparison.t, series.drift[k])
            _curve(drift, times, largest, look)
    _curve(difference, comparison.t, getattr(comparison.reference_difference, kind), REFERENCE)
    labels = f"Difference of {kind} ({unit})", "Energy error, largest so far (J)", "Joint drift, largest (m)"
    for axes, label in zip(panels, labels, strict=True):
        axes.set(xlabel="Time (s)", ylabel=label, yscale="log", xlim=(0.0, comparison.t[-1]))


def _drawn_over_time(comparison: "Comparison") -> list[Series]:
    """Return the first series of each kind, all by methods of the user, and the unstabilised one."""
    of_user = [series for series in comparison.own if is_of_user(series.runs[0])]
    shown = (comparison.vi, comparison.redmax, *(of_user or comparison.own[:1]), comparison.unstabilised)
    return [series for series in shown if series]


def _style(comparison: "Comparison", series: Series) -> Any:
    return line(comparison.series.index(series))["linestyle"]


def _curve(axes: Axes, t: np.ndarray, values: np.ndarray, look: Mapping[str, Any]) -> None:
    """Plot ``values`` (T,) above `FLOOR` over ``t`` (T,), s; of long runs the largest value in each of many pieces."""
    if len(t) > 4 * BINS:
        t, _, values = envelope(t, values)
    axes.plot(t, np.where(values > FLOOR, values, np.nan), **look)


def _marker(comparison: "Comparison", series: Series) -> float:
    """Return the size of the points of a series, pt: larger below others, so that equal errors do not hide it."""
    return max(SMALLEST, LARGEST - comparison.series.index(series))


def _points(
    axes: Axes, x: np.ndarray, series: Series, name: str, colour_size: tuple[str, float], style: Any = "-"
) -> None:
    """Plot the largest errors of a series over ``x`` (K,), with hollow points where they are not fitted."""
    error, fitted = getattr(series.error, name), getattr(series.fitted, name)
    look: dict[str, Any] = {"color": colour_size[0], "marker": "o", "markersize": colour_size[1]}
    error = np.where(error > FLOOR, error, np.nan)
    axes.plot(x, error, linestyle=style, linewidth=1.1, **look)
    axes.plot(x[~fitted], error[~fitted], linestyle="", markerfacecolor="white", **look)


def _labels(axes: Axes, series: Series) -> None:
    """Write quantities and fitted orders beside the points of the largest step, without overlap."""
    errors = {name: getattr(series.error, name)[0] for name in STYLES}
    bottom, top = np.log(axes.get_ylim())
    height = -np.inf
    for name, error in sorted(errors.items(), key=lambda item: item[1]):
        if error > FLOOR:
            height = max(np.log(error), height + LINE * (top - bottom))
            text = f"{name.replace('_', ' ')} ({UNITS[name]}){_order(series, name)}"
            place: dict[str, Any] = {"textcoords": "offset points", "va": "center"}
            axes.annotate(text, (series.values[0], np.exp(height)), (7, 0), fontsize=SMALL, **place)


def _order(series: Series, name: str) -> str:
    order = getattr(series.order, name)
    return "" if np.isnan(order) else f", order {order:.2f}"


def _paled(colour: str, k: int, count: int) -> tuple[float, ...]:
    white = PALEST * (1.0 - (k + 1) / count) * count / max(1, count - 1)
    return tuple(white + (1.0 - white) * part for part in to_rgb(colour))


def _key(axes: Axes, comparison: "Comparison", kind: str, colours: Mapping[Series, str], columns: int) -> None:
    axes.set_axis_off()
    over_time = _drawn_over_time(comparison)
    lines = []
    for each in comparison.series:
        size = _marker(comparison, each)
        style = _style(comparison, each)
        unit = " s" if each.parameter == "dt" else ""
        label = f"{each.name}{_order(each, kind).replace('order', 'fitted:')}\n"
        label += f"{each.parameter} = {', '.join(each.settings)}{unit}{'' if each in over_time else ', not in a to c'}"
        lines.append(Line2D([], [], color=colours[each], linestyle=style, marker="o", markersize=size, label=label))
    lines.append(Line2D([], [], **REFERENCE, label="error of the reference"))
    if not all(getattr(each.fitted, kind).all() for each in comparison.series):
        lines.append(Line2D([], [], color=FAINT, linestyle="", marker="o", mfc="white", label="not fitted"))
    axes.legend(
        handles=lines, loc="upper left", frameon=False, fontsize=SMALL, title="a to c: pale to dark, coarse to fine",
        title_fontsize=SMALL, alignment="left", labelspacing=0.8, ncols=columns,
    )  # fmt: skip
