"""A method from outside the package, in one file of at most 40 lines, through every entrance."""

import json
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.cli.method import registered_by
from varint.runs.method import REGISTERED, method_class

FILE = Path(__file__).parent.parent / "examples" / "methods" / "explicit_euler.py"
NAME = "explicit-euler"
DT = 0.01


@pytest.fixture
def rival():
    """The class that the file registers."""
    assert registered_by(FILE) == NAME
    yield method_class(NAME)
    del REGISTERED[NAME]


def by_hand(mechanism, steps):
    """Positions (steps + 1, nb, 3) by explicit Euler."""
    equations = vi.EquationsOfMotion(mechanism)
    q, qdot = equations.coordinates(mechanism.state())
    positions = [mechanism.state().position]
    for _ in range(steps):
        q, qdot = q + DT * qdot, qdot + DT * equations.acceleration(0.0, q, qdot)
        positions.append(equations.state(q, qdot).position)
    return np.array(positions)


def test_the_file_is_short():
    assert len(FILE.read_text().splitlines()) <= 40


def test_it_simulates(rival):
    mechanism = vi.mechanisms.double_pendulum()
    run = vi.simulate(vi.Problem(mechanism, 0.2), rival(dt=DT), vi.Recording(every=2))
    np.testing.assert_allclose(run.position, by_hand(mechanism, 20)[::2], atol=1e-12)
    assert run.settings["formulation"] == NAME
    assert run.success


def test_its_file_holds_the_run_to_the_bit(rival, tmp_path):
    mechanism = vi.mechanisms.double_pendulum()
    chosen = {"every": 4, "diagnostics_every": 2}
    held = vi.simulate(vi.Problem(mechanism, 0.21), rival(dt=DT), vi.Recording(**chosen))
    written = vi.simulate(vi.Problem(mechanism, 0.21), rival(dt=DT), vi.Recording(**chosen, output=tmp_path / "run.h5"))
    assert held.t.tolist() == pytest.approx([0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.21])
    for run in (written, vi.load(tmp_path / "run.h5")):
        assert np.array_equal(run.position, held.position)
        assert np.array_equal(run.diagnostics.energy, held.diagnostics.energy)
    with pytest.raises(vi.ArgumentError, match="cannot resume: its steps may depend on data outside a State"):
        vi.simulate(vi.Problem(mechanism, 0.3), rival(dt=DT), vi.Recording(output=tmp_path / "run.h5", resume=True))


def test_files_of_it_can_be_read_without_it(rival, tmp_path):
    vi.simulate(
        vi.Problem(vi.mechanisms.double_pendulum(), 0.1), rival(dt=DT), vi.Recording(output=tmp_path / "run.h5")
    )
    kept = REGISTERED.pop(NAME)
    try:
        assert len(vi.load(tmp_path / "run.h5")) == 11
    finally:
        REGISTERED[NAME] = kept


@pytest.mark.slow
def test_it_is_compared_and_called_by_its_name(rival):
    steps = {"duration": 0.1, "dt": [0.01, 0.005]}
    compared = vi.compare(vi.mechanisms.double_pendulum(), integrators=["dop853", NAME], **steps)
    assert compared.own[0].name == NAME
    assert compared.own[0].order.position == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
def test_it_runs_in_ensembles(rival):
    angles = [0.2, 0.4]
    table = vi.ensemble("double_pendulum", {"angle": angles}, 0.1, DT, formulation=NAME, workers=1).table
    assert list(table["status"]) == ["done", "done"]
    runs = [vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(angle=angle), 0.1), rival(dt=DT)) for angle in angles]
    assert list(table["drift"]) == pytest.approx([run.drift.max() for run in runs], abs=1e-14)


@pytest.mark.slow
def test_the_command_takes_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    short = ["--duration", "0.1", "--dt", "0.01"]
    try:
        assert main(["run", "double_pendulum", "--method", str(FILE), *short, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["formulation"] == NAME
        assert main(["ensemble", "double_pendulum", "--vary", "angle=0.1,0.2", "--method", str(FILE), *short]) == 0
        assert "done" in capsys.readouterr().out
        assert main(["compare", "double_pendulum", "--integrators", f"dop853,{FILE}", *short]) == 0
        assert NAME in capsys.readouterr().out
    finally:
        REGISTERED.pop(NAME, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "must register one method"),
        ("import varint\nvarint.nothing\n", "line 2"),
    ],
)
def test_a_file_without_a_method_is_refused(text, words, tmp_path, capsys):
    (tmp_path / "method.py").write_text(text)
    assert main(["run", "double_pendulum", "--method", str(tmp_path / "method.py")]) == 2
    assert words in capsys.readouterr().err


def test_what_it_does_not_have_is_refused(rival, capsys):
    try:
        assert main(["run", "double_pendulum", "--method", str(FILE), "--order", "4"]) == 2
        assert "--order belongs to the schemes in maximal coordinates" in capsys.readouterr().err
    finally:
        REGISTERED[NAME] = rival
    problem = vi.Problem(vi.mechanisms.double_pendulum(), 0.1, force={"link 1": (1, 0, 0)})
    with pytest.raises(vi.ArgumentError, match="takes no loads on bodies"):
        vi.simulate(problem, rival(dt=DT))
    with pytest.raises(vi.ArgumentError, match="records its nodes only"):
        vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.1), rival(dt=DT), vi.Recording(output_times=[0.05]))
