"""A run as a moving picture: GIF, MP4, WebM."""

import shutil
from base64 import b64encode
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from numpy.typing import ArrayLike

from varint.base.atomic_writes import written_whole
from varint.base.checks import of_type, positive, whole_number
from varint.base.display import Shown, count_text
from varint.base.distribution import install_command
from varint.base.errors import ArgumentError, FileError
from varint.drawing.following import camera_shift
from varint.drawing.mechanism_picture import figure_size, find_traced, make_painter
from varint.drawing.picture import Picture, check_suffix, plain
from varint.drawing.scene import placed
from varint.drawing.style import FAINT, TRACES
from varint.drawing.surfaces import surfaces_of
from varint.drawing.viewpoint import choose_view
from varint.results.recorded_motion import RecordedMotion
from varint.views.contact_arrows import COLOUR, ContactArrows
from varint.views.mesh_files import tinted_solids
from varint.views.poses import poses_of

GIF, MP4, WEBM = ".gif", ".mp4", ".webm"
MOVING = (GIF, MP4, WEBM)
WIDTH = 640  # px
NARROWEST, WIDEST = 100, 4096  # px
FPS = 25.0
SLOWEST, FASTEST = 0.01, 50.0  # frames a second
LONGEST = 3000  # frames
TRIANGLES = 12_000  # of all meshes
SMOOTH = 8  # points of the way of a point, from frame to frame
HUNDREDTHS = 100.0  # of a second, in which a GIF counts
TAGS = {
    GIF: '<img src="data:image/gif;base64,{}">',
    MP4: '<video controls loop src="data:video/mp4;base64,{}"></video>',
    WEBM: '<video controls loop src="data:video/webm;base64,{}"></video>',
}
CODECS = {  # of ffmpeg, with what it is told; every player knows the colours of yuv420p
    MP4: ("libx264", ["-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]),
    WEBM: ("libvpx-vp9", ["-pix_fmt", "yuv420p", "-crf", "30", "-b:v", "0"]),
}
TO_INSTALL = f"needs the package imageio-ffmpeg: {install_command('film')}, or the program ffmpeg; or write a .gif"


class Movie(Shown):
    """A moving picture in the file ``path``, which a notebook plays; ``frames``: how many, ``fps``: a second."""

    def __init__(self, path: Path, frames: int, fps: float) -> None:
        self.path, self.frames, self.fps = path, frames, fps

    def _facts(self) -> Iterable[str]:
        yield from (f"'{self.path}'", count_text(self.frames, "frame"), f"{self.frames / self.fps:.3g} s")

    def _repr_html_(self) -> str:
        """Return HTML with the content of the file. Raises FileError if it is gone."""
        try:
            data = self.path.read_bytes()
        except OSError as problem:
            raise FileError(f"cannot read '{self.path}': {problem.strerror or problem}") from None
        return TAGS[self.path.suffix.lower()].format(b64encode(data).decode())


def animate(
    trajectory: RecordedMotion,
    path: str | Path,
    *,
    fps: float = FPS,
    speed: float = 1.0,
    trace: object = None,
    plane: str | None = None,
    camera: ArrayLike | None = None,
    width: int = WIDTH,
) -> Movie:
    """Write a film of a run, see `Trajectory.animate`."""
    of_type(trajectory, RecordedMotion, "trajectory", ArgumentError)
    file, writer = check_film(path, fps, speed, width)
    times = frame_times(trajectory.t, writer.fps, speed)
    traced = find_traced(trajectory.mechanism, trace)
    view = choose_view(trajectory.mechanism, plane, camera)
    between = np.interp(np.arange(0, len(times) - 1 + 1e-9, 1 / SMOOTH), np.arange(len(times)), times)
    at = trajectory._poses_at(between) if len(trajectory) > 1 else trajectory
    x, R = poses_of(at)
    ways = [placed(x, R, each.body, each.point) for each in traced]
    x, R = x[::SMOOTH], R[::SMOOTH]
    carried = camera_shift(trajectory.mechanism, x)
    x, follows = x + carried[:, None], bool(carried.any())
    tinted = tinted_solids(trajectory.mechanism, TRIANGLES)
    solids = {number: [part.solid for part in parts] for number, parts in tinted.items()}
    surfaces = surfaces_of(solids, {number: [part.colour for part in parts] for number, parts in tinted.items()})
    painter = make_painter(trajectory.mechanism, x, R, view, traced, () if follows else ways, surfaces)
    (across, height), wide = figure_size(painter), width - width % 2  # codecs want even numbers of pixels
    dpi = wide / across
    figure = Picture(figsize=(across, 2 * round(0.5 * height * dpi) / dpi), layout="constrained")
    axes = figure.add_subplot()
    painter.attach(axes)
    painter.still(x, R)
    if follows:
        axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    clock = plain(axes.set_title(" ", loc="left", fontsize=10, color=FAINT))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # else the axes would move with the text
    arrows = ContactArrows(trajectory)
    digits = max(0, int(np.ceil(-np.log10(speed / writer.fps))))
    try:
        with written_whole(file) as fresh, writer.saving(figure, str(fresh), dpi):
            for k in range(len(times)):
                moving = painter.pose(x[k], R[k])
                for way, colour in zip(ways, cycle(TRACES), strict=False):
                    so_far = way[: SMOOTH * k + 1] + carried[k]
                    moving += [painter.trace(so_far, colour), painter.dot(so_far[-1], colour)]
                for start, end in arrows.at(times[k], painter.size):
                    moving += painter.arrow(start + carried[k], end + carried[k], COLOUR)
                clock.set_text(f"t = {times[k]:.{digits}f} s")
                writer.grab_frame()
                for artist in moving:
                    artist.remove()
    except CalledProcessError as problem:
        raise FileError(f"cannot write '{file}': ffmpeg ended with code {problem.returncode}") from problem
    return Movie(file, len(times), writer.fps)


def check_film(path: str | Path, fps: float, speed: float, width: int) -> tuple[Path, AbstractMovieWriter]:
    """Return the file and its writer. Raises ArgumentError, FileError."""
    file = check_suffix(path, MOVING)
    fps = positive(fps, "fps", ArgumentError)
    positive(speed, "speed", ArgumentError)
    if fps > FASTEST:
        raise ArgumentError(f"fps must be at most {FASTEST:g} frames a second, got {fps:g}")
    if fps < SLOWEST:
        raise ArgumentError(f"fps must be at least {SLOWEST:g} frames a second, got {fps:g}")
    whole_number(width, "width", NARROWEST, ArgumentError, WIDEST)
    return file, movie_writer(file, fps)


def movie_writer(file: Path, fps: float = FPS) -> AbstractMovieWriter:
    """Return the writer for the suffix of the file; a frame of a GIF lasts whole hundredths of a second."""
    suffix = file.suffix.lower()
    if suffix == GIF:
        return PillowWriter(fps=HUNDREDTHS / round(HUNDREDTHS / fps))  # type: ignore[arg-type]  # need not be whole
    program = _ffmpeg()
    if program is None:
        raise ArgumentError(f"'{file}' {TO_INSTALL}")
    codec, options = CODECS[suffix]

    class Writer(FFMpegWriter):
        @classmethod
        def bin_path(cls) -> str:
            return str(program)

    return Writer(fps=fps, codec=codec, extra_args=options)  # type: ignore[arg-type]


def _ffmpeg() -> str | None:
    """Return the path of ffmpeg: of imageio-ffmpeg, or of this machine, or None."""
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return shutil.which("ffmpeg")


def frame_times(t: np.ndarray, fps: float, speed: float) -> np.ndarray:
    """Return the times (n,), s, of the frames of a run with nodes at ``t`` (T,). Raises ArgumentError for too many."""
    span = float(t[-1] - t[0])
    count = np.floor(span * fps / speed * (1 + 1e-12)) + 1  # of what would be infinitely many, too
    if count > LONGEST:
        least = span * fps / (LONGEST - 1)
        digit = 10.0 ** (np.floor(np.log10(least)) - 1)
        raise ArgumentError(
            f"{span:g} s at {fps:g} frames a second would be {count:.0f} frames, above {LONGEST}:"
            f" choose a speed of {np.ceil(least / digit) * digit:.2g} or more, or fewer frames a second"
        )
    return np.minimum(t[0] + speed / fps * np.arange(int(count)), t[-1])
