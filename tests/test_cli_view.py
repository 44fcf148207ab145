"""``varint view`` and ``varint film``: what they write and serve, and what they say to mistakes."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import folder, json_of
from PIL import Image
from test_view import data_of

import varint as vi
from varint.cli import main

__all__ = ["folder"]  # a fixture of every test here
SHORT = ["--duration", "0.2"]


def run_file():
    vi.simulate(vi.mechanisms.four_bar(), 0.2, 0.01, output="run.h5")


@pytest.mark.slow
def test_a_page_of_a_run_and_of_a_mechanism(capsys):
    run_file()
    assert main(["view", "run.h5", "--html", "run.html"]) == 0
    assert "21 of 21 recorded nodes" in capsys.readouterr().out
    assert main(["view", "four_bar", *SHORT, "-p", "rate=3", "--html", "four.html", "--frames", "5"]) == 0
    assert "6 of 21 recorded nodes" in " ".join(capsys.readouterr().out.split())
    assert data_of(Path("run.html").read_text())["frames"]["count"] == 21
    assert data_of(Path("four.html").read_text())["frames"]["count"] == 6
    vi.load("run.h5").view("again.html")
    assert Path("again.html").read_bytes() == Path("run.html").read_bytes()


@pytest.mark.slow
def test_a_page_of_two_runs(capsys):
    run_file()
    vi.simulate(vi.mechanisms.four_bar(), 0.3, 0.01, output="second.h5")
    assert main(["view", "run.h5", "second.h5", "--html", "both.html", "--frames", "10"]) == 0
    assert "11 of 21 recorded nodes" in " ".join(capsys.readouterr().out.split())
    data = data_of(Path("both.html").read_text())
    assert data["name"] == "run.h5"
    assert [(other["name"], other["frames"]["count"]) for other in data["others"]] == [("second.h5", 11)]


def test_json_of_a_page(capsys):
    found, errors = json_of(capsys, ["view", "four_bar", *SHORT, "--html", "four.html", "--json"])
    assert not errors
    size = Path("four.html").stat().st_size
    assert found == {"output": "four.html", "bytes": size, "frames": 21, "recorded_nodes": 21}


@pytest.mark.slow
def test_json_of_a_film(capsys):
    run_file()
    argv = ["film", "run.h5", "-o", "run.gif", "--fps", "20", "--speed", "0.5", "--width", "200", "--json"]
    found, errors = json_of(capsys, argv)
    assert not errors
    assert found == {"output": "run.gif", "frames": 9, "fps": 20.0}
    with Image.open("run.gif") as picture:
        assert (picture.n_frames, picture.width) == (9, 200)


@pytest.mark.slow
def test_a_film_of_a_mechanism_without_a_display():
    pytest.importorskip("imageio_ffmpeg", reason="needs varint-dynamics[film]")
    command = [sys.executable, "-m", "varint", "film", "stewart_platform", *SHORT, "-o", "s.mp4", "--camera", "30,20"]
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    told = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    import imageio_ffmpeg

    assert imageio_ffmpeg.count_frames_and_secs("s.mp4")[0] == 6


def test_a_run_that_stops_early_has_a_page(capsys):
    argv = ["view", "free_body", "-p", "spin=1000", "--dt", "3", "--duration", "30", "--html", "p.html"]
    assert main(argv) == 3
    assert "could not be solved" in capsys.readouterr().err
    assert "could not be solved" in data_of(Path("p.html").read_text())["notes"][0]


def test_what_exists_is_kept(capsys):
    for name, argv in (
        ("p.html", ["view", "four_bar", *SHORT, "--html"]),
        ("p.gif", ["film", "four_bar", *SHORT, "-o"]),
    ):
        Path(name).write_text("mine")
        assert main([*argv, name]) == 2
        assert f"'{name}' exists: use --force to replace it" in capsys.readouterr().err
        assert Path(name).read_text() == "mine"
    assert main(["view", "four_bar", *SHORT, "--html", "p.html", "--force"]) == 0
    assert Path("p.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["view", "none.h5", "--html", "p.html"], ("none.h5", "no such file")),
        (["view", "none.h5"], ("none.h5", "no such file")),
        (["view", "four_bra", "--html", "p.html"], ("four_bra", "did you mean 'four_bar'?")),
        (["view", "other.h5", "--html", "p.html"], ("other.h5", "not a run of varint")),
        (["view", "four_bar", "--html", "p.png"], ("'p.png' must end in .html",)),
        (["view", "four_bar", "--html", "none/p.html"], ("no folder 'none'",)),
        (["view", "four_bar", "--frames", "0"], ("--frames must be",)),
        (["view", "four_bar", "--force"], ("--force", "--html")),
        (["view", "four_bar", "--live", "--html", "p.html"], ("--live", "leave out --html")),
        (["view", "four_bar", "--live", "--duration", "2"], ("--live", "leave out --duration")),
        (["view", "four_bar", "--live", "--dt", "auto"], ("number for dt",)),
        (["view", "run.h5", "four_bar"], ("'four_bar' is none",)),
        (["view", "four_bar", "run.h5", "--html", "p.html"], ("'four_bar' is none",)),
        (["view", "none.h5", "other.h5", "--html", "p.html"], ("none.h5", "no such file")),
        (["view", "four_bar", "run.h5", "--live"], ("--live", "other runs")),
        (["view", "run.h5", "--live"], ("--live", "recorded already")),
        (["view", "four_bar", "--plane", "up"], ("--plane must be one of",)),
        (["view", "four_bar", "--trace", "crnak", "--html", "p.html", *SHORT], ("'crnak'", "did you mean 'crank'?")),
        (["view", "four_bar", "--trace", "crank:1,2,a"], ("BODY:x,y,z",)),
        (["view", "four_bar", "--rtol", "1e-6"], ("--rtol belongs to --integrator",)),
        (["view", "four_bar", "--duration", "-1"], ("duration must be positive",)),
        (["view", "run.h5", "--duration", "2"], ("'run.h5' is recorded already: leave out --duration",)),
        (["view", "run.h5", "--lobatto"], ("'run.h5' is recorded already: leave out --lobatto",)),
        (["view", "run.h5", "--peer", "mujoco"], ("'run.h5' is recorded already: leave out --peer",)),
        (["view", "run.h5", "-p", "a=1"], ("'run.h5' is recorded already: leave out -p",)),
        (["film", "run.h5", "--energy-error", "1e-3", "-o", "p.gif"], ("leave out --energy-error",)),
        (["film", "four_bar", "-o", "p.avi"], ("p.avi", ".gif or .mp4 or .webm")),
        (["film", "four_bar", "-o", "p.gif", "--fps", "90"], ("fps must be at most 50",)),
        (["film", "four_bar", "-o", "p.gif", "--width", "3"], ("width must be",)),
        (["film", "four_bar", "-o", "p.gif", "--camera", "a,b"], ("--camera takes two numbers",)),
        (["film", "four_bar", "-o", "p.gif", "--camera", "30", *SHORT], ("--camera takes two numbers",)),
        (["film", "four_bar", "-o", "p.gif", "--camera", "1,2", "--plane", "xz", *SHORT], ("plane and camera",)),
        (["film", "run.h5", "-o", "run.h5"], ("run.h5", ".gif or .mp4")),
    ],
)
def test_mistakes(argv, words, capsys):
    Path("other.h5").write_text("no run")
    assert main(argv) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert all(word in line for word in words), line
    assert [path.name for path in Path().iterdir()] == ["other.h5"]


def test_a_film_asks_for_the_package_before_the_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert main(["film", "four_bar", "--duration", "1e9", "-o", "p.mp4"]) == 2
    assert 'pip install "varint-dynamics[film]"' in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted():
    """The address comes on stderr; the browser is left alone; the end is no error."""
    command = [sys.executable, "-m", "varint", "view", "four_bar", "--duration", "100000", "--no-open", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = next(line for line in process.stderr if "http://" in line)
            host, port = line.split()[0].removeprefix("http://").rstrip("/").split(":")
            connection = http.client.HTTPConnection(host, int(port), timeout=30)
            connection.request("GET", "/frames?from=0")
            assert json.loads(connection.getresponse().read())["count"] > 0
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["recorded_nodes"] > 0
