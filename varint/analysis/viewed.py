"""A run in motion: in a browser, and as a film."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from varint.viz.animation import Movie
    from varint.viz.page import Page


class Viewed:
    """Base of a trajectory."""

    def view(
        self, path: str | Path | None = None, *, frames: int = 1000, trace: object = None, plane: str | None = None
    ) -> "Page":
        """A page that shows the run in space, with its curves; a notebook shows it inline, ``path`` writes it, .html.

        The page needs no other file and no network. ``frames``: after the first at most so many of the recorded nodes,
        taken evenly; ``trace``: points whose paths it shows at first, ``plane``: what it looks at first, as in `plot`.
        Raises ArgumentError, FileError.
        """
        from varint.viz.page import view

        this: Any = self
        return view(this, path, frames=frames, trace=trace, plane=plane)

    def animate(
        self,
        path: str | Path,
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        trace: object = None,
        plane: str | None = None,
        camera: ArrayLike | None = None,
        width: int = 640,
    ) -> "Movie":
        """Write a film of the mechanism, .mp4, .webm or .gif, without a display; a notebook plays the result.

        ``fps``: frames a second, up to 50, of poses between the nodes as in `at`; ``speed``: of the film over that of
        the run; ``trace``, ``plane``: as in `plot`; ``camera``, in place of the plane: azimuth and elevation in
        degrees, turned from the front to the right, and above the horizon; ``width``: of a frame in pixels.

        Raises ArgumentError, also for more than 3000 frames, and where .mp4 or .webm need the package imageio-ffmpeg,
        which ``pip install varint[film]`` brings; FileError.
        """
        from varint.viz.animation import animate

        this: Any = self
        return animate(this, path, fps=fps, speed=speed, trace=trace, plane=plane, camera=camera, width=width)
