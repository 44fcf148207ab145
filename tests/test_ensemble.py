"""Ensembles: their members are single runs; what fails; their page."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from ensemble_members import TIMES, figures, pendulum, quiet, top
from in_process import Here, here

import varint as vi
from varint.studies.ensembles.figures import RESERVED
from varint.studies.ensembles.member_parameters import members_of, of_runs

__all__ = ["here"]  # a fixture
ROOT = Path(__file__).parent.parent


# --------------------------------------------------------------------------------------------------------- runs


@pytest.mark.slow
def test_members_are_what_single_runs_are(tmp_path, monkeypatch):
    """Parameters of build, of the start and of the run; by processes, in files and in memory."""
    grid = {"angle": [0.5, 1.5], "rates.joint 2": [0.0, 2.0], "order": [2, 4]}
    kept = vi.ensemble(pendulum, grid, **TIMES, output=tmp_path / "e", measure=top, workers=1)
    monkeypatch.setattr("varint.studies.ensembles.ensemble_run.Processes", Here)
    held = vi.ensemble(pendulum, grid, **TIMES, measure=top)
    assert figures(kept) == figures(held)
    assert len(kept) == 8
    assert not kept.failures
    for member, given in zip(kept, members_of(grid), strict=True):
        assert member.parameters == given
        mechanism = pendulum(given["angle"])
        state = mechanism.state(rates={"joint 2": given["rates.joint 2"]})
        alone = vi.simulate(mechanism, 0.1, 0.01, state=state, order=given["order"])
        assert member.trajectory.position.tobytes() == alone.position.tobytes()
        assert member.trajectory.wall_time == member.figures["wall_time"]
        assert member.figures["energy_error"] == np.abs(alone.energy_balance).max()
        assert member.figures["drift"] == alone.drift.max()
        assert member.figures["top"] == alone.position[:, -1, 2].max()
        assert member.figures["steps"] == 10
        longer = vi.simulate(mechanism, 0.2, 0.01, state=state, order=given["order"], output=member.path, resume=True)
        assert longer.success
    with pytest.raises(vi.ArgumentError, match="were not kept"):
        held[0].trajectory  # noqa: B018
    again = vi.load_ensemble(tmp_path / "e")
    assert figures(again) == figures(kept)
    assert again.table["wall_time"].tolist() == kept.table["wall_time"].tolist()


def test_the_start_takes_the_place_of_that_of_the_mechanism_by_its_names(here):
    mechanism = vi.mechanisms.spinning_top()
    assert mechanism.start
    (key, given), *_ = mechanism.start.items()
    name, value = next(iter(given.items()))
    changed = (2.0 * np.asarray(value)).tolist()
    start = {k: dict(v) for k, v in mechanism.start.items()}
    start[key][name] = changed
    found = vi.ensemble(
        "spinning_top", [{f"{key}.{name}": changed}], 0.01, 0.001, measure=lambda t: {"w": t.kinetic[0]}
    )
    alone = vi.simulate(mechanism, 0.01, 0.001, state=mechanism.state(**start))
    assert found[0].figures["w"] == alone.kinetic[0]


def test_members_leave_their_method_as_it_is(here):
    """A thousand members in one process would otherwise be a thousand calls deep."""
    before = vi.Variational.__init__
    vi.ensemble("double_pendulum", {"angle": [0.1, 0.2]}, 0.01, 0.01)
    assert vi.Variational.__init__ is before


def test_build_may_return_the_start(here):
    def build(speed):
        mechanism = vi.mechanisms.double_pendulum()
        return mechanism, mechanism.state(rates={"joint 1": speed})

    found = quiet(build, [{"speed": 3.0}, {"speed": 3.0, "rates.joint 2": 1.0}], measure=lambda t: {"e": t.kinetic[0]})
    mechanism = vi.mechanisms.double_pendulum()
    state = mechanism.state(rates={"joint 1": 3.0})
    assert found[0].figures["e"] == vi.simulate(mechanism, 0.1, 0.01, state=state).kinetic[0]
    assert [member.number for member in found.failures] == [1]
    assert "build returns a State" in found[1].message


@pytest.mark.slow
def test_reduced_coordinates(tmp_path, here):
    grid = {"angle": [0.5], "rtol": [1e-6, 1e-9]}
    found = vi.ensemble(pendulum, grid, 0.1, formulation="reduced", output=tmp_path / "e")
    assert not found.failures
    for member in found:
        alone = vi.redmax.simulate(pendulum(0.5), 0.1, rtol=member.parameters["rtol"])
        assert member.trajectory.q.tobytes() == alone.q.tobytes()


@pytest.mark.slow
def test_steps_that_follow_the_motion_and_diagnostics(tmp_path, here):
    options = {"every": 10, "diagnostics_every": 2}
    found = vi.ensemble(
        pendulum, {"angle": [0.5, 1.5], "adaptive": [False, True]}, 0.5, 0.01, output=tmp_path / "e", **options
    )
    for member in found:
        angle, adaptive = member.parameters.values()
        alone = vi.simulate(pendulum(angle), 0.5, 0.01, adaptive=adaptive, **options)
        assert member.trajectory.t.tobytes() == alone.t.tobytes()
        assert member.figures["energy_error"] == np.abs(alone.diagnostics.energy_balance).max()
    assert found[0].figures["steps"] < found[3].figures["steps"]


@pytest.mark.slow
def test_a_script_and_a_mechanism_file(tmp_path, here):
    (tmp_path / "sizes.py").write_text("ANGLE = 0.25\n")
    (tmp_path / "own.py").write_text(
        "import sizes\nimport varint as vi\n\n\ndef build(times=1):\n"
        "    return vi.mechanisms.double_pendulum(angle=times * sizes.ANGLE)\n"
    )
    found = vi.ensemble(tmp_path / "own.py", {"times": [1, 4]}, **TIMES, output=tmp_path / "e")
    for member in found:
        alone = vi.simulate(pendulum(0.25 * member.parameters["times"]), 0.1, 0.01)
        assert member.trajectory.position.tobytes() == alone.position.tobytes()
    with pytest.raises(vi.ArgumentError, match="no parameter 'tims', did you mean 'times'"):
        vi.ensemble(tmp_path / "own.py", {"tims": [1]}, **TIMES)
    vi.save_mechanism(pendulum(), tmp_path / "own.json")
    found = vi.ensemble(tmp_path / "own.json", {"dt": [0.01, 0.02]}, 0.1)
    assert found.table["steps"].tolist() == [10, 5]
    with pytest.raises(vi.ArgumentError, match="build takes none"):
        vi.ensemble(tmp_path / "own.json", {"times": [1]}, **TIMES)


# ------------------------------------------------------------------------------------------------------ failures


@pytest.mark.slow
def test_what_fails_harms_no_other(tmp_path, capfd):
    faults = ["", "raise", "print", "kill", "", "raise", "kill once", ""]
    members = [{"angle": 1.0, "fault": fault, "folder": str(tmp_path)} for fault in faults]
    told = []
    with pytest.warns(vi.FailedMembersWarning, match="3 of 8 members failed, the first is member 1: KeyError"):
        found = vi.ensemble(pendulum, members, **TIMES, workers=2, progress=lambda *counts: told.append(counts))
    assert [member.number for member in found.failures] == [1, 3, 5]
    assert found[1].status == "error"
    assert "KeyError: 'no such thing'; raised by build, at line" in found[1].message
    assert "ensemble_members.py" in found[1].message
    assert "its process was ended by signal 9, twice" in found[3].message
    good = [member for member in found if member.status == "done"]
    assert len({member.figures["energy_error"] for member in good}) == 1
    assert [done for done, _, _ in told] == list(range(1, 9))
    assert told[-1] == (8, 8, 3)
    assert "printed while it is built" in capfd.readouterr().err
    assert np.isnan(found.table["drift"][1])


@pytest.mark.slow
def test_a_step_that_cannot_be_solved(tmp_path, here):
    """Such a member is recorded as far as it came, and is not tried again."""
    with pytest.warns(vi.FailedMembersWarning, match="1 of 2 members failed.* could not be solved"):
        found = vi.ensemble(
            "free_body", {"spin": [1.0, 1000.0]}, 30.0, 3.0, output=tmp_path / "e", on_unresolved="ignore"
        )
    assert [member.status for member in found] == ["done", "stopped"]
    assert not found[1].trajectory.success
    assert found[1].figures["t_end"] == found[1].trajectory.t[-1]
    inode = found[1].path.stat().st_ino
    with pytest.warns(vi.FailedMembersWarning):
        again = vi.ensemble(
            "free_body", {"spin": [1.0, 1000.0]}, 30.0, 3.0, output=tmp_path / "e", on_unresolved="ignore", resume=True
        )
    assert again[1].path.stat().st_ino == inode


def test_motions_that_are_not_resolved(here):
    """One warning for all; an error where that is asked for."""
    grid = {"angle": [0.0, 3.0]}
    with pytest.warns(vi.UnresolvedWarning, match="the steps of 1 of 2 members"):
        found = vi.ensemble("double_pendulum", grid, 4.0, 0.1)
    assert np.isnan(found.table["unresolved"][0])
    alone = vi.simulate(vi.mechanisms.double_pendulum(angle=3.0), 4.0, 0.1, on_unresolved="ignore")
    assert found.table["unresolved"][1] == alone.unresolved[0]
    with pytest.warns(vi.FailedMembersWarning, match="member 1: the steps of .* did not resolve"):
        found = vi.ensemble("double_pendulum", grid, 4.0, 0.1, on_unresolved="raise")
    assert [member.status for member in found] == ["done", "stopped"]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda trajectory: 3.0, "a mapping of names to numbers"),
        (lambda trajectory: {"a": "x"}, "'a' of measure must be a number"),
        (lambda trajectory: {"drift": 1.0}, "another column"),
        (lambda trajectory: {"angle": 1.0}, "another column"),
        (lambda trajectory: 1 / 0, "ZeroDivisionError: division by zero; raised by measure"),
    ],
)
def test_wrong_measures(measure, message, here):
    found = quiet(pendulum, {"angle": [1.0]}, measure=measure, workers=1)
    assert found[0].status == "error"
    assert message in found[0].message


@pytest.mark.slow
def test_a_build_that_no_worker_can_load(monkeypatch):
    class Gone:
        def __reduce__(self):
            return (__import__, ("no_such_module_anywhere",))

        def __call__(self):
            return pendulum()

    with pytest.raises(vi.ArgumentError, match=r"cannot be used in a worker process.*no_such_module_anywhere"):
        vi.ensemble(Gone(), {"dt": [0.01]}, 0.1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(vi.ArgumentError, match="a worker process could not start, it ended with exit code 1"):
        vi.ensemble(pendulum, {"dt": [0.01]}, 0.1)


# --------------------------------------------------------------------------------------------------------- page


@pytest.mark.slow
def test_the_page(tmp_path, monkeypatch, here):
    """Its examples run; its columns and its arguments of the run are those that there are."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "ensembles.md").read_text()
    example, draws, cluster = re.findall(r"```python\n(.*?)```", page, re.S)
    names = {}
    exec(example, names)
    result = names["result"]
    assert (len(result), result.failures) == (12, [])
    assert names["worst"].trajectory.success
    exec(draws, names)
    assert len(names["draws"]) == 1000
    compile(cluster, "cluster", "exec")
    table = page.split("## The table")[1].split("\n## ")[0]
    documented = [name for line in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", line)]
    assert [name for name in documented if name != "measure"] == list(RESERVED)
    listed = set(re.findall(r"`(\w+)`", page.split("* the **run**")[1].split("* **build**")[0]))
    assert {*TIMES, *of_runs("maximal"), *of_runs("reduced")} <= listed
