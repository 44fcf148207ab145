"""Figures without a display, and the files that they are written to."""

import io
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from varint.base.atomic_writes import write_bytes
from varint.base.errors import ArgumentError
from varint.base.paths import can_be_written, path_of
from varint.base.printable import printable
from varint.drawing.style import DPI

FONTS: Any = {"pdf.fonttype": 42}  # whole fonts, which journals ask for
SUFFIXES = (".png", ".pdf", ".svg")


class Picture(Figure):
    """A matplotlib Figure that a notebook shows as it is, whichever backend is in use."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, dpi=DPI, format="png")
        return data.getvalue()

    def draw(self, renderer: Any) -> None:
        """Draw all, with control characters of every text as in Python."""
        for text in self.findobj(Text):
            if (shown := printable(text.get_text())) != text.get_text():
                text.set_text(shown)
        super().draw(renderer)


def check_suffix(path: str | Path, suffixes: tuple[str, ...]) -> Path:
    """Return ``path``, which must end in one of the suffixes.

    Raises ArgumentError, FileError if it cannot be written.
    """
    file = Path(path_of(path))
    if file.suffix.lower() not in suffixes:
        raise ArgumentError(f"the picture '{file}' must end in {' or '.join(suffixes)}")
    can_be_written(file)
    return file


def write(figure: Figure, path: Path) -> None:
    """Write the figure in the format of the suffix; raises FileError."""
    with rc_context(FONTS):
        write_as(figure, path, path.suffix, DPI)


def write_as(figure: Figure, path: Path, suffix: str, dpi: float) -> None:
    """Write a matplotlib figure in the format of ``suffix``; raises FileError.

    It is drawn in memory, as the errors of matplotlib on a full disk are of any kind.
    """
    data = io.BytesIO()
    figure.savefig(data, dpi=dpi, format=suffix.lower().lstrip("."))
    write_bytes(path, data.getvalue())


def plain(text: Any) -> Any:
    """Return a text of matplotlib with dollars and underscores taken literally, control characters as in Python."""
    text.set_parse_math(False)
    text.set_text(printable(text.get_text()))
    return text
