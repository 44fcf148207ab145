"""Names beside points of a picture, moved as far as they would leave it."""

from typing import Any

from matplotlib.text import Annotation

POINTS = 72.0  # of an inch


class NameBeside(Annotation):
    """A name at an offset, points, from its point; drawn inside of its figure, whatever the layout leaves."""

    def draw(self, renderer: Any) -> None:
        """Move the name into the figure, as far as it fits, and draw it."""
        box, figure = self.get_window_extent(renderer), self.get_figure(root=True)
        assert figure is not None  # where it is drawn
        right = _into(box.x0, box.x1, figure.bbox.x1)
        up = _into(box.y0, box.y1, figure.bbox.y1)
        if right or up:
            scale = POINTS / figure.dpi
            self.xyann = self.xyann[0] + right * scale, self.xyann[1] + up * scale
        super().draw(renderer)


def _into(start: float, end: float, most: float) -> float:
    """Return the shift of a span into that from 0 to ``most``; a longer one starts at 0."""
    return max(-start, min(most - end, 0.0)) if start >= 0.0 else -start
