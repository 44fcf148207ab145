"""The command ``varint``: what it writes, what it prints, what it says to mistakes; and its pictures."""

import contextlib
import json
import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.views.curves import envelope, running_mean
from varint.views.plots import plot_run

NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity")
SHORT = ["--duration", "0.5", "--dt", "0.01"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_file():
    vi.simulate(vi.mechanisms.double_pendulum(), 0.5, 0.01, output="run.h5")
    return Path("run.h5")


def same_bits(one, other):
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in NODES)


def complaint(capsys, argv, code=2):
    """The one line on stderr with which ``argv`` ends."""
    assert main(argv) == code
    lines = capsys.readouterr().err.strip().splitlines()
    lines = [line for line in lines if "varint: compiling " not in line]
    assert len(lines) == 1
    assert lines[0].startswith("varint: error: ")
    return lines[0]


def is_picture(path):
    data = Path(path).read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    return data.startswith(b"\x89PNG") and width >= 700 and height >= 400


# run


@pytest.mark.slow
def test_run_writes_run_and_picture_and_sums_up(capsys):
    assert (
        main(["run", "n_pendulum", "-p", "n=4", "-p", "joint=spherical", *SHORT, "--order", "4", "-o", "run.h5"]) == 0
    )
    out = capsys.readouterr().out
    run = vi.load("run.h5")
    assert same_bits(run, vi.simulate(vi.mechanisms.n_pendulum(n=4, joint="spherical"), 0.5, 0.01, order=4))
    assert is_picture("run.png")
    for words in ("4-link pendulum", "4, 4", "6 n - rows", "0.5 s", str(run.newton_iterations), "run.h5", "run.png"):
        assert words in out
    assert f"{np.abs(run.energy - run.energy[0]).max():.3g} J" in out
    assert f"{run.drift.max():.3g} m" in out
    assert "momentum" not in out  # the world takes it up


def test_run_without_output_leaves_nothing(folder, capsys):
    assert main(["run", "snake", *SHORT]) == 0
    out = capsys.readouterr().out
    assert "linear momentum change" in out
    assert "angular momentum change" in out
    assert not list(folder.iterdir())


@pytest.mark.slow
def test_run_options_reach_the_simulation():
    options = ["--tol", "1e-8", "--every", "5", "--order", "1", "--plot", "p.png"]
    assert main(["run", "double_pendulum", *SHORT, *options, "-o", "r.h5"]) == 0
    assert same_bits(
        vi.load("r.h5"), vi.simulate(vi.mechanisms.double_pendulum(), 0.5, 0.01, tol=1e-8, every=5, order=1)
    )
    assert is_picture("p.png")
    assert not Path("r.png").exists()


@pytest.mark.slow
def test_run_by_collocation(capsys):
    assert main(["run", "double_pendulum", *SHORT, "--lobatto", "--order", "6", "-o", "r.h5"]) == 0
    assert "Lobatto order 6, collocation" in capsys.readouterr().out
    there = vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.5), vi.Lobatto(0.01, order=6))
    assert same_bits(vi.load("r.h5"), there)
    assert "--tol belongs to" in complaint(capsys, ["run", "double_pendulum", *SHORT, "--lobatto", "--tol", "1e-8"])


@pytest.mark.slow
def test_run_of_mechanism_files():
    vi.save_mechanism(vi.mechanisms.four_bar(), "m.json")
    Path("m.py").write_text("import varint as vi\n\ndef build():\n    return vi.mechanisms.four_bar()\n")
    for name in ("four_bar", "m.json", "m.py"):
        assert main(["run", name, *SHORT, "-o", f"{name}.h5"]) == 0
    assert same_bits(vi.load("four_bar.h5"), vi.load("m.json.h5"))
    assert same_bits(vi.load("four_bar.h5"), vi.load("m.py.h5"))


@pytest.mark.slow
def test_run_keeps_what_exists_unless_forced(run_file, capsys):
    before = run_file.read_bytes()
    line = complaint(capsys, ["run", "four_bar", *SHORT, "-o", "run.h5"])
    assert "'run.h5' exists" in line
    assert "--force" in line
    assert run_file.read_bytes() == before
    assert main(["run", "four_bar", *SHORT, "-o", "run.h5", "--force"]) == 0
    assert vi.load("run.h5").mechanism.name == "four-bar"


@pytest.mark.slow
def test_interrupted_run_says_how_to_go_on(monkeypatch, capsys):
    def stop(done, steps):
        if done > 100:
            raise KeyboardInterrupt

    argv = ["run", "double_pendulum", "--duration", "20", "-p", "angle=0.5", "-o", "a run.h5", "--force"]
    with monkeypatch.context() as patch:
        patch.setattr("varint.cli.run_command.show_progress", lambda duration, quiet: contextlib.nullcontext(stop))
        assert main(argv) == 130
    err = capsys.readouterr().err
    assert "interrupted" in err
    left = vi.load("a run.h5")
    assert 100 < left.steps < 2000

    command = shlex.split(err[err.index("varint run") :])
    assert main(command[1:]) == 0
    assert same_bits(vi.load("a run.h5"), vi.simulate(vi.mechanisms.double_pendulum(angle=0.5), 20.0, 0.01))


@pytest.mark.slow
def test_run_that_cannot_be_solved_leaves_what_it_reached(capsys):
    argv = ["run", "free_body", "-p", "spin=1000", "--dt", "3", "--duration", "30", "-o", "run.h5"]
    assert main(argv) == 3
    out, err = capsys.readouterr()
    assert err.startswith("varint: error: the step at t = 0 s could not be solved")
    assert "free body" in out
    assert is_picture("run.png")
    assert vi.load("run.h5").status == 1


def test_progress_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["run", "double_pendulum", "--duration", "50"]) == 0
    out, err = capsys.readouterr()
    assert "100%" in err
    assert "50.0 of 50.0 s" in err
    assert "%" not in out


# compare


@pytest.mark.slow
def test_compare_prints_and_writes_page_numbers_and_figure(capsys):
    argv = ["compare", "four_bar", "-p", "rate=3", "--duration", "0.1", "--dt", "0.01,0.005", "--order", "2,4"]
    assert main([*argv, "-o", "page"]) == 0
    out = capsys.readouterr().out
    numbers = json.loads(Path("page/comparison.json").read_text())
    assert [series["name"] for series in numbers["series"]] == [
        "VI order 2",
        "VI order 4",
        "REDMAX dop853",
        "REDMAX dop853 b=0",
    ]
    for words in ("four-bar", "Baumgarte", "rtol = 1e-12", "fit", "drift", "wall time", "numpy"):
        assert words in out
    assert f"{numbers['series'][0]['order']['position']:.2f}" in out
    assert {f"page/comparison.{kind}" for kind in ("md", "json", "png", "pdf")} <= set(out.split())
    assert is_picture("page/comparison.png")


@pytest.mark.slow
def test_compare_options_reach_the_comparison():
    argv = [
        "compare",
        "double_pendulum",
        "--duration",
        "0.1",
        "--dt",
        "0.02",
        "--integrators",
        "euler",
        "--rtol",
        "1e-9",
    ]
    assert main([*argv, "-o", "numbers.json"]) == 0
    numbers = json.loads(Path("numbers.json").read_text())
    assert numbers["settings"] | {"dt": [0.02], "integrators": ["euler"], "rtol": 1e-9} == numbers["settings"]
    assert [path.name for path in Path().iterdir()] == ["numbers.json"]


@pytest.mark.slow
def test_compare_of_the_catalogue_has_a_line_each(capsys, monkeypatch):
    """A mechanism that cannot be compared has one as well, which says why."""
    monkeypatch.setattr(vi.mechanisms, "ALL", ("double_pendulum", "redmax_27"))
    assert main(["compare", "--all", "-o", "lines.json"]) == 0
    assert "1 of 2 mechanisms compared" in " ".join(capsys.readouterr().out.split())
    compared, refused = json.loads(Path("lines.json").read_text())["lines"]
    assert compared["name"] == "double_pendulum"
    assert compared["order"] == pytest.approx(2.0, abs=0.02)
    assert 1e-7 < compared["position"] < 1e-5
    assert compared["reference"] < 1e-10
    assert not compared["note"]
    assert refused["position"] is None
    assert "'friction 1'" in refused["note"]
    assert main(["compare", "--all", "--json", "-o", "page.md"]) == 0
    assert json.loads(capsys.readouterr().out)["lines"][1] == refused
    assert "redmax_27: jointcoulombfriction" in Path("page.md").read_text()


# mistakes


MISTAKES = {
    "unknown name": (["run", "double_pendulm"], ("'double_pendulm'", "did you mean 'double_pendulum'?")),
    "no name like it": (["info", "x"], ("'x'", "varint info")),
    "unknown parameter": (["run", "n_pendulum", "-p", "m=3"], ("n_pendulum", "'m'", "n, joint, angle")),
    "parameter of a wrong kind": (
        ["run", "n_pendulum", "-p", "n=three"],
        ("n of n_pendulum must be a whole number", "'three'"),
    ),
    "parameter out of range": (["run", "n_pendulum", "-p", "joint=rope"], ("'rope'",)),
    "parameter without a value": (["run", "n_pendulum", "-p", "n"], ("KEY=VALUE", "'n'")),
    "parameter of a file": (["run", "m.json", "-p", "n=3"], ("m.json",)),
    "negative dt": (["run", "double_pendulum", "--dt", "-0.01"], ("dt", "-0.01")),
    "dt that is no number": (["run", "double_pendulum", "--dt", "nan"], ("dt",)),
    "duration shorter than dt": (["run", "double_pendulum", "--dt", "1", "--duration", "0.5"], ("shorter",)),
    "no steps to record": (["run", "double_pendulum", "--every", "0"], ("every",)),
    "tolerance of zero": (["run", "double_pendulum", "--tol", "0"], ("tol",)),
    "mechanism file that is not there": (["info", "none.json"], ("none.json", "No such file")),
    "mechanism in another format": (["run", "text.txt"], ("text.txt", ".json")),
    "run as a mechanism": (["run", "run.h5"], ("run.h5", "is not a mechanism")),
    "JSON with a syntax error": (["info", "broken.json"], ("broken.json", "line 3")),
    "Python with an error": (["run", "broken.py"], ("broken.py", "line 2", "NameError")),
    "run file that is not there": (["plot", "none.h5"], ("none.h5", "no such file")),
    "truncated run": (["plot", "short.h5"], ("short.h5", "damaged")),
    "truncated run, described": (["info", "short.h5"], ("short.h5", "damaged")),
    "text as a run": (["plot", "text.txt"], ("text.txt", "not a run of varint")),
    "text as a run, resumed": (
        ["run", "double_pendulum", "-o", "text.h5", "--resume"],
        ("text.h5", "not a run of varint"),
    ),
    "output in no folder": (["run", "double_pendulum", "-o", "none/run.h5"], ("none", "cannot write")),
    "picture in no folder": (["run", "double_pendulum", "--plot", "none/p.png"], ("none", "cannot write")),
    "picture of another format": (["run", "double_pendulum", "--plot", "p.svg"], ("p.svg", ".png")),
    "picture over its run": (["plot", "run.h5", "-o", "run.h5"], ("run.h5", ".png")),
    "resume without output": (["run", "double_pendulum", "--resume"], ("--resume", "-o")),
    "resume of nothing": (["run", "double_pendulum", "-o", "none.h5", "--resume"], ("none.h5", "no run")),
    "nothing to compare": (["compare"], ("a mechanism, or --all",)),
    "a mechanism and all": (["compare", "tree", "--all"], ("a mechanism, or --all",)),
    "a step for all": (["compare", "--all", "--dt", "0.01"], ("--all takes one --order",)),
    "all in a picture": (["compare", "--all", "-o", "page.png"], ("page.png", ".md or .json")),
    "unknown name, compared": (["compare", "for_bar"], ("'for_bar'", "did you mean 'four_bar'?")),
    "steps that do not fall": (["compare", "tree", "--dt", "0.01,0.02"], ("fall", "0.01, 0.02")),
    "step that does not divide": (["compare", "tree", "--dt", "0.03"], ("0.03", "does not divide the duration, 1 s")),
    "comparison of no time": (["compare", "tree", "--duration", "0"], ("duration", "positive")),
    "unknown integrator": (["compare", "tree", "--integrators", "verlet"], ("'verlet'", "dop853")),
    "an order for reduced coordinates": (
        ["run", "tree", "--integrator", "bdf2", "--order", "4"],
        ("--order", "--integrator"),
    ),
    "a tolerance of schemes for reduced coordinates": (
        ["run", "tree", "--integrator", "bdf2", "--tol", "1e-3"],
        ("--tol", "--integrator"),
    ),
    "a tolerance of integrators for a scheme": (["run", "tree", "--rtol", "1e-3"], ("--rtol", "--integrator")),
    "a scheme and an order": (["run", "tree", "--scheme", "suzuki", "--order", "2"], ("--scheme", "--order")),
    "unknown order": (["compare", "tree", "--order", "3"], ("order", "1, 2, 4, 6")),
    "comparison in a text file": (["compare", "tree", "-o", "page.txt"], ("page.txt", ".md")),
    "comparison in no folder": (["compare", "tree", "-o", "none/page.md"], ("none", "cannot write")),
    "resume of another run": (["run", "four_bar", "-o", "run.h5", "--resume"], ("run.h5", "another run")),
}


HARD = """import varint as vi


def build():
    rod = vi.Body.rod("rod", (0, 0, 0), (0, 0, -1), mass=1.0)
    hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    stop = vi.JointStop("stop", joint="hinge", upper=0.5)
    return vi.Mechanism("pendulum with a stop", [rod], [hinge], forces=[stop])
"""


@pytest.mark.many
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_one_line(name, folder, run_file, capsys):
    Path("text.txt").write_text("not a run, not a mechanism\n")
    Path("text.h5").write_text("not a run, not a mechanism\n")
    Path("broken.json").write_text('{\n "name": "x",\n "bodies": oops\n}\n')
    Path("broken.py").write_text("import varint\nbuild = no_such_name\n")
    Path("short.h5").write_bytes(run_file.read_bytes()[:-3000])
    vi.save_mechanism(vi.mechanisms.double_pendulum(), "m.json")
    Path("hard.py").write_text(HARD)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    argv, words = MISTAKES[name]
    line = complaint(capsys, argv)
    assert all(word in line for word in words), line
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


FAILING = """import varint as vi


def effort(t, state):
    return 1.0 / (t < 0.045)


def build():
    if {broken}:
        raise LookupError("no such part")
    return vi.mechanisms.cart_pole(effort=effort)
"""


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (True, ("LookupError: no such part; raised by 'm.py', line 10, in build()",)),
        (False, ("ZeroDivisionError: float division by zero; raised by effort of motor 'motor' at t = 0.05 s",)),
    ],
)
def test_errors_of_the_users_functions_get_one_line_and_a_traceback_when_asked_for(broken, words, capsys):
    Path("m.py").write_text(FAILING.format(broken=broken))
    line = complaint(capsys, ["run", "m.py", *SHORT])
    assert all(word in line for word in words), line
    assert main(["run", "m.py", *SHORT, "--traceback"]) == 2
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert '"m.py", line' in told.replace(str(Path.cwd()) + "/", "").replace("'", '"')


def test_errors_of_the_package_itself_are_not_hidden(monkeypatch):
    def broken(*_, **__):
        raise KeyError("a mistake of the package")

    monkeypatch.setattr("varint.runs.method.solve", broken)
    with pytest.raises(KeyError):
        main(["run", "double_pendulum", *SHORT])


# info, plot, the rest


def test_without_arguments_the_help_is_printed(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: varint")
    assert all(f"\n    {command} " in out for command in ("run", "info", "plot"))


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("150", 150), ("", 120), ("x", 120), ("0", 120)])
def test_output_into_a_pipe_is_as_wide_as_columns_says(columns, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["info", "four_bar"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) == width


@pytest.mark.slow
def test_scenes_of_redmax_are_one_line_of_the_catalogue(capsys):
    main(["info"])
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "redmax" in line)
    assert line.split()[:3] == ["redmax_00", "to", "35"]


def test_info_lists_the_catalogue(capsys):
    assert main(["info"]) == 0
    out = " ".join(capsys.readouterr().out.split())  # lines of the table are broken
    for name in vi.mechanisms.NAMES:
        assert name in out
        assert vi.mechanisms.module(name).__doc__.splitlines()[0] in out


@pytest.mark.many
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_info_of_a_mechanism(name, capsys):
    assert main(["info", name]) == 0
    out = capsys.readouterr().out
    mechanism = getattr(vi.mechanisms, name)()
    for item in (*mechanism.bodies, *mechanism.joints):
        assert item.name in out
    facts = " ".join(out.split())
    assert f"6 n - rows {6 * len(mechanism.bodies) - mechanism.rows}" in facts
    assert f"energy at the start {vi.simulate(mechanism, 0.01, 0.01).energy[0]:.6g} J" in facts
    assert len(re.findall(r"loops, group \d+ \d+ loops? from", facts)) == len(mechanism.compiled.topology.clusters)


@pytest.mark.slow
def test_info_of_a_run(run_file, capsys):
    assert main(["info", "run.h5"]) == 0
    facts = " ".join(capsys.readouterr().out.split())
    for words in ("2-link pendulum", "steps, sub-steps 50, 0", "recorded nodes 51, every 1", "the run reached its end"):
        assert words in facts


@pytest.mark.slow
def test_plot_of_a_run(run_file, capsys):
    assert main(["plot", "run.h5"]) == 0
    assert main(["plot", "run.h5", "-o", "other.png"]) == 0
    assert capsys.readouterr().out.split() == ["run.png", "other.png"]
    assert is_picture("run.png")
    assert Path("run.png").read_bytes() == Path("other.png").read_bytes()


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["run", "--help"], ["info", "--help"], ["plot", "--help"], ["compare", "--help"], ["--version"]],
)
def test_help_and_version(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("varint 0." if argv == ["--version"] else "usage: varint")


@pytest.mark.slow
def test_command_in_a_process_of_its_own():
    code = "import sys; from varint.cli import main; sys.exit(main())"

    def varint(*argv):
        return subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, timeout=300)

    done = varint("run", "double_pendulum", *SHORT, "-o", "run.h5")
    assert done.returncode == 0
    assert "2-link pendulum" in done.stdout
    assert "%" not in done.stderr  # no bar where nobody looks
    again = varint("run", "double_pendulum", *SHORT, "-o", "run.h5")
    assert again.returncode == 2
    assert again.stderr.startswith("varint: error: 'run.h5' exists")
    assert not again.stdout


# pictures


def test_envelope_holds_every_node(rng):
    t = np.arange(100_000) * 0.01
    values = rng.standard_normal(t.size)
    times, lowest, highest = envelope(t, values)
    assert len(times) < 2000
    assert lowest.min() == values.min()
    assert highest.max() == values.max()
    bins = np.abs(t[:, None] - times[None, ::50]) <= 0.4 * (times[1] - times[0])
    for number, inside in enumerate(bins.T):
        assert lowest[50 * number] <= values[inside].min()
        assert highest[50 * number] >= values[inside].max()


def test_running_mean_takes_out_what_swings_and_keeps_the_trend():
    t = np.arange(360_001) * 0.01
    times, mean = running_mean(t, 3e-7 * t + np.sin(2 * np.pi * t), 360.0)
    np.testing.assert_allclose(mean, 3e-7 * times, atol=1e-5)
    assert times[0] == pytest.approx(180, abs=0.01)
    assert times[-1] == pytest.approx(3420, abs=0.01)


@pytest.mark.slow
def test_picture_of_a_long_run_of_a_strange_name():
    pendulum = vi.mechanisms.double_pendulum()
    mechanism = vi.Mechanism("50 $ of links_{ \\frac", pendulum.bodies, pendulum.joints)
    trajectory = vi.simulate(mechanism, 200.0, 0.01)
    plot_run(trajectory, "p.png", order=2)
    assert is_picture("p.png")
    with pytest.raises(vi.FileError, match="cannot write"):
        plot_run(trajectory, "none/p.png")
