"""The face of the command: JSON, quiet, options, and what exists is kept."""

import contextlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import (
    COMPARE,
    PRINTING,
    RUN,
    SHORT,
    UNSOLVABLE,
    documented,
    folder,
    json_of,
    keys_told,
    no_constant,
    report_of,
)

import varint as vi
from varint.cli import main
from varint.cli.facts import Data, Fact, Facts, Report, json_line

__all__ = ["folder"]  # a fixture of every test here


# ------------------------------------------------------------------------------------------------------- JSON


@pytest.mark.slow
def test_json_of_a_run_says_what_the_run_was(capsys):
    found, errors = json_of(capsys, [*RUN, "--order", "4", "-o", "run.h5", "--json"])
    run = vi.load("run.h5")
    assert not errors
    assert found["mechanism"] == "four-bar"
    assert (found["bodies"], found["joints"]) == (3, 4)
    assert (found["scheme"], found["order"], found["dt"], found["integrator"]) == ("suzuki", 4, 0.01, None)
    assert (found["steps"], found["newton_iterations"]) == (run.steps, run.newton_iterations)
    assert (found["success"], found["status"], found["message"]) == (True, 0, run.message)
    assert (found["output"], found["picture"]) == ("run.h5", "run.png")
    assert found["simulated"] == pytest.approx(0.2)
    assert found["wall_time"] == run.wall_time
    figures = found["quantities"]
    assert figures["energy"]["largest_change"] == np.abs(run.energy - run.energy[0]).max()
    assert figures["energy"]["unit"] == "J"
    assert figures["drift"]["largest"] == run.drift.max()
    assert main(["info", "run.h5"]) == 0
    table = capsys.readouterr().out
    assert f"{figures['energy']['largest_change']:.3g} J" in table
    assert f"{figures['drift']['largest']:.3g} m" in table
    assert figures["kinetic"] == {
        "unit": "J",
        "first": run.kinetic[0],
        "last": run.kinetic[-1],
        "least": run.kinetic.min(),
        "largest": run.kinetic.max(),
        "largest_change": np.abs(run.kinetic - run.kinetic[0]).max(),
    }
    assert found["unresolved"] is None

    of_file, _ = json_of(capsys, ["info", "run.h5", "--json"])
    assert {key: of_file[key] for key in ("quantities", "steps", "method", "status")} == {
        key: found[key] for key in ("quantities", "steps", "method", "status")
    }
    assert (of_file["recorded_nodes"], of_file["every"], of_file["asked_steps"]) == (21, 1, 20)


def test_json_of_vectors_and_reduced_runs(capsys):
    found, _ = json_of(capsys, ["run", "snake", "-p", "n=3", *SHORT, "--integrator", "dop853", "--json"])
    assert found["formulation"] == "reduced"
    assert found["integrator"] == "dop853"
    assert found["evaluations"] > 0
    run = vi.redmax.simulate(vi.mechanisms.snake(n=3), 0.2, 0.01)
    momentum = run.angular_momentum
    figures = found["quantities"]["angular_momentum"]
    assert figures["first"] == pytest.approx(np.linalg.norm(momentum[0]))
    assert figures["largest_change"] == np.linalg.norm(momentum - momentum[0], axis=1).max()


@pytest.mark.slow
def test_json_of_a_run_that_was_not_resolved(capsys):
    argv = ["run", "n_pendulum", "-p", "n=10", "-p", f"angle={np.pi / 2}", "--duration", "8", "--order", "4", "--json"]
    found, errors = json_of(capsys, argv)
    assert set(found["unresolved"]) == {"message", "time", "body"}
    assert errors == [f"varint: warning: {found['unresolved']['message']}"]
    assert "did not resolve its motion" in errors[0]
    assert main(argv[:-1]) == 0
    out, err = capsys.readouterr()
    assert "did not resolve its motion" in " ".join(out.split())
    assert not err


@pytest.mark.slow
def test_json_of_mechanisms(monkeypatch, capsys):
    found, errors = json_of(capsys, ["info", "governor", "-p", "rate=2", "--json"])
    mechanism = vi.mechanisms.governor(rate=2)
    assert not errors
    assert [body["name"] for body in found["bodies"]] == [body.name for body in mechanism.bodies]
    assert found["bodies"][1]["mass"] == mechanism.bodies[1].mass
    assert found["bodies"][2]["x"] == mechanism.state().position[2, 0]
    assert found["joints"][1] == {
        "name": "slide",
        "type": "Prismatic",
        "body_a": "shaft",
        "body_b": "slider",
        "rows": 5,
        "coordinates": 1,
        "cut": False,
    }
    spring = {"name": "right spring", "type": "Spring", "acts_on": ["right arm", "slider"], "input": ""}
    assert found["forces"][0] == spring
    assert found["energy"] == pytest.approx(vi.simulate(mechanism, 0.01, 0.01).energy[0])
    assert (found["mobility"], found["redundancy"], found["loops"]) == (4, 0, [])
    assert found["parameters"][0]["name"] == "stiffness"

    vi.save_mechanism(vi.mechanisms.rhombus_chain(m=12), "many.json")
    found, _ = json_of(capsys, ["info", "many.json", "--json"])
    assert len(found["bodies"]) == 48  # all of them, and no parameters
    assert len(found["redundant_rows"]) == 12
    assert found["parameters"] == []
    monkeypatch.setattr("varint.cli.info_command.LARGEST_LOOPS", 2)
    found, _ = json_of(capsys, ["info", "many.json", "--json"])
    assert (found["mobility"], found["redundant_rows"]) == (None, None)


def test_info_has_the_inputs_of_motors_and_drives(capsys):
    four_bar = vi.mechanisms.four_bar()
    forces = [
        vi.PrescribedMotion("drive", joint="crank pivot", rate=2.5),
        vi.VelocityMotor("motor", joint="rocker pivot", speed=-3.0, max_effort=1.0),
        vi.Motor("series", joint="rocker pivot", effort=np.zeros(9)),
        vi.JointStop("stop", joint="rocker pivot", upper=3.0),
    ]
    vi.save_mechanism(replace(four_bar, forces=forces), "driven.json")
    report, _ = json_of(capsys, ["info", "driven.json", "--json"])
    assert [force["input"] for force in report["forces"]] == ["rate 2.5 rad/s", "speed -3", "effort array (9,)", ""]


def test_json_of_the_catalogue(capsys):
    found, _ = json_of(capsys, ["info", "--json"])
    assert [each["name"] for each in found["mechanisms"]] == [*vi.mechanisms.NAMES, *vi.mechanisms.SCENES]
    four_bar = next(each for each in found["mechanisms"] if each["name"] == "four_bar")
    assert four_bar["what"] in vi.mechanisms.module("four_bar").__doc__
    angle = next(each for each in four_bar["parameters"] if each["name"] == "angle")
    assert (angle["default"], angle["unit"]) == (np.pi / 3, "rad")


@pytest.mark.slow
def test_json_of_comparisons_and_pictures(capsys):
    found, _ = json_of(capsys, [*COMPARE, "-o", "numbers.json", "--json"])
    saved = json.loads(Path("numbers.json").read_text())
    assert found == saved | {"output": ["numbers.json"]}
    assert main([*RUN, "-o", "run.h5", "--quiet"]) == 0
    assert json_of(capsys, ["plot", "run.h5", "-o", "p.png", "--json"])[0] == {"output": ["p.png"]}


ARM = str(Path(__file__).parent.parent / "examples" / "robots" / "arm.urdf")
REPORTS = {
    "`varint run --json`": [RUN, ["run", "cart_pole", *SHORT, "--integrator", "radau"], ["info", "run.h5"]],
    "`varint info NAME_OR_FILE --json`": [["info", "delta_robot"], ["info", "m.json"], ["info", ARM]],
}


@pytest.mark.slow
@pytest.mark.parametrize("title", REPORTS)
def test_every_key_is_documented_with_its_unit_and_told_in_the_table(title):
    vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01, output="run.h5")
    vi.save_mechanism(vi.mechanisms.four_bar(), "m.json")
    units = documented(title)
    assert set().union(*(keys_told(report_of(argv), units) for argv in REPORTS[title])) == set(units)


def test_json_is_strict():
    values = {
        "nan": np.nan,
        "many": np.array([1.0, np.inf]),
        "whole": np.int64(3),
        "yes": np.bool_(True),
        "p": Path("a"),
    }
    text = json_line(Report([Facts([Fact("x", "x", -np.inf, "m")]), Data(values)]).data())
    found = json.loads(text, parse_constant=no_constant)
    assert found == {"x": None, "nan": None, "many": [1.0, None], "whole": 3, "yes": True, "p": "a"}


ERRORS = {
    "argument": (["run", "double_pendulum", "--dt", "-1"], 2, "ArgumentError"),
    "mechanism": (["info", "double_pendulm"], 2, "ArgumentError"),
    "file": (["info", "none.h5"], 2, "FileError"),
    "usage": (["run", "double_pendulum", "--ordr", "2"], 2, "UsageError"),
    "user": (["run", "zero.py"], 2, "ZeroDivisionError"),
    "not converged": (UNSOLVABLE, 3, "ConvergenceError"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_objects_too(name, capsys):
    Path("zero.py").write_text(PRINTING.format(effort="1 / 0"))
    argv, code, kind = ERRORS[name]
    found, lines = json_of(capsys, [*argv, "--json"], code)
    assert found["kind"] == kind
    assert lines[-1] == f"varint: error: {found['error']}"
    if name == "not converged":
        assert (found["status"], found["success"], found["steps"]) == (1, False, 0)
    else:
        assert set(found) == {"error", "kind"}
    with contextlib.suppress(SystemExit):
        assert main(argv) == code
    assert capsys.readouterr().err.splitlines()[-1] == lines[-1]


@pytest.mark.slow
def test_interrupts_are_objects_too(monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("varint.runs.method.solve", stop)
    found, lines = json_of(capsys, [*RUN, "--json"], 130)
    assert found == {"error": "interrupted", "kind": "KeyboardInterrupt"}
    assert lines == ["varint: interrupted"]


# --------------------------------------------------------------------------------------------- quiet, progress


@pytest.mark.slow
@pytest.mark.parametrize("argv", [RUN, COMPARE, ["plot", "run.h5"], ["run", "m.py", *SHORT]])
def test_quiet_prints_nothing(argv, monkeypatch, capsys):
    vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01, output="run.h5")
    Path("m.py").write_text(PRINTING.format(effort="0.0"))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main([*argv, "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert not out
    printed = "printed while it is read\nprinted while it is built\n" if "m.py" in argv else ""
    assert [line for line in err.splitlines() if "compiling" not in line] == printed.splitlines()
    assert json_of(capsys, [*argv, "--quiet", "--json"])[0]


def test_quiet_does_not_hide_errors(capsys):
    assert main([*UNSOLVABLE, "--quiet"]) == 3
    out, err = capsys.readouterr()
    assert not out
    assert "varint: error: the step at t = 0 s could not be solved" in err


# ------------------------------------------------------------------------------------------- usage, suggestions


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["rnu", "tree"], "no command 'rnu', did you mean 'run'?"),
        (["run"], "NAME_OR_FILE"),
        (["run", "tree", "--duration", "1h"], "--duration: '1h' is not a number"),
        (["run", "tree", "--every", "1.5"], "--every: '1.5' is not a whole number"),
        (["run", "tree", "--order", "two"], "--order: 'two' is not a whole number"),
        (["run", "tree", "--resume", "--force"], "--force"),
        (["--traceback", "plto"], "no command 'plto', did you mean 'plot'?"),
        (["run", "tree", "--durration", "5"], "unknown argument '--durration', did you mean '--duration'?"),
        (["run", "tree", "--durration=5"], "unknown argument '--durration', did you mean '--duration'?"),
        (["run", "tree", "--resum"], "unknown argument '--resum', did you mean '--resume'?"),
        (["compare", "tree", "--integrator", "rk45"], "'--integrator', did you mean '--integrators'?"),
        (["info", "tree", "more"], "unknown argument 'more'"),
        (["compare", "tree", "--method", "own.py"], "'--method': --integrators takes names of integrators and files"),
        (["info", "--quiet"], "unknown argument '--quiet'"),
        (["compare", "tree", "--order", "2,4,2"], "argument --order: '2' is named twice"),
        (["compare", "tree", "--integrators", "rk45, rk45"], "argument --integrators: 'rk45' is named twice"),
        (["compare", "tree", "--dt", "0.01,x"], "argument --dt: 'x' is not a number"),
        (["run", "tree", "--dt", "0,01"], "argument --dt: must be a number or auto, got '0,01' (options: varint run -"),
        (["run", "tree", "--scheme", "suzki"], "--scheme: invalid choice: 'suzki'"),
        (
            ["run", "tree", "--every", "x", "--durration", "5", "--dt", "y", "--resum"],
            "argument --every: 'x' is not a whole number; argument --dt: must be a number or auto, got 'y'; unknown"
            " argument '--durration', did you mean '--duration'?; unknown argument '--resum', did you mean '--resume'?",
        ),
        (["run", "--every", "x"], "argument --every: 'x' is not a whole number; the following arguments are required"),
    ],
)
def test_wrong_usage_is_one_line_that_names_it(argv, words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("varint: error: ")
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--order", "5"], "order must be one of 1, 2, 4, 6, 8, got 5"),
        (["--lobatto", "--order", "5"], "order of varint.Lobatto must be one of 4, 6, 8, 10, got 5"),
        (["--integrator", "gauss", "--order", "5"], "--order belongs to"),
    ],
)
def test_orders_are_those_of_the_method(options, words, capsys):
    assert main(["run", "double_pendulum", *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--traceback", "info", "none.h5"], ["info", "none.h5", "--traceback"]])
def test_traceback_before_and_after_the_command(argv, capsys):
    """It shows where; the exit code stays."""
    assert main(argv) == 2
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "FileError" in told
    assert main([word for word in argv if word != "--traceback"]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", "run", "info", "plot", "compare"])
def test_help_is_plain_text(command, monkeypatch, capsys):
    for columns in ("40", "120"):
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main([*command.split(), "--help"])
        out = capsys.readouterr().out
        assert out.startswith("usage: varint")
        assert "`" not in out


@pytest.mark.slow
def test_module_is_the_command():
    argv = [sys.executable, "-m", "varint", "inf"]
    wrong = subprocess.run(argv, capture_output=True, text=True, timeout=300)
    assert wrong.returncode == 2
    assert wrong.stderr.endswith("(options: varint --help)\n")
    assert "'inf', did you mean 'info'?" in wrong.stderr


# ------------------------------------------------------------------------- options without effect, what is kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["info", "-p", "n=3"], "none is named: leave out -p"),
        (["info", "run.h5", "-p", "n=3"], "'run.h5' is a run: leave out -p"),
        (["info", "m.json", "-p", "n=3"], "'m.json' has no parameters"),
        (["run", "n_pendulum", "-p", "n=3", "-p", "n=4"], "parameter 'n' is given twice"),
        (["compare", "n_pendulum", "-p", "n=3", "-p", "n=4"], "parameter 'n' is given twice"),
        (["run", "tree", "--force"], "--force replaces existing files: add -o, --plot or --csv"),
        (["run", "tree", "--resume"], "--resume needs -o"),
        (["run", "tree", "--resume", "--plot", "p.png"], "--resume needs -o"),
        (["run", "tree", "--integrator", "bdf2", "--rtol", "1e-3"], "'bdf2' has fixed steps"),
        (["run", "tree", "--rtol", "1e-3"], "--rtol belongs to --integrator"),
        (["run", "tree", "--integrator", "rk45", "--tol", "1e-3"], "--tol belongs to the schemes"),
        (["run", "tree", "--integrator", "rk45", "--order", "2"], "--order belongs to the schemes"),
        (["run", "tree", "--scheme", "rattle", "--order", "2"], "leave out --order"),
    ],
)
def test_options_without_effect_are_refused(argv, words, capsys):
    vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01, output="run.h5")
    vi.save_mechanism(vi.mechanisms.double_pendulum(), "m.json")
    assert main(argv) == 2
    assert words in capsys.readouterr().err


def never(*_, **__):
    raise AssertionError("a run was started")


PICTURES = {"next to the output": ["-o", "run.h5"], "by its name": ["--plot", "run.png"]}


@pytest.mark.slow
@pytest.mark.parametrize("where", PICTURES)
def test_pictures_that_exist_are_kept_unless_forced(where, capsys):
    Path("run.png").write_text("of somebody else")
    argv = [*RUN, *PICTURES[where]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("varint.runs.method.solve", never)
        assert main(argv) == 2
    assert "the picture 'run.png' exists: use --force to replace it, or --plot for another" in capsys.readouterr().err
    assert Path("run.png").read_text() == "of somebody else"
    assert not Path("run.h5").exists()
    assert main([*argv, "--force"]) == 0
    assert Path("run.png").read_bytes().startswith(b"\x89PNG")


def test_table_of_a_run(capsys):
    Path("run.csv").write_text("of somebody else")
    argv = [*RUN, "--csv", "run.csv", "--json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("varint.runs.method.solve", never)
        assert json_of(capsys, argv, 2)[0]["error"].startswith("the table 'run.csv' exists: use --force to replace it")
    assert Path("run.csv").read_text() == "of somebody else"
    found, _ = json_of(capsys, [*argv, "--force"])
    assert found["csv"] == "run.csv"
    vi.simulate(vi.mechanisms.four_bar(), 0.2, 0.01).to_csv("same.csv")
    assert Path("run.csv").read_bytes() == Path("same.csv").read_bytes()
    assert main([*UNSOLVABLE, "--csv", "stopped.csv"]) == 3
    assert len(Path("stopped.csv").read_text().splitlines()) == 2  # up to where it could go
    assert "table stopped.csv" in " ".join(capsys.readouterr().out.split())


def test_columns_of_a_table():
    assert main([*RUN, "--csv", "run.csv", "--columns", "coordinates, reactions,kinetic"]) == 0
    vi.simulate(vi.mechanisms.four_bar(), 0.2, 0.01).to_csv("same.csv", "coordinates", "reactions", "kinetic")
    assert Path("run.csv").read_bytes() == Path("same.csv").read_bytes()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--columns", "energy"], "--columns selects columns of the table: add --csv FILE.csv"),
        (
            ["--csv", "a.csv", "--columns", "energy,reaction"],
            "'reaction', did you mean 'reactions'? There are position,",
        ),
        (["--csv", "a.csv", "--columns", "torque"], "'torque', did you mean 'force' (efforts of forces, N or N m)"),
        (["--csv", "a.csv", "--columns", ""], "--columns: unknown column group ''"),
    ],
)
def test_columns_are_checked_before_the_run(argv, words, capsys, monkeypatch):
    monkeypatch.setattr("varint.runs.method.solve", never)
    assert main([*RUN, *argv]) == 2
    assert words in capsys.readouterr().err
    assert not Path("a.csv").exists()


@pytest.mark.slow
def test_a_resumed_run_draws_its_picture_anew():
    assert main([*RUN, "-o", "run.h5"]) == 0
    before = Path("run.png").read_bytes()
    assert main(["run", "four_bar", "--duration", "0.4", "-o", "run.h5", "--resume"]) == 0
    assert Path("run.png").read_bytes() != before


OUTPUTS = {
    "table of another format": (["run", "tree", "--csv", "a.txt"], "a.txt", "must end in .csv"),
    "table in no folder": (["run", "tree", "--csv", "none/a.csv"], "none/a.csv", "no folder 'none'"),
    "folder in place of a picture": (["run", "tree", "--plot", "a.png"], "a.png", "Is a directory"),
    "file in place of a folder": (["run", "tree", "--plot", "file/p.png"], "file/p.png", "no folder 'file'"),
    "comparison in a folder that is a file": (["compare", "tree", "-o", "file"], "file", "must be a folder"),
    "comparison below a file": (["compare", "tree", "-o", "file/page"], "file/page", "no folder 'file'"),
    "comparison in no folder": (["compare", "tree", "-o", "none/page"], "none/page", "no folder 'none'"),
    "folder in place of its page": (["compare", "tree", "-o", "page"], "comparison.md", "Is a directory"),
    "comparison where nobody can write": (["compare", "tree", "-o", "/proc/page.md"], "/proc/page.md", "cannot write"),
    "folder where nobody can write": (["compare", "tree", "-o", "/proc/page"], "/proc/page", "cannot write"),
    "picture where nobody can write": (["run", "tree", "--plot", "/proc/p.png"], "/proc/p.png", "cannot write"),
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="has no folder that nobody can write into")
def test_paths_are_tried_before_the_run(name, folder, monkeypatch, capsys):
    Path("file").write_text("text")
    Path("a.png").mkdir()
    Path("page/comparison.md").mkdir(parents=True)
    monkeypatch.setattr("varint.runs.method.solve", never)
    monkeypatch.setattr(vi, "compare", never, raising=False)
    before = sorted(folder.rglob("*"))
    argv, *words = OUTPUTS[name]
    assert main(argv) == 2
    err = capsys.readouterr().err
    assert all(word in err for word in words), err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
def test_a_mechanism_file_imports_its_neighbours_from_any_folder(capsys):
    Path("parts").mkdir()
    Path("parts/lengths_of_the_arm.py").write_text("LENGTH = 0.7\n")
    script = "import varint as vi\nfrom lengths_of_the_arm import LENGTH\n\ndef build():\n"
    Path("parts/arm.py").write_text(f"{script}    return vi.mechanisms.cart_pole(length=LENGTH)\n")
    assert main(["run", "parts/arm.py", *SHORT, "-o", "run.h5"]) == 0
    assert vi.load("run.h5").mechanism.bodies[1].mass == pytest.approx(0.7)
