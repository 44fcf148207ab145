"""``varint ensemble``: what varies, what is written, what is reported."""

import csv

import numpy as np
import pytest
from command_line import documented, folder, json_of, report_of, shown
from in_process import here

import varint as vi
from varint.cli import main

__all__ = ["folder", "here"]  # fixtures
SHORT = ["--duration", "0.1"]
PENDULUMS = ["ensemble", "double_pendulum", *SHORT]

pytestmark = pytest.mark.usefixtures("here")


def parameters_of(capsys, argv, names):
    values, _ = json_of(capsys, [*argv, "--json"])
    return list(zip(*(values["table"][name] for name in names), strict=True))


@pytest.mark.slow
def test_what_varies(capsys, folder):
    found = parameters_of(
        capsys, [*PENDULUMS, "--vary", "angle=0.5:1.5:3", "--vary", "joint=revolute,spherical"], ("angle", "joint")
    )
    assert found == [(angle, joint) for angle in (0.5, 1.0, 1.5) for joint in ("revolute", "spherical")]
    drawn = [
        *PENDULUMS,
        "--draw",
        "angle=uniform:0:3",
        "--draw",
        "rates.joint 2=normal:0:1",
        "--members",
        "4",
        "--seed",
        "3",
    ]
    wanted = vi.random_draws(4, {"angle": ("uniform", 0, 3), "rates.joint 2": ("normal", 0, 1)}, seed=3)
    names = ("angle", "rates.joint 2")
    assert parameters_of(capsys, drawn, names) == [tuple(draw.values()) for draw in wanted]
    found = parameters_of(capsys, [*drawn, "--vary", "order=2,4", "-p", "joint=revolute"], ("order", "angle", "joint"))
    assert found == [(order, draw["angle"], "revolute") for order in (2, 4) for draw in wanted]
    (folder / "list.csv").write_text("angle, joint\n0.5,\n1.5, spherical\n")
    found = parameters_of(capsys, [*PENDULUMS, "--list", "list.csv"], ("angle", "joint"))
    assert found == [(0.5, None), (1.5, "spherical")]
    (folder / "own.py").write_text(
        "import varint as vi\n\n\ndef build(sizes):\n"
        "    print('built')\n    return vi.mechanisms.double_pendulum(angle=sum(sizes))\n"
    )
    argv = ["ensemble", "own.py", *SHORT, "--vary", "sizes=[0.1,0.2],[0.3,0.4]", "--vary", "dt=0.01,0.02"]
    assert parameters_of(capsys, argv, ("sizes", "dt", "steps")) == [
        ([0.1, 0.2], 0.01, 10),
        ([0.1, 0.2], 0.02, 5),
        ([0.3, 0.4], 0.01, 10),
        ([0.3, 0.4], 0.02, 5),
    ]


@pytest.mark.slow
def test_the_folder_and_going_on(capsys, folder):
    argv = [*PENDULUMS, "--vary", "angle=0.5,1.0", "-o", "e"]
    values, lines = json_of(capsys, [*argv, "--json"])
    assert lines == []
    assert values["output"] == "e"
    with open(folder / "e" / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for name in ("angle", "energy_error", "wall_time"):
        assert [float(row[name]) for row in rows] == values["table"][name]
    assert vi.load("e/runs/000/000001.h5").success
    values, lines = json_of(capsys, [*argv, "--json"], 2)
    assert "--resume continues it, --force replaces it" in values["error"]
    run = (folder / "e" / "runs" / "000" / "000000.h5").stat().st_mtime_ns
    assert main([*argv, "--resume", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert (folder / "e" / "runs" / "000" / "000000.h5").stat().st_mtime_ns == run
    assert main([*argv, "--force", "--quiet"]) == 0
    assert (folder / "e" / "runs" / "000" / "000000.h5").stat().st_mtime_ns != run


def test_reduced_coordinates(capsys):
    values, _ = json_of(capsys, [*PENDULUMS, "--vary", "rtol=1e-5,1e-9", "--integrator", "dop853", "--json"])
    alone = vi.redmax.simulate(vi.mechanisms.double_pendulum(), 0.1, dt=0.01, rtol=1e-9, integrator="dop853")
    assert values["table"]["energy_error"][1] == np.abs(alone.energy_balance).max()


def test_failures(capsys):
    argv = [*PENDULUMS, "--vary", "angle=0.5,far"]
    values, lines = json_of(capsys, [*argv, "--json"], 3)
    assert (values["members"], values["done"], values["stopped"], values["errors"]) == (2, 1, 0, 1)
    assert (values["error"], values["kind"]) == ("1 of 2 members failed", "EnsembleError")
    assert lines == ["varint: error: 1 of 2 members failed"]
    (failure,) = values["failures"]
    assert failure["member"] == 1
    assert failure["status"] == "error"
    assert "MechanismError" in failure["message"]
    text = shown(report_of(argv), 100)
    assert "members that failed" in text
    assert "MechanismError" in text


def test_unresolved(capsys):
    argv = ["ensemble", "double_pendulum", "--vary", "angle=0.0,3.0", "--duration", "4", "--dt", "0.1"]
    values, lines = json_of(capsys, [*argv, "--json"])
    assert values["unresolved"] == 1
    assert lines == ["varint: warning: the steps of 1 of 2 members did not resolve their motion"]
    assert "steps did not resolve the motion of" in shown(report_of(argv), 100)


def test_keys_are_those_of_the_page(capsys):
    values, _ = json_of(capsys, [*PENDULUMS, "--vary", "angle=0.5", "--json"])
    assert set(values) == set(documented("`varint ensemble --json`"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "nothing varies: give --vary, --draw or --list"),
        (["--vary", "angel=1"], "did you mean 'angle'"),
        (["--vary", "angle"], "KEY=VALUE"),
        (["--vary", "angle=1:2:0"], "the count in '1:2:0' must be a whole number from 1"),
        (["--vary", "angle=1", "-p", "angle=2"], "parameter 'angle' is given twice"),
        (["--vary", "angle=1", "--vary", "angle=2"], "parameter 'angle' is given twice"),
        (["--vary", "dt=0.1", "--dt", "0.1"], "'dt' is given for all members and as a parameter"),
        (["--draw", "angle=uniform:0:1"], "--draw needs --members"),
        (["--draw", "angle=even:0:1", "--members", "2"], "must be one of uniform, loguniform, normal"),
        (["--draw", "angle=uniform:0:x", "--members", "2"], "must be a number"),
        (["--vary", "angle=1", "--members", "2"], "apply to drawn parameters"),
        (["--vary", "angle=1", "--rtol", "1e-6"], "--rtol belongs to --integrator"),
        (["--list", "none.csv"], "cannot read 'none.csv'"),
        (["--list", "empty.csv"], "has no member"),
        (["--list", "ragged.csv"], "member 0 has 2 values, there are 1 names"),
        (["--vary", "angle=1", "--resume"], "resume needs output="),
    ],
)
def test_wrong_options(options, message, capsys, folder):
    (folder / "empty.csv").write_text("angle\n")
    (folder / "ragged.csv").write_text("angle\n1,2\n")
    values, _ = json_of(capsys, [*PENDULUMS, *options, "--json"], 2)
    assert message in values["error"]


def test_an_interrupt_tells_how_to_go_on(monkeypatch, capsys):
    def interrupted(*arguments, **options):
        options["output"].mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("varint.studies.ensembles.ensemble", interrupted)
    values, lines = json_of(capsys, [*PENDULUMS, "--vary", "angle=1", "-o", "e", "--json"], 130)
    assert values["kind"] == "KeyboardInterrupt"
    assert "varint ensemble double_pendulum --duration 0.1 --vary angle=1 -o e --json --resume" in lines[0]
