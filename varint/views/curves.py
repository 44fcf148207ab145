"""Curves over time: as they are, or where nodes are closer than pixels as bands with their mean."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from varint.drawing.style import COLOURS, DASHED, FAINT, INK, MEAN, PALE, line

BINS = 600  # columns of a picture, about one a pixel
DENSE = 2  # nodes a column, above which a band is drawn
THICK, SEEN = (
    0.1,
    0.02,
)  # mean height of a band, of its values and of those of the panel: above, it is too fast to be followed
FEW = 150  # columns of what has no course, but only a size
LONGEST_MEAN = 600.0  # s
UNITS = ((3 * 3600.0, 3600.0, "h"), (600.0, 60.0, "min"), (0.0, 1.0, "s"))  # above this many s: s a unit, unit


# ---------------------------------------------------------------------------------------- values


def bins(count: int, most: int = BINS) -> np.ndarray:
    """Return the first nodes of up to ``most`` columns of ``count`` nodes, and the last node."""
    return np.unique(np.linspace(0, count - 1, most + 1).astype(int))


def envelope(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times and smallest and largest of ``values`` (T,) in up to `BINS` columns; neighbours share a node."""
    edges = bins(len(t))
    lowest = np.minimum(np.minimum.reduceat(values, edges[:-1]), values[edges[1:]])
    highest = np.maximum(np.maximum.reduceat(values, edges[:-1]), values[edges[1:]])
    return 0.5 * (t[edges[:-1]] + t[edges[1:]]), lowest, highest


def means(values: np.ndarray) -> np.ndarray:
    """Return the mean of ``values`` (T,) in each of the columns of `envelope`, each node in one of them."""
    edges = bins(len(values))
    edges[-1] += 1
    return np.add.reduceat(values, edges[:-1]) / np.diff(edges)


def is_dense(t: np.ndarray) -> bool:
    """Return whether nodes at ``t`` (T,) are closer than pixels."""
    return len(t) > DENSE * BINS


def is_fast(t: np.ndarray, values: np.ndarray, span: float) -> bool:
    """Return whether ``values`` (T,) oscillate too fast for columns, among values with the range ``span``."""
    _, lowest, highest = envelope(t, values)
    return bool((highest - lowest).mean() > max(THICK * np.ptp(values), SEEN * span))


def window(t: np.ndarray) -> float:
    """Return the time, s, over which means of a long run are taken."""
    return float(min(LONGEST_MEAN, (t[-1] - t[0]) / 10))


def duration(seconds: float) -> str:
    """Return the duration as text, in a suitable unit."""
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"


def typical(t: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times, medians and largest of ``values`` (T,) in up to `FEW` columns, each node in one of them."""
    parts = np.array_split(np.arange(len(t)), min(FEW, len(t)))
    medians, largest = np.array([(np.median(values[part]), values[part].max()) for part in parts]).T
    return np.array([0.5 * (t[part[0]] + t[part[-1]]) for part in parts]), medians, largest


def running_mean(t: np.ndarray, values: np.ndarray, window: float) -> tuple[np.ndarray, np.ndarray]:
    """Return centred means of ``values`` (T,) over ``window`` seconds, where a whole window fits, and their times."""
    spacing = (t[-1] - t[0]) / max(1, len(t) - 1)
    width = min(len(t), max(1, round(window / spacing))) if spacing else 1
    share = np.gradient(t) if len(t) > 1 else np.ones(1)  # s, of each node
    sums, spans = (np.concatenate([[0.0], np.cumsum(each)]) for each in (share * values, share))
    first = np.unique(np.linspace(0, len(t) - width, BINS).astype(int))
    last = first + width
    return 0.5 * (t[first] + t[last - 1]), (sums[last] - sums[first]) / (spans[last] - spans[first])


# ---------------------------------------------------------------------------------------- what is drawn


def curve(
    axes: Axes, t: np.ndarray, values: np.ndarray, look: dict[str, Any], span: float = 0.0, unit: float = 1.0
) -> Line2D:
    """Draw a curve or, if its nodes are closer than pixels, its band and its mean; return the line.

    ``t`` is in s, and drawn in units of ``unit`` s.

    The mean is that of a column, which follows the curve, or of a `window` where the curve is too fast to be followed.
    ``span``: between smallest and largest of all that is drawn on the axes.
    """
    if is_dense(t):
        times, lowest, highest = envelope(t, values)
        _band(axes, times / unit, lowest, highest, look["color"])
        t, values = running_mean(t, values, window(t)) if is_fast(t, values, span) else (times, means(values))
    marker = "o" if len(t) == 1 else None
    return axes.plot(t / unit, values, linewidth=1.2, marker=marker, **look)[0]


def with_mean(axes: Axes, t: np.ndarray, values: np.ndarray, unit: float) -> list[tuple[Artist, str]]:
    """Draw values about zero and their running mean, times in units of ``unit`` s; return artists and their names."""
    axes.axhline(0.0, color=INK, linewidth=0.6)
    if is_dense(t):
        entries: list[tuple[Artist, str]] = [
            (_band(axes, *envelope(t / unit, values), COLOURS[0]), "smallest to largest")
        ]
    else:
        entries = [(curve(axes, t, values, line(0), unit=unit), "at the nodes")]
    if len(t) > 20:
        times, mean = running_mean(t, values, window(t))
        style = "-" if is_dense(t) else DASHED
        (drawn,) = axes.plot(times / unit, mean, color=MEAN, linewidth=1.5, linestyle=style)
        entries.append((drawn, f"mean over {duration(window(t))}"))
    axes.margins(y=0.12)
    return entries if len(entries) > 1 else []


def sizes(axes: Axes, t: np.ndarray, values: np.ndarray, floor: float) -> list[tuple[Artist, str]]:
    """Draw values that are zero except for errors, on a logarithmic axis that ends at ``floor``, that of round-off."""
    axes.set_yscale("log")
    shown = np.maximum(values, floor)
    if len(t) > DENSE * FEW:
        times, medians, largest = typical(t, shown)
        axes.fill_between(times, medians, largest, color=COLOURS[0], alpha=PALE, linewidth=0.0)
        entries: list[tuple[Artist, str]] = [
            (axes.plot(times, each, linewidth=1.2, **line(k))[0], name)
            for k, (each, name) in enumerate([(largest, "largest"), (medians, "median")])
        ]
    else:
        entries = [(curve(axes, t, shown, line(0)), "at the nodes")]
    entries.append((axes.axhline(floor, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2))), "round-off"))
    axes.set_ylim(floor / 3, max(30 * floor, 3 * shown.max()))
    axes.yaxis.set_minor_locator(NullLocator())
    return entries


def _band(axes: Axes, t: np.ndarray, lowest: np.ndarray, highest: np.ndarray, colour: str) -> PolyCollection:
    return axes.fill_between(t, lowest, highest, color=colour, alpha=PALE, linewidth=0.0)


# ---------------------------------------------------------------------------------------- axes


def time_unit(t: np.ndarray) -> tuple[float, str]:
    """Return the seconds of a unit of the time axis, and its symbol."""
    span = t[-1] - t[0]
    return next((unit, symbol) for longest, unit, symbol in UNITS if span > longest or not longest)


def over_time(axes: Axes, t: np.ndarray, unit: float, symbol: str) -> None:
    """Label the axis of time below a panel."""
    axes.set_xlabel(f"Time ({symbol})")
    if t[-1] > t[0]:
        axes.set_xlim(t[0] / unit, t[-1] / unit)


def beyond(count: int) -> tuple[Artist, str]:
    """Return the entry of a legend for curves that are not drawn."""
    return Patch(visible=False), f"and {count} more, see of="
