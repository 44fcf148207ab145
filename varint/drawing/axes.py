"""Labels, legends and the look of axes that all pictures share."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import Formatter

from varint.base.display import shortened
from varint.drawing.picture import plain
from varint.drawing.style import SMALL, TEXT

LABEL = 20  # characters in a line of an axis label
LONGEST = 40  # characters of a name in a legend
WIDER = 1.1  # an axes, when the figure is laid out
LETTER, KEY = 0.52, 3.4  # width of a letter and of a key with its gaps, of the height of the text
PLAIN = (-2, 4)  # powers of ten that an axis writes out
MOST_DIGITS = 12
NO_BREAK = "\N{NO-BREAK SPACE}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Scaled(Formatter):
    """Numbers of an axis over ``power`` of ten, with the digits that distinguish them."""

    def __init__(self, power: int) -> None:
        self.power = power

    def format_ticks(self, values: Iterable[float]) -> list[str]:
        """Return the texts of the ticks, all with the same number of digits."""
        places = np.asarray(list(values), dtype=float) / 10.0**self.power
        step = np.abs(np.diff(places) if len(places) > 1 else places).min(initial=np.inf)
        digits = 0
        while digits < MOST_DIGITS and np.abs(places - np.round(places, digits)).max(initial=0.0) > 1e-3 * step:
            digits += 1
        return [f"{place + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}") for place in np.round(places, digits)]

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x / 10.0**self.power:.{MOST_DIGITS}g}"


def label_values(axes: Axes, words: str, unit: str, largest: float) -> None:
    """Label the axis of values in ``unit``, up to ``largest``, with a power of ten if they are tiny."""
    exponent = int(np.floor(np.log10(largest))) if largest > 0 else 0
    power = 0 if PLAIN[0] <= exponent < PLAIN[1] else 3 * (exponent // 3)
    axes.yaxis.set_major_formatter(Scaled(power))
    words = words.replace(" - ", " \N{MINUS SIGN} ")
    axes.set_ylabel(
        wrapped(labelled(words, f"10{str(power).translate(SUPERSCRIPTS)} {unit}".strip() if power else unit))
    )


def labelled(words: str, unit: str) -> str:
    """Return the label of an axis, with the unit in brackets."""
    return f"{words} ({unit.replace('^2', '²').replace('^3', '³').replace(' ', NO_BREAK)})" if unit else words


def plain_axes(axes: Axes) -> None:
    """Set the style of a panel."""
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def printed(axes: Axes) -> None:
    """Set the size of texts of axes in a picture of our own so that they are legible in a column."""
    axes.tick_params(labelsize=SMALL)
    axes.xaxis.label.set_fontsize(TEXT)
    axes.yaxis.label.set_fontsize(TEXT)


def wrapped(label: str) -> str:
    """Return the label of an axis in lines that fit beside a panel."""
    return "\n".join(textwrap.fill(each, LABEL) for each in label.replace(": ", ":\n").split("\n"))


def legend(axes: Axes, handles: Iterable[Artist], names: Iterable[str]) -> None:
    """Write names above the axes, whatever characters they contain."""
    texts = [shortened(name, LONGEST) for name in names]
    legend = axes.legend(
        list(handles), [str(k) for k in range(len(texts))], loc="lower left", bbox_to_anchor=(0.0, 1.01), frameon=False,
        fontsize=SMALL, borderaxespad=0.0, borderpad=0.2, handlelength=2.4, columnspacing=1.2, labelspacing=0.3,
        handletextpad=0.6, ncols=_legend_columns(axes, texts),
    )  # fmt: skip
    for text, name in zip(legend.get_texts(), texts, strict=True):
        plain(text).set_text(name)


def _legend_columns(axes: Axes, names: Sequence[str]) -> int:
    width = 72.0 * axes.get_window_extent().width * WIDER / (axes.figure.dpi * SMALL)
    longest = max(min(len(name), LONGEST) for name in names)
    return int(np.clip(width / (KEY + LETTER * longest), 1, min(4, len(names))))
