"""Ensembles: members of grids, lists and draws; their folder, their table, what fails, how they go on."""

import csv
import json
import os
import re
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from in_process import Here
from scipy import stats

import varint as vi
from varint.ensembles.figures import RESERVED
from varint.ensembles.folder import clear
from varint.ensembles.parameters import OF_RUNS, members_of
from varint.ensembles.source import source_of

ROOT = Path(__file__).parent.parent
TIMES = {"duration": 0.1, "dt": 0.01}


def pendulum(angle=1.0, fault="", folder=""):
    """A double pendulum, or what goes wrong with it."""
    if folder:
        with open(Path(folder, "built"), "a") as file:
            file.write(f"{angle!r}\n")
    if fault == "raise":
        raise KeyError("no such thing")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "kill once" and not Path(folder, "killed").exists():
        Path(folder, "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "print":
        print("printed while it is built")
    return vi.mechanisms.double_pendulum(angle=angle)


def top(trajectory):
    return {"top": trajectory.position[:, -1, 2].max()}


def quiet(*arguments, **options):
    """An ensemble with members that fail on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.FailedMembersWarning)
        return vi.ensemble(*arguments, **TIMES, **options)


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("varint.ensembles.run.Processes", Here)


def figures(ensemble):
    """The table but for the time that it took, as texts: NaN is itself."""
    return {name: list(map(repr, values)) for name, values in ensemble.table.items() if name != "wall_time"}


# -------------------------------------------------------------------------------------------------- parameters


def test_a_grid_is_the_product_with_the_last_name_fastest():
    members = members_of({"a": [1, 2], "b": np.linspace(0.0, 1.0, 3), "c": "x"})
    assert members == [{"a": a, "b": b, "c": "x"} for a in (1, 2) for b in (0.0, 0.5, 1.0)]
    assert json.loads(json.dumps(members)) == members
    assert members_of([{"a": np.array([1.0, 2.0])}]) == [{"a": [1.0, 2.0]}]


def test_draws_keep_to_their_seed_their_name_and_their_place():
    wanted = {"a": ("uniform", -1.0, 2.0), "b": ("normal", 3.0, 0.5), "c": stats.poisson(4.0)}
    draws = vi.random_draws(2000, wanted, seed=5)
    columns = {name: np.array([draw[name] for draw in draws]) for name in wanted}
    assert vi.random_draws(2000, wanted, seed=5) == draws
    assert vi.random_draws(10, {"c": wanted["c"], "a": wanted["a"]}, seed=5) == [
        {"c": draw["c"], "a": draw["a"]} for draw in draws[:10]
    ]
    assert vi.random_draws(10, {"a": wanted["a"]}, seed=6) != [{"a": draw["a"]} for draw in draws[:10]]
    assert abs(np.corrcoef(columns["a"], columns["b"])[0, 1]) < 0.1
    for name, expected in (("a", stats.uniform(-1, 3)), ("b", stats.norm(3, 0.5))):
        assert stats.kstest(columns[name], expected.cdf).pvalue > 1e-3
    assert columns["a"].min() >= -1.0
    assert all(isinstance(draw["c"], int) for draw in draws)
    assert columns["c"].mean() == pytest.approx(4.0, abs=0.2)
    logs = np.log([draw["d"] for draw in vi.random_draws(2000, {"d": ("loguniform", 0.1, 10.0)})])
    assert stats.kstest(logs, stats.uniform(np.log(0.1), np.log(100)).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": ("uniform", 2, 1)}, "must rise"),
        ({"a": ("normal", 2, 0)}, "standard deviation .* positive"),
        ({"a": ("unifrom", 2, 1)}, "did you mean 'uniform'"),
        ({"a": ("uniform", 2)}, "is \\('uniform', least, largest\\)"),
        ({"a": 3.0}, "or one of scipy.stats"),
        ({"a": stats.norm}, None),  # without parameters it is the standard normal
        ({}, "a mapping of names"),
        ({"a": stats.norm(loc=np.nan)}, "no finite numbers"),
    ],
)
def test_wrong_distributions(given, message):
    if message is None:
        assert len(vi.random_draws(3, given)) == 3
        return
    with pytest.raises(vi.ArgumentError, match=message):
        vi.random_draws(100, given)


DEEP: list = []
DEEP.append(DEEP)
WRONG = [
    ({"parameters": {"angel": [1.0]}}, "no parameter 'angel', did you mean 'angle'"),
    ({"parameters": {"coordinates.joint 3": [1.0]}}, "no joint 'joint 3', did you mean 'joint"),
    ({"parameters": {"coordinats.joint 1": [1.0]}}, "no parameter 'coordinats.joint 1'"),
    ({"parameters": {"coordinates": [{"joint 1": 1.0}]}}, "'coordinates.NAME'"),
    ({"parameters": {"rtol": [1e-6]}}, "it is of the other formulation"),
    ({"parameters": {"dt": [0.1]}}, "'dt' is given for all members and as a parameter"),
    ({"parameters": {"status": [1.0]}}, "column of every table"),
    ({"parameters": {"angle": []}}, "give one at least"),
    ({"parameters": {"angle": [np.nan]}}, "finite numbers"),
    ({"parameters": {"angle": [DEEP]}}, "which a file can hold"),
    ({"parameters": {"angle": [pendulum]}}, "which a file can hold"),
    ({"parameters": {"a": range(10_000), "b": range(10_000)}}, "more than 10000000 members"),
    ({"parameters": []}, "has no member"),
    ({"parameters": [{"angle": 1.0}, 2.0]}, "parameters of member 1 must be a mapping"),
    ({"parameters": 1.0}, "parameters must be a list"),
    ({"dt": None}, "dt is missing"),
    ({"dt": -1.0}, "dt must be positive"),
    ({"duration": 0.001}, "shorter than one step"),
    ({"order": 3}, "order must be one of"),
    ({"scheme": "ratle"}, "did you mean 'rattle'"),
    ({"tol": 0.0}, "tol must be positive"),
    ({"every": 0}, "every must be a whole number from 1"),
    ({"odrer": 2}, "no argument 'odrer' here, did you mean 'order'"),
    ({"rtol": 1e-6}, "formulation='reduced'"),
    ({"state": None}, "build may return"),
    ({"formulation": "minimal"}, "formulation must be one of"),
    ({"formulation": "reduced", "integrator": "rk"}, "integrator must be one of"),
    ({"build": "double_pendulm"}, "did you mean 'double_pendulum'"),
    ({"build": vi.mechanisms.double_pendulum()}, "a function that returns a Mechanism"),
    ({"measure": 3}, "measure must be a function"),
    ({"progress": 3}, "progress must be a function"),
    ({"workers": 0}, "workers must be a whole number from 1"),
    ({"scheduler": "localhost:8786"}, "an address as 'tcp://host:8786', got 'localhost:8786'"),
    ({"workers": 2, "scheduler": "tcp://x:1"}, "leave out workers or scheduler"),
    ({"resume": True}, "resume needs output="),
    ({"output": "x", "resume": True, "overwrite": True}, "give one of them"),
    ({"on_unresolved": "tell"}, "on_unresolved must be one of"),
    ({"measure": lambda trajectory, file=sys.__stderr__: {file: 1}}, "cannot be sent to other processes"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_is_wrong_is_told_before_the_first_member(wrong, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = {"build": "double_pendulum", "parameters": {"angle": [1.0]}} | TIMES | wrong
    with pytest.raises(vi.ArgumentError, match=message):
        vi.ensemble(**arguments)
    assert not list(tmp_path.iterdir())


def test_a_name_of_build_and_of_the_run():
    with pytest.raises(vi.ArgumentError, match="'order' is one of build and an argument of the run"):
        vi.ensemble(lambda order: pendulum(), {"order": [1]}, **TIMES)


# --------------------------------------------------------------------------------------------------------- runs


def test_members_are_what_single_runs_are(tmp_path, monkeypatch):
    """Parameters of build, of the start and of the run; by processes, in files and in memory."""
    grid = {"angle": [0.5, 1.5], "rates.joint 2": [0.0, 2.0], "order": [2, 4]}
    kept = vi.ensemble(pendulum, grid, **TIMES, output=tmp_path / "e", measure=top, workers=1)
    monkeypatch.setattr("varint.ensembles.run.Processes", Here)
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


def test_reduced_coordinates(tmp_path, here):
    grid = {"angle": [0.5], "rtol": [1e-6, 1e-9]}
    found = vi.ensemble(pendulum, grid, 0.1, formulation="reduced", output=tmp_path / "e")
    assert not found.failures
    for member in found:
        alone = vi.redmax.simulate(pendulum(0.5), 0.1, rtol=member.parameters["rtol"])
        assert member.trajectory.q.tobytes() == alone.q.tobytes()


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
    assert "test_ensemble.py" in found[1].message
    assert "its process was ended by signal 9, twice" in found[3].message
    good = [member for member in found if member.status == "done"]
    assert len({member.figures["energy_error"] for member in good}) == 1
    assert [done for done, _, _ in told] == list(range(1, 9))
    assert told[-1] == (8, 8, 3)
    assert "printed while it is built" in capfd.readouterr().err
    assert np.isnan(found.table["drift"][1])


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


# ------------------------------------------------------------------------------------------------ folder, table


def test_the_folder(tmp_path, here):
    folder = tmp_path / "e"
    quiet(pendulum, {"angle": [0.5, 1.0]}, output=folder, order=4)
    data = json.loads((folder / "ensemble.json").read_text())
    assert data["members"] == [{"angle": 0.5}, {"angle": 1.0}]
    assert data["build"].endswith("pendulum")
    assert (data["duration"], data["dt"], data["order"], data["formulation"]) == (0.1, 0.01, 4, "maximal")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"ensemble.json", "results.csv", "runs/000/000000.h5", "runs/000/000001.h5"}
    with pytest.raises(vi.FileError, match="holds an ensemble: resume=True goes on with it"):
        quiet(pendulum, {"angle": [0.5, 1.0]}, output=folder)
    for other, what in (
        ({"build": "double_pendulum"}, "its build"),
        ({"order": 2}, "its order"),
        ({"measure": top}, "its measure"),
        ({"parameters": {"angle": [0.5, 1.1]}}, "its member 1"),
        ({"parameters": {"angle": [0.5]}}, "an ensemble of 2 members, not 1"),
    ):
        arguments = {"build": pendulum, "parameters": {"angle": [0.5, 1.0]}, "order": 4} | other
        with pytest.raises(vi.FileError, match=what):
            quiet(arguments.pop("build"), arguments.pop("parameters"), output=folder, resume=True, **arguments)
    more = quiet(pendulum, {"angle": [0.5, 1.0, 1.5]}, output=folder, order=4, resume=True)
    assert len(more) == 3
    fewer = quiet(pendulum, {"angle": [2.0]}, output=folder, overwrite=True)
    assert len(fewer) == len(vi.load_ensemble(folder)) == 1
    assert not (folder / "runs/000/000001.h5").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("all of it")
    for options in ({}, {"overwrite": True}, {"resume": True}):
        with pytest.raises(vi.FileError, match="holds other files"):
            quiet(pendulum, {"angle": [0.5]}, output=tmp_path / "other", **options)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "all of it"
    with pytest.raises(vi.FileError, match="no folder"):
        quiet(pendulum, {"angle": [0.5]}, output=tmp_path / "a" / "b")


def test_going_on_runs_what_is_missing_alone(tmp_path, here):
    """What has ended is not run again, whether or not the table has it; a line that is cut short does not count."""
    folder, grid = tmp_path / "e", {"angle": [0.4, 0.8, 1.2, 1.6, 2.0], "folder": str(tmp_path)}
    whole = vi.ensemble(pendulum, grid, **TIMES, output=folder, measure=top)
    runs = [member.path for member in whole]
    lines = (folder / "results.csv").read_bytes().splitlines(keepends=True)
    (folder / "results.csv").write_bytes(b"".join([lines[0], lines[3], lines[1], lines[4][:20]]))
    runs[4].unlink()  # 0 and 2 are in the table, 1 and 3 have ended without it, 4 was never run
    before = (tmp_path / "built").read_text()
    kept = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in runs[:4]}
    again = vi.ensemble(pendulum, grid, **TIMES, output=folder, measure=top, resume=True)
    assert figures(again) == figures(whole)
    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in runs[:4]} == kept
    assert (tmp_path / "built").read_text() == f"{before}2.0\n"  # what has ended is read, and not built
    with open(folder / "results.csv", newline="") as file:
        assert [int(row["member"]) for row in csv.DictReader(file)] == list(range(5))


def test_an_interrupted_run_goes_on(tmp_path, here):
    """A member whose file is unfinished ends to the bits of one that was not stopped."""
    whole = vi.ensemble(pendulum, {"angle": [1.0]}, 2.0, 1e-3, output=tmp_path / "whole")
    folder = tmp_path / "e"
    run = folder / "runs" / "000" / "000000.h5"
    run.parent.mkdir(parents=True)

    def stop(done, total):
        if done > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vi.simulate(pendulum(1.0), 2.0, 1e-3, output=run, progress=stop)
    described = json.loads((tmp_path / "whole" / "ensemble.json").read_text())
    (folder / "ensemble.json").write_text(json.dumps(described))
    (folder / "results.csv").write_text("")
    before = vi.load(run)
    assert 10 < before.steps < 2000
    again = vi.ensemble(pendulum, {"angle": [1.0]}, 2.0, 1e-3, output=folder, resume=True)
    assert again[0].trajectory.position.tobytes() == whole[0].trajectory.position.tobytes()
    assert figures(again) == figures(whole)


def test_a_long_run_is_in_a_file_from_its_start(tmp_path, monkeypatch):
    """A short one is in memory until it has ended; one that turns out long begins once more."""
    from varint.ensembles import work

    task = work.Task(source_of(pendulum), "maximal", {"duration": 2.0, "dt": 1e-3}, tmp_path, None, False)
    short = work.run_member(task, pendulum, 0, {"angle": 1.0})
    monkeypatch.setattr(work, "PATIENCE", 0.0)
    long = work.run_member(task, pendulum, 1, {"angle": 1.0})
    monkeypatch.setattr(work, "HELD", 0)
    large = work.run_member(task, pendulum, 2, {"angle": 1.0})
    for row in (short, long, large):
        row.pop("wall_time")
    assert short == long == large
    one, *others = (vi.load(work.run_path(tmp_path, number)).position.tobytes() for number in range(3))
    assert others == [one, one]


def test_a_damaged_folder_is_told(tmp_path, here):
    folder = tmp_path / "e"
    quiet(pendulum, {"angle": [0.5]}, output=folder)
    for name, text, message in (
        ("results.csv", "member,x\n", "no table of this ensemble"),
        ("results.csv", (folder / "results.csv").read_text().replace("done,0.1", "done,zero"), "damaged at the line"),
        ("ensemble.json", "{", "cannot read"),
        ("ensemble.json", "[]", "describes no ensemble"),
        ("ensemble.json", '{"format": "varint ensemble 1"}', "no list of members"),
    ):
        before = (folder / name).read_text()
        (folder / name).write_text(text)
        with pytest.raises(vi.FileError, match=message):
            vi.load_ensemble(folder)
        (folder / name).write_text(before)
    clear(folder)
    with pytest.raises(vi.FileError, match="cannot read"):
        vi.load_ensemble(folder)


def test_the_table(tmp_path, here):
    members = [{"angle": 1.0, "fault": 'a "quoted", name\nin two lines'}, {"angle": 0.1 + 0.2, "dt": 0.02}]
    with pytest.raises(vi.ArgumentError, match="dt is missing: give it for all members, or as a parameter of member 0"):
        vi.ensemble(pendulum, members, 0.1)
    members[0]["dt"] = 0.01
    found = vi.ensemble(pendulum, members, 0.1, measure=top, output=tmp_path / "e")
    assert list(found.table)[:5] == ["member", "angle", "fault", "dt", "status"]
    assert list(found.table)[-2:] == ["top", "message"]
    found.save(tmp_path / "copy.csv")
    assert (tmp_path / "copy.csv").read_bytes() == (tmp_path / "e" / "results.csv").read_bytes()
    with open(tmp_path / "copy.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[1]["angle"]) == 0.1 + 0.2
    assert rows[0]["fault"] == members[0]["fault"]
    assert figures(vi.load_ensemble(tmp_path / "e")) == figures(found)
    frame = found.to_dataframe()
    assert frame.loc[1, "angle"] == 0.1 + 0.2
    assert frame["steps"].tolist() == [10, 5]
    with pytest.raises(vi.ArgumentError, match=r"must end in \.csv or \.parquet"):
        found.save(tmp_path / "copy.txt")
    assert repr(found) == f"Ensemble: 2 members, no failures, in '{tmp_path / 'e'}'"
    assert repr(found[1]) == "Member: 1, angle=0.3, dt=0.02, done"
    assert found._repr_html_().count("<tr>") == 3
    assert found[-1].number == 1
    with pytest.raises(IndexError, match="there is no member 2"):
        found[2]
    with pytest.raises(vi.ArgumentError, match="a whole number"):
        found["a"]


def test_parquet(tmp_path, here):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    found = vi.ensemble(pendulum, {"angle": [0.5, 1.0]}, **TIMES, measure=top)
    found.save(tmp_path / "t.parquet")
    read = pandas.read_parquet(tmp_path / "t.parquet")
    assert read["top"].tolist() == found.table["top"].tolist()
    assert read["status"].tolist() == ["done", "done"]
    assert read.index.tolist() == [0, 1]


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
    of_runs = page.split("* the **run**")[1].split("* **build**")[0]
    assert {name for names in OF_RUNS.values() for name in names} | set(TIMES) <= set(re.findall(r"`(\w+)`", of_runs))
