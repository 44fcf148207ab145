"""A mechanism drawn pose by pose in pictures of one size, as arrays: the frames of a motion that is not known yet."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from varint.drawing.mechanism_picture import make_painter
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import with_world
from varint.model.state import State
from varint.model.structure import Structure

FRAME_SIZE, FRAME_DPI = np.array([640, 480]), 100  # pixels across and down, and pixels an inch


class Camera:
    """Draws states of a mechanism; what it shows grows until all of them fit."""

    def __init__(self, structure: Structure) -> None:
        self._structure, self._view = structure, choose_view(structure, None)
        self.forget()

    def forget(self) -> None:
        """Begin a film: the next state alone decides what is shown."""
        self._lower, self._upper, self._size = np.full(2, np.inf), np.full(2, -np.inf), 0.0

    def picture(self, state: State) -> np.ndarray:
        """(480, 640, 3) whole numbers from 0 to 255: red, green and blue of the pixels, the top row first."""
        x, R = with_world(state.position[None], state.quat_wxyz[None])
        painter = make_painter(self._structure, x, R, self._view)
        self._lower, self._upper = np.minimum(self._lower, painter.lower), np.maximum(self._upper, painter.upper)
        self._size = self._size or painter.size
        painter.lower, painter.upper, painter.size = self._lower, self._upper, self._size
        figure = Figure(figsize=tuple(FRAME_SIZE / FRAME_DPI), dpi=FRAME_DPI, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        painter.attach(figure.add_subplot())
        painter.axes.set_adjustable("datalim")
        painter.still(x, R)
        painter.pose(x[0], R[0])
        canvas.draw()
        return np.array(canvas.buffer_rgba())[..., :3]
