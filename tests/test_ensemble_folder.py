"""The folder of an ensemble and its table: what they hold, how an ensemble goes on, what is damaged."""

import csv
import json

import pytest
from ensemble_members import TIMES, figures, pendulum, quiet, top
from in_process import here

import varint as vi
from varint.runs.method import solve
from varint.studies.ensembles.folder import clear
from varint.studies.ensembles.source import source_of

__all__ = ["here"]  # a fixture


def test_the_folder(tmp_path, here):
    folder = tmp_path / "e"
    quiet(pendulum, {"angle": [0.5, 1.0]}, output=folder, order=4)
    data = json.loads((folder / "ensemble.json").read_text())
    assert data["members"] == [{"angle": 0.5}, {"angle": 1.0}]
    assert data["build"].endswith("pendulum")
    assert (data["duration"], data["dt"], data["order"], data["formulation"]) == (0.1, 0.01, 4, "maximal")
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"ensemble.json", "results.csv", "runs/000/000000.h5", "runs/000/000001.h5"}
    with pytest.raises(vi.FileError, match="holds an ensemble: resume=True continues it"):
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path, here):
    """A member whose file is unfinished ends to the bits of one that was not stopped."""
    whole = vi.ensemble(pendulum, {"angle": [1.0]}, 2.0, 1e-3, output=tmp_path / "whole")
    folder = tmp_path / "e"
    run = folder / "runs" / "000" / "000000.h5"
    run.parent.mkdir(parents=True)

    def stop(done, total):
        if done > 10:
            raise KeyboardInterrupt

    path = tmp_path / "whole" / "runs" / "000" / "000000.h5"
    member = {"member": vi.load(path).settings["member"]}
    recording = vi.Recording(output=run, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        solve(vi.Problem(pendulum(1.0), 2.0), vi.Variational(dt=1e-3), recording, member)
    described = json.loads((tmp_path / "whole" / "ensemble.json").read_text())
    (folder / "ensemble.json").write_text(json.dumps(described))
    (folder / "results.csv").write_text("")
    before = vi.load(run)
    assert 10 < before.steps < 2000
    again = vi.ensemble(pendulum, {"angle": [1.0]}, 2.0, 1e-3, output=folder, resume=True)
    assert not again.remarks
    assert again[0].trajectory.position.tobytes() == whole[0].trajectory.position.tobytes()
    assert figures(again) == figures(whole)


@pytest.mark.slow
def test_a_long_run_is_in_a_file_from_its_start(tmp_path, monkeypatch):
    """A short one is in memory until it has ended; one that turns out long begins once more."""
    from varint.studies.ensembles import work

    task = work.MemberTask(source_of(pendulum), vi.Variational, {"duration": 2.0, "dt": 1e-3}, tmp_path, None, False)
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
        ("results.csv", "member,x\n", "not a table of this ensemble"),
        (
            "results.csv",
            (folder / "results.csv").read_text().replace("done,0.1", "done,zero"),
            "damaged at the line 2, '0",
        ),
        ("ensemble.json", "{", "cannot read"),
        ("ensemble.json", "[]", "does not describe an ensemble"),
        ("ensemble.json", '{"format": "varint ensemble 1"}', "no list of members"),
        ("ensemble.json", '{"common": ' + "[" * 400 + "]" * 400 + "}", "nested too deep"),
    ):
        before = (folder / name).read_text()
        (folder / name).write_text(text)
        with pytest.raises(vi.FileError, match=message):
            vi.load_ensemble(folder)
        (folder / name).write_text(before)
    clear(folder)
    with pytest.raises(vi.FileError, match="cannot read"):
        vi.load_ensemble(folder)


@pytest.mark.slow
def test_the_table(tmp_path, here):
    members = [{"angle": 1.0, "fault": 'a "quoted", name\nin two lines'}, {"angle": 0.1 + 0.2, "dt": 0.02}]
    with pytest.raises(vi.ArgumentError, match="dt is missing: give it for all members, or as a parameter of member 0"):
        vi.ensemble(pendulum, members, 0.1)
    members[0]["dt"] = 0.01
    found = vi.ensemble(pendulum, members, 0.1, measure=top, output=tmp_path / "e")
    assert list(found.table)[:5] == ["member", "angle", "fault", "dt", "status"]
    assert list(found.table)[-2:] == ["top", "message"]
    found.save(tmp_path / "copy.csv")
    with open(tmp_path / "copy.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(tmp_path / "e" / "results.csv", newline="") as file:
        marked = list(csv.DictReader(file))
    assert list(marked[0])[-2:] == ["member_fingerprint", "row_digest"]
    assert rows == [{name: value for name, value in row.items() if name in rows[0]} for row in marked]
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


@pytest.mark.slow
def test_parquet(tmp_path, here):
    pandas = pytest.importorskip("pandas", reason="needs varint-dynamics[parquet]")
    pytest.importorskip("pyarrow", reason="needs varint-dynamics[parquet]")
    found = vi.ensemble(pendulum, {"angle": [0.5, 1.0]}, **TIMES, measure=top)
    found.save(tmp_path / "t.parquet")
    read = pandas.read_parquet(tmp_path / "t.parquet")
    assert read["top"].tolist() == found.table["top"].tolist()
    assert read["status"].tolist() == ["done", "done"]
    assert read.index.tolist() == [0, 1]
