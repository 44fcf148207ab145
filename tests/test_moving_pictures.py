"""Runs as moving pictures: frames, their times, their formats."""

import base64
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import varint as vi
from varint.drawing.viewpoint import choose_view
from varint.views.animation import FPS, frame_times, movie_writer
from varint.views.contact_arrows import COLOUR, LENGTH, ContactArrows


@pytest.fixture(scope="module")
def run():
    """A turn of the crank."""
    return vi.simulate(vi.mechanisms.four_bar(), 1.0, 0.01)


FAKE = """#!{python}
import sys
if "-version" in sys.argv:
    sys.exit(0)
with open(sys.argv[-1], "wb") as file:
    file.write(sys.stdin.buffer.read())
sys.exit({code})
"""


def fake_ffmpeg(folder, code=0):
    """A program called ffmpeg that writes the frames as they come."""
    program = folder / "ffmpeg"
    program.write_text(FAKE.format(python=sys.executable, code=code))
    program.chmod(0o755)


@pytest.mark.slow
def test_a_gif_of_a_turn(run, tmp_path):
    path = tmp_path / "turn.gif"
    run.animate(path, trace="rocker pin")
    assert path.stat().st_size < 1_000_000
    with Image.open(path) as picture:
        assert picture.format == "GIF"
        assert picture.n_frames == 26  # from 0 to 1 s
        assert picture.info["duration"] == 40
        assert picture.info["loop"] == 0
        first = np.asarray(picture.convert("RGB")).astype(int)
        picture.seek(13)
        assert np.abs(np.asarray(picture.convert("RGB")).astype(int) - first).max() > 100


@pytest.mark.slow
def test_speed_and_frames(run, tmp_path):
    path = tmp_path / "p.gif"
    run[:31].animate(path, fps=20, speed=2.0)
    with Image.open(path) as picture:
        assert picture.n_frames == 4
        assert picture.info["duration"] == 50
    assert movie_writer(path, 30.0).fps == pytest.approx(100 / 3)  # whole hundredths of a second
    t = np.linspace(2.0, 5.0, 31)
    assert frame_times(t, 25.0, 0.5) == pytest.approx(2.0 + 0.02 * np.arange(151))
    assert frame_times(t, 25.0, 0.5)[-1] <= t[-1]
    run[:1].animate(tmp_path / "still.gif")
    with Image.open(tmp_path / "still.gif") as picture:
        assert picture.n_frames == 1


@pytest.mark.slow
def test_mp4_by_the_ffmpeg_of_the_machine(run, tmp_path, monkeypatch):
    path = tmp_path / "p.mp4"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(
        vi.ArgumentError, match=r"p\.mp4' needs the package imageio-ffmpeg: pip install \"varint-dynamics\[film\]\""
    ):
        run.animate(path)
    assert not path.exists()
    fake_ffmpeg(tmp_path)
    run[:21].animate(path, plane="isometric")
    size, rest = divmod(path.stat().st_size, 6)  # frames from 0 to 0.2 s
    assert rest == 0
    assert size % (4 * 640) == 0  # red, green, blue, opacity
    fake_ffmpeg(tmp_path, code=3)
    with pytest.raises(vi.FileError, match="ffmpeg ended with code 3"):
        run[:2].animate(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its reader leaves pipes open
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_films_by_imageio_ffmpeg(suffix, run, tmp_path):
    """Frames and size are those of the film; it moves, and the pixels are those of the picture."""
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="needs varint-dynamics[film]")
    path = tmp_path / f"p{suffix}"
    movie = run[:41].animate(path, fps=20, speed=0.5, width=321, trace="rocker pin")
    assert (movie.frames, movie.fps) == (17, 20)
    assert ffmpeg.count_frames_and_secs(str(path)) == (17, pytest.approx(17 / 20, abs=0.06))
    frames = ffmpeg.read_frames(str(path))
    facts = next(frames)
    assert facts["size"][0] == 320
    assert facts["size"][1] % 2 == 0
    assert facts["fps"] == 20
    pictures = [np.frombuffer(frame, np.uint8).reshape(*facts["size"][::-1], 3).astype(int) for frame in frames]
    assert len(pictures) == 17
    assert np.abs(pictures[-1] - pictures[0]).max() > 100
    assert np.median(pictures[0]) > 240  # white, but for the mechanism
    assert f"video/{suffix[1:]}" in movie._repr_html_()


@pytest.mark.parametrize(
    ("camera", "axes"),
    [
        ((0.0, 0.0), ((1, 0, 0), (0, 0, 1), (0, -1, 0))),
        ((90.0, 0.0), ((0, 1, 0), (0, 0, 1), (1, 0, 0))),
        ((0.0, 90.0), ((1, 0, 0), (0, 1, 0), (0, 0, 1))),
    ],
)
def test_a_camera_turns_to_the_right_and_rises(camera, axes):
    view = choose_view(vi.mechanisms.four_bar(), None, camera)
    assert np.array([view.right, view.up, view.towards]) == pytest.approx(np.array(axes))


@pytest.mark.slow
def test_notebooks_play_what_was_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    movie = run[:21].animate("p.gif", trace="rocker pin")
    assert movie.path == Path("p.gif")
    assert repr(movie) == "Movie: 'p.gif', 6 frames, 0.24 s"
    head, data = movie._repr_html_().split("base64,")
    assert head == '<img src="data:image/gif;'
    assert base64.b64decode(data.removesuffix('">')) == Path("p.gif").read_bytes()
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_ffmpeg(tmp_path)
    movie = run[:2].animate("p.mp4")
    assert repr(movie) == "Movie: 'p.mp4', 1 frame, 0.04 s"
    head, data = movie._repr_html_().split("base64,")
    assert head.startswith("<video")
    assert head.endswith('src="data:video/mp4;')
    assert base64.b64decode(data.removesuffix('"></video>')) == Path("p.mp4").read_bytes()
    movie.path.unlink()
    with pytest.raises(vi.FileError, match=r"cannot read 'p\.mp4': No such file"):
        movie._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"path": "p.png"}, vi.ArgumentError, ("p.png", ".gif or .mp4 or .webm")),
        ({"width": 20}, vi.ArgumentError, ("width must be", "100")),
        ({"width": 9000}, vi.ArgumentError, ("width must be", "4096")),
        ({"camera": (1.0, 2.0, 3.0)}, vi.ArgumentError, ("camera must be", "(2,)")),
        ({"camera": (30, 20), "plane": "xz"}, vi.ArgumentError, ("plane and camera both", "give one of them")),
        ({"path": "none/p.gif"}, vi.FileError, ("no folder 'none'",)),
        ({"fps": 0}, vi.ArgumentError, ("fps must be positive",)),
        ({"fps": 60}, vi.ArgumentError, ("fps must be at most 50",)),
        ({"fps": 1e-308}, vi.ArgumentError, ("fps must be at least 0.01",)),
        ({"speed": -1.0}, vi.ArgumentError, ("speed must be positive",)),
        ({"speed": 0.001}, vi.ArgumentError, ("25001 frames, above 3000", "speed of 0.0084 or more")),
        ({"trace": ["rokcer"]}, vi.ArgumentError, ("'rokcer'", "did you mean 'rocker'?")),
        ({"plane": "up"}, vi.ArgumentError, ("plane must be one of",)),
    ],
)
def test_mistakes(options, error, words, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        run.animate(**{"path": "p.gif"} | options)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert not list(tmp_path.iterdir())


def test_long_runs_ask_for_a_speed():
    t = np.array([0.0, 3600.0])
    with pytest.raises(vi.ArgumentError, match=r"90001 frames, above 3000: choose a speed of (\S+) or more") as caught:
        frame_times(t, FPS, 1.0)
    speed = float(str(caught.value).split("speed of ")[1].split()[0])
    assert len(frame_times(t, FPS, speed)) <= 3000
    with pytest.raises(vi.ArgumentError, match="choose a speed of"):
        frame_times(t, FPS, 5e-324)


@pytest.mark.slow
def test_contact_forces_are_arrows_in_films_and_pictures(tmp_path):
    """A rimless wheel on one foot: an arrow from there along the force, in both; none where nothing touches."""
    run = vi.simulate(vi.mechanisms.rimless_wheel(), 0.5, 0.005)
    arrows = ContactArrows(run)
    node = 60
    touching = run.contacts.at(node)
    for (start, end), point, force in zip(arrows.at(run.t[node], 0.01), touching.point, touching.force, strict=True):
        assert np.array_equal(start, point)
        assert (end - start) / np.linalg.norm(end - start) == pytest.approx(force / np.linalg.norm(force))
        assert 0.02 < np.linalg.norm(end - start) < 3.0 * LENGTH * 0.01 + 1e-12
    assert ContactArrows(vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01)).at(0.05, 0.01) == []
    rgb = np.array([int(COLOUR[k : k + 2], 16) for k in (1, 3, 5)])
    run.animate(tmp_path / "wheel.gif", fps=4)
    run.plot("snapshot", path=tmp_path / "wheel.png", times=[0.3])
    for name in ("wheel.gif", "wheel.png"):
        with Image.open(tmp_path / name) as picture:
            picture.seek(picture.n_frames - 1 if name.endswith("gif") else 0)
            pixels = np.asarray(picture.convert("RGB")).astype(int)
        assert (np.abs(pixels - rgb).max(axis=2) < 40).sum() > 100, name
