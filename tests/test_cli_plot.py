"""``varint plot``: what it draws, in which formats, and what it says to mistakes."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import varint as vi
from varint.cli import main


@pytest.fixture(autouse=True)
def run_file(tmp_path, monkeypatch):
    """Each test in a folder of its own with a run."""
    monkeypatch.chdir(tmp_path)
    vi.simulate(vi.mechanisms.four_bar(), 0.5, 0.01, output="run.h5")
    return Path("run.h5")


def drawn(monkeypatch):
    """What is asked of the plots while the command runs."""
    asked = []
    import varint.views.plots as plots

    def plot(trajectory, what, path, **options):
        asked.append((what, path.name, options))

    monkeypatch.setattr(plots, "plot", plot)
    return asked


HEADS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", HEADS)
def test_what_is_named_in_each_format(suffix, capsys):
    assert main(["plot", "run.h5", "coordinates", "-o", f"t.{suffix}"]) == 0
    assert Path(f"t.{suffix}").read_bytes().startswith(HEADS[suffix])
    assert capsys.readouterr().out.split() == [f"t.{suffix}"]


@pytest.mark.slow
def test_names_and_choices_reach_the_picture(monkeypatch):
    asked = drawn(monkeypatch)
    assert main(["plot", "run.h5", "rates", "path", "--of", "crank pivot", "--of", "coupler"]) == 0
    assert main(["plot", "run.h5", "-o", "t.pdf"]) == 0
    assert asked == [
        (["rates", "path"], "run.png", {"of": ["crank pivot", "coupler"]}),
        ([], "t.pdf", {"of": None}),
    ]


@pytest.mark.slow
def test_points_times_and_plane_reach_the_picture(monkeypatch):
    asked = drawn(monkeypatch)
    points = ["--trace", "rocker pin", "--trace", "coupler:0.6,0,-0.9"]
    assert main(["plot", "run.h5", "mechanism", *points, "--times", "0,0.1,0.25", "--plane", "xz"]) == 0
    options = {"trace": ["rocker pin", ("coupler", [0.6, 0.0, -0.9])], "times": [0.0, 0.1, 0.25], "plane": "xz"}
    assert asked == [(["mechanism"], "run.png", {"of": None} | options)]


@pytest.mark.slow
def test_points_and_frames_of_a_moving_picture():
    argv = ["plot", "run.h5", "--fps", "10", "--trace", "coupler:0.6,0,0.9", "--plane", "isometric"]
    assert main([*argv, "-o", "t.gif"]) == 0
    vi.load("run.h5").animate("u.gif", fps=10, trace=("coupler", (0.6, 0, 0.9)), plane="isometric")
    assert Path("t.gif").read_bytes() == Path("u.gif").read_bytes()


@pytest.mark.slow
def test_a_still_picture_with_a_point():
    argv = ["plot", "run.h5", "mechanism", "path", "--trace", "coupler:0.6,0,0.9", "--plane", "zx", "--times", "0.5"]
    assert main([*argv, "-o", "t.png"]) == 0
    options = {"times": 0.5, "trace": ("coupler", (0.6, 0, 0.9)), "plane": "zx"}
    vi.load("run.h5").plot("mechanism", "path", path="u.png", **options)
    assert Path("t.png").read_bytes() == Path("u.png").read_bytes()


@pytest.mark.slow
def test_a_window_of_time(monkeypatch):
    asked = []
    import varint.views.plots as plots

    monkeypatch.setattr(plots, "plot", lambda trajectory, what, path, **options: asked.append(trajectory.t[[0, -1]]))
    for window in (["--from", "0.1", "--to", "0.3"], ["--from", "0.2"], ["--to", "0.3"], []):
        assert main(["plot", "run.h5", "coordinates", *window]) == 0
    assert np.allclose(asked, [(0.1, 0.3), (0.2, 0.5), (0.0, 0.3), (0.0, 0.5)], rtol=0, atol=1e-15)


@pytest.mark.slow
def test_a_window_of_a_film():
    assert main(["film", "run.h5", "--from", "0.1", "--to", "0.3", "--fps", "10", "-o", "t.gif"]) == 0
    vi.load("run.h5")[10:31].animate("u.gif", fps=10)
    assert Path("t.gif").read_bytes() == Path("u.gif").read_bytes()


@pytest.mark.slow
def test_moving_pictures():
    for name, argv, frames in (("t.gif", ["--speed", "5"], 3), ("u.gif", ["mechanism", "--speed", "10"], 2)):
        assert main(["plot", "run.h5", *argv, "-o", name]) == 0
        with Image.open(name) as picture:
            assert picture.n_frames == frames


@pytest.mark.slow
def test_pictures_are_kept_unless_forced(capsys):
    for name in ("other.png", "run.png"):
        Path(name).write_text("mine")
    assert main(["plot", "run.h5", "-o", "other.png"]) == 2
    assert "'other.png' exists: use --force to replace it" in capsys.readouterr().err
    assert Path("other.png").read_text() == "mine"
    assert main(["plot", "run.h5", "-o", "other.png", "--force"]) == 0
    assert Path("other.png").read_bytes().startswith(HEADS["png"])
    assert main(["plot", "run.h5"]) == 0  # the picture of the run is its own
    assert Path("run.png").read_bytes().startswith(HEADS["png"])


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["reaction"], ("'reaction'", "did you mean 'reactions'?", "position", "drift", "mechanism")),
        (["-o", "t.jpg"], ("t.jpg", ".png or .pdf or .svg or .gif or .mp4")),
        (["-o", "run.h5"], ("run.h5", ".png")),
        (["-o", "none/t.png"], ("no folder 'none'",)),
        (["coordinates", "-o", "t.gif"], ("t.gif", "leave out the names")),
        (["--of", "crank", "-o", "t.gif"], ("t.gif", "leave out the names")),
        (["coordinates", "--speed", "2"], ("--speed", ".gif")),
        (["--speed", "-2", "-o", "t.gif"], ("speed must be positive",)),
        (["--speed", "0", "-o", "t.gif"], ("speed must be positive",)),
        (["mechanism", "--fps", "2"], ("--fps", ".gif")),
        (["--fps", "60", "-o", "t.gif"], ("fps must be at most 50",)),
        (["--times", "0.1", "-o", "t.gif"], ("--times applies to poses in still pictures",)),
        (["--times", "0.1"], ("times has no effect here: it belongs to 'mechanism'",)),
        (["path", "--times", "0.1"], ("times has no effect here",)),
        (
            ["--trace", "coupler", "-o", "t.pdf"],
            ("trace has no effect here: it belongs to 'mechanism', 'snapshot', 'coupler', 'path'",),
        ),
        (["energy", "--plane", "xz"], ("plane has no effect here",)),
        (["path", "--plane", "xw"], ("--plane must be one of xy, xz,", "'xw'")),
        (["mechanism", "--times", "0.1;0.2"], ("--times takes times in s, such as 0,0.1,0.2, got '0.1;0.2'",)),
        (["mechanism", "--times", "0,1"], ("times must be from 0 to 0.5 s",)),
        (["path", "--trace", "couplr"], ("'couplr'", "did you mean 'coupler'?")),
        (["path", "--trace", "coupler:1,2"], ("the traced point of body 'coupler'", "(3,)")),
        (["path", "--trace", "coupler:1,2,a"], ("BODY:x,y,z, in m, got '1,2,a'",)),
        (["--of", "crank"], ("--of needs what to draw",)),
        (["coordinates", "--of", "crank"], ("'crank'", "joints", "did you mean 'crank pi")),
        (["-o", "t.mp4"], ("t.mp4", "ffmpeg")),
        (["--from", "0.6"], ("--from 0.6 is outside the run, which goes from 0 to 0.5 s",)),
        (["--to", "-1"], ("--to -1 is outside the run",)),
        (["--from", "0.3", "--to", "0.2"], ("--from 0.3 must be before --to 0.2",)),
        (["--from", "0.301", "--to", "0.309"], ("fewer than two nodes", "0.01 s apart on average")),
        (["mechanism", "--to", "0.2", "--times", "0.3"], ("times must be from 0 to 0.2 s",)),
    ],
)
def test_mistakes(argv, words, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert main(["plot", "run.h5", *argv]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert all(word in line for word in words), line
    assert [path.name for path in tmp_path.iterdir()] == ["run.h5"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv",
    [["-o", "t.jpg"], ["reaction"], ["--speed", "2"], ["--fps", "2"], ["--trace", "a"], ["path", "--plane", "up"]],
)
def test_mistakes_are_found_before_the_run_is_read(argv, capsys):
    assert main(["plot", "none.h5", *argv]) == 2
    assert "none.h5" not in capsys.readouterr().err
