"""Format axes of matplotlib: tick numbers, axis labels with units, legends and the style that all pictures share."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import Formatter

from varint.base.printable import printable
from varint.drawing.picture import plain
from varint.drawing.style import SMALL, TEXT

LABEL_LINE = 20  # maximum number of characters in a line of an axis label
LONGEST_NAME = 40  # maximum number of characters of a name in a legend; longer names are shortened in the middle
LAST = 18  # number of characters kept at the end of a shortened name, enough for " contact force x"
# Estimated factor by which the layout widens axes; for the number of columns of a legend
LAYOUT_GAIN = 1.1
LETTER_WIDTH = 0.52  # mean width of a letter of a legend, over the font size
HANDLE_WIDTH = 3.4  # width of the handle (sample) of a legend entry with its gaps, over the font size
# Ticks have no power of ten if first <= floor(log10(largest value)) < second
UNSCALED_EXPONENTS = (-2, 4)
MOST_DIGITS = 12  # maximum number of decimals of ticks, and of significant digits of the cursor read-out
NO_BREAK = "\N{NO-BREAK SPACE}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Scaled(Formatter):
    """Format the numbers of an axis divided by 10^``power``, with decimals enough to distinguish the ticks."""

    def __init__(self, power: int) -> None:
        """Store ``power``, the exponent of ten that the label of the axis shows."""
        self.power = power

    def format_ticks(self, values: Iterable[float]) -> list[str]:
        """Return the texts of the ticks at ``values``, all with the same number of decimals."""
        scaled = np.asarray(list(values), dtype=float) / 10.0**self.power
        step = np.abs(np.diff(scaled) if len(scaled) > 1 else scaled).min(initial=np.inf)
        # Increase the decimals until rounding moves no tick by more than a thousandth of the smallest distance between
        # two ticks (of the value, if there is one tick).
        digits = 0
        while digits < MOST_DIGITS and np.abs(scaled - np.round(scaled, digits)).max(initial=0.0) > 1e-3 * step:
            digits += 1
        # + 0.0 turns -0.0 into 0.0, so that zero has no minus sign
        return [f"{value + 0.0:.{digits}f}".replace("-", "\N{MINUS SIGN}") for value in np.round(scaled, digits)]

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of a single value ``x`` for the cursor read-out; ``pos``, set by matplotlib, is not used."""
        return f"{x / 10.0**self.power:.{MOST_DIGITS}g}"


def label_values(axes: Axes, words: str, unit: str, largest: float) -> None:
    """Label the y axis with ``words`` and ``unit``, and with a power of ten if the values are very small or large.

    ``largest``: largest absolute value on the axis, in ``unit``. If it is 0, or from 0.01 to below 10^4, the
    ticks show the values; otherwise the values divided by 10^power, where power is a multiple of 3, and the label ends
    in "(10^power unit)".
    """
    exponent = int(np.floor(np.log10(largest))) if largest > 0 else 0
    power = 0 if UNSCALED_EXPONENTS[0] <= exponent < UNSCALED_EXPONENTS[1] else 3 * (exponent // 3)
    axes.yaxis.set_major_formatter(Scaled(power))
    # " - " between words is a minus; hyphens within a word, as in names of bodies, are kept
    words = words.replace(" - ", " \N{MINUS SIGN} ")
    scaled = f"10{str(power).translate(SUPERSCRIPTS)} {unit}".strip() if power else unit
    plain(axes.set_ylabel(wrapped(labelled(words, scaled))))


def labelled(words: str, unit: str) -> str:
    """Return the label of an axis: ``words``, and ``unit`` in brackets if it is not empty.

    Exponents ^2 and ^3 become superscripts, spaces inside the unit do not break.
    """
    return f"{words} ({unit.replace('^2', '²').replace('^3', '³').replace(' ', NO_BREAK)})" if unit else words


def style_axes(axes: Axes) -> None:
    """Set the style of ``axes``: a light grid behind the curves, no spines at the top and on the right."""
    axes.grid(color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def set_font_sizes(axes: Axes) -> None:
    """Set the font sizes of ``axes``: legible in a picture as wide as a column of text."""
    axes.tick_params(labelsize=SMALL)
    axes.xaxis.label.set_fontsize(TEXT)
    axes.yaxis.label.set_fontsize(TEXT)


def wrapped(label: str) -> str:
    """Return ``label`` in lines of at most `LABEL_LINE` characters, with a break after each ": "."""
    return "\n".join(textwrap.fill(each, LABEL_LINE) for each in label.replace(": ", ":\n").split("\n"))


def legend(axes: Axes, handles: Iterable[Artist], names: Iterable[str]) -> None:
    """Draw the legend above ``axes``: one of ``names`` for each of ``handles``.

    Without names there is no legend. Names longer than `LONGEST_NAME` are shortened in the middle; ``$`` and a leading
    ``_`` have no special meaning, and control characters are printed as escapes.
    """
    texts = [printable(_shortened_inside(name)) for name in names]
    if not texts:
        return
    # Matplotlib omits entries whose label begins with "_": the labels are numbers first, replaced by the names below.
    legend = axes.legend(
        list(handles), [str(k) for k in range(len(texts))], loc="lower left", bbox_to_anchor=(0.0, 1.01), frameon=False,
        fontsize=SMALL, borderaxespad=0.0, borderpad=0.2, handlelength=2.4, columnspacing=1.2, labelspacing=0.3,
        handletextpad=0.6, ncols=_legend_columns(axes, texts),
    )  # fmt: skip
    for text, name in zip(legend.get_texts(), texts, strict=True):
        plain(text).set_text(name)  # "$" in names does not start a formula


def _shortened_inside(name: str) -> str:
    """Return ``name``, shortened in the middle: the end of a curve's name gives its quantity and component."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - LAST - 5]} ... {name[-LAST:]}"


def _legend_columns(axes: Axes, names: Sequence[str]) -> int:
    """Return the number of columns, 1 to 4, in which a legend of ``names`` fits the width of ``axes``.

    ``names``: at least one. Their width is estimated from the length of the longest name; nothing is drawn.
    """
    # width of the axes over the font size: pixels to inches, 72 points to the inch, a font of SMALL points
    width = 72.0 * axes.get_window_extent().width * LAYOUT_GAIN / (axes.figure.dpi * SMALL)
    longest = max(len(name) for name in names)
    return int(np.clip(width / (HANDLE_WIDTH + LETTER_WIDTH * longest), 1, min(4, len(names))))
