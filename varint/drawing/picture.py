"""Figures without a display, and the files that they are written to."""

import io
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from varint.drawing.style import DPI
from varint.errors import ArgumentError
from varint.model.checks import can_be_written, path_of
from varint.whole import written_whole

FONTS: Any = {"pdf.fonttype": 42}  # whole fonts, which journals ask for
SUFFIXES = (".png", ".pdf", ".svg")


class Picture(Figure):
    """A matplotlib Figure that a notebook shows as it is, whichever backend is in use."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, dpi=DPI, format="png")
        return data.getvalue()


def check_suffix(path: str | Path, suffixes: tuple[str, ...]) -> Path:
    """``path``, which ends in one of the suffixes; raises ArgumentError, FileError where it cannot be written."""
    file = Path(path_of(path))
    if file.suffix.lower() not in suffixes:
        raise ArgumentError(f"the picture '{file}' must end in {' or '.join(suffixes)}")
    can_be_written(file)
    return file


def write(figure: Figure, path: Path) -> None:
    """Write the figure in the format of the suffix; raises FileError."""
    with written_whole(path) as fresh, rc_context(FONTS):
        figure.savefig(fresh, dpi=DPI, format=path.suffix.lower().lstrip("."))


def plain(text: Any) -> Any:
    """A text of matplotlib whose dollars and underscores are no formula."""
    text.set_parse_math(False)
    return text
