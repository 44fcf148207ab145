"""A mechanism drawn pose by pose in pictures of one size, as arrays: the frames of a motion that is not known yet."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from varint.drawing.mechanism_picture import make_painter
from varint.drawing.paint import Painter
from varint.drawing.scene import placed
from varint.drawing.viewpoint import choose_view
from varint.kinematics.frames import with_world
from varint.model.state import State
from varint.model.structure import Structure

FRAME_SIZE, FRAME_DPI = np.array([640, 480]), 100  # pixels across and down, and pixels an inch
PLACE = np.array([0.11, 0.12, 0.87, 0.86])  # of the axes in the frame: left, bottom, width, height
ROOM = 1.1  # around the circle that the mechanism fits in
GROWTH = 1.5  # of what is shown, at once, as a frame that grows with every pose would jitter


class Camera:
    """Draws states of a mechanism, all in one scale; it moves, or shows more, only where a state does not fit."""

    def __init__(self, structure: Structure) -> None:
        self._structure, self._view = structure, choose_view(structure, None)
        self.forget()

    def forget(self) -> None:
        """Begin a film: the next state sets the view."""
        self._first: Painter | None = None
        self._middle, self._half = np.zeros(2), np.zeros(2)
        self._slid: tuple[np.ndarray, np.ndarray] | None = None  # the poses furthest along the guides

    def picture(self, state: State) -> np.ndarray:
        """Return the pixels (480, 640, 3) as red, green, blue from 0 to 255, the top row first."""
        meshes = getattr(state, "vertices", {})  # of a `MeshState`
        x, R = with_world(state.position[None], state.quat_wxyz[None], [vertices[None] for vertices in meshes.values()])
        painter = make_painter(self._structure, x, R, self._view)
        self._aim(painter, x, R)
        figure = Figure(figsize=tuple(FRAME_SIZE / FRAME_DPI), dpi=FRAME_DPI)
        canvas = FigureCanvasAgg(figure)
        painter.attach(figure.add_axes(tuple(PLACE)))
        painter.still(*self._furthest(painter, x, R))
        painter.pose(x[0], R[0])
        canvas.draw()
        return np.array(canvas.buffer_rgba())[..., :3]

    def _aim(self, painter: Painter, x: np.ndarray, R: np.ndarray) -> None:
        """Set the painter's view to that of the first state, moved or widened if the mechanism does not fit."""
        low, high = painter.lower, painter.upper
        shape = FRAME_SIZE * PLACE[2:] / min(FRAME_SIZE * PLACE[2:])
        if self._first is None:
            grounds = painter.grounds(x[0], R[0])
            self._middle = grounds.mean(axis=0) if len(grounds) else 0.5 * (low + high)
            reach = np.hypot(*np.maximum(high - self._middle, self._middle - low))
            self._first, self._half = painter, ROOM * reach * shape
        painter.scale_as(self._first)
        if (low < self._middle - self._half).any() or (high > self._middle + self._half).any():
            needed = float((0.5 * (high - low) / self._half).max())
            self._middle = 0.5 * (low + high)
            self._half = self._half * (GROWTH * needed if needed > 1.0 else 1.0)
        painter.lower, painter.upper = self._middle - self._half, self._middle + self._half

    def _furthest(self, painter: Painter, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses so far, this one included, that are furthest along the guides, which are drawn as far."""
        if self._slid is not None:
            x, R = np.concatenate([x, self._slid[0]]), np.concatenate([R, self._slid[1]])
        ways = [placed(x, R, guide.body, guide.slid) @ guide.axis for guide in painter.scene.guides]
        ends = sorted({0, *(int(end) for way in ways for end in (way.argmin(), way.argmax()))})
        self._slid = x[ends], R[ends]
        return self._slid
