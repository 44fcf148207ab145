"""Base of all studies: the picture of a result."""

from pathlib import Path
from typing import TYPE_CHECKING

from varint.base.display import Shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT = 2.8  # in


class Study(Shown):
    """Base of the results: each draws itself into axes."""

    @property
    def _title(self) -> str:
        raise NotImplementedError

    def _draw(self, axes: "Axes") -> None:
        raise NotImplementedError

    def plot(self, path: str | Path | None = None) -> "Figure":
        """Return the picture, a matplotlib Figure; written where ``path`` is given, .png, .pdf or .svg.

        Raises ArgumentError for another suffix, FileError if it cannot be written.
        """
        from varint.drawing.axes import set_font_sizes, style_axes
        from varint.drawing.picture import SUFFIXES, Picture, check_suffix, plain, write
        from varint.drawing.style import INK, TITLE, WIDTH

        file = None if path is None else check_suffix(path, SUFFIXES)
        figure = Picture(figsize=(WIDTH, HEIGHT), layout="constrained")
        axes = figure.subplots()
        self._draw(axes)
        style_axes(axes)
        set_font_sizes(axes)
        plain(figure.suptitle(self._title, fontsize=TITLE, fontweight="bold", color=INK))
        if file is not None:
            write(figure, file)
        return figure
