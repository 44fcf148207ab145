"""Colours, lines and sizes that all pictures share.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish; each has a line of its own, so that
curves can be distinguished in grey as well.
"""

from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a7a7a", "#222222")  # of bodies, curves
LINES: tuple[Any, ...] = (
    "-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
    (0, (1.2, 2.8)), (0, (8, 1.5, 3, 1.5)),
)  # fmt: skip
MEAN, INK, FAINT = "#a83200", "#222222", "#5f5f5f"
PALE = 0.28  # opacity of a band
WIDTH = 4.4  # in, of a picture: in a column of 85 mm its texts are still 6 points high
TEXT, SMALL, TINY, TITLE = 9.0, 8.0, 7.0, 10.5  # points
DPI = 200
TRACES = (MEAN, INK, *COLOURS[:3])  # of ways over a mechanism

DASHED = LINES[1]


def line(number: int) -> dict[str, Any]:
    """Return colour and line style of a curve by its number in a panel; no two of the first 64 look alike."""
    round_, colour = divmod(number, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": LINES[(colour + round_) % len(LINES)]}
