"""An ensemble that goes on takes no run and no row that is not its member's, and names what it did anew."""

import csv
import json
import shutil

import h5py
import numpy as np
import pytest
from ensemble_members import TIMES, figures, pendulum, quiet, top
from in_process import here
from signed_files import signed

import varint as vi
from varint.files.runs import made_with
from varint.runs.method import solve
from varint.studies.ensembles import table
from varint.studies.ensembles.origin import origin_of, origin_of_function
from varint.studies.ensembles.source import source_of

__all__ = ["here"]  # a fixture
GRID = {"angle": [0.5, 1.0, 1.5]}
INSTALLED = made_with._installed()


def run_of(folder, number):
    return folder / "runs" / "000" / f"{number:06d}.h5"


def stamp(path):
    return path.stat().st_ino, path.stat().st_mtime_ns


@pytest.fixture
def whole(tmp_path, here):
    """An ensemble that ended, and its folder."""
    return quiet(pendulum, GRID, output=tmp_path / "e", measure=top), tmp_path / "e"


def gone_on(folder, build=pendulum, measure=top, resume=True, grid=GRID):
    return quiet(build, grid, output=folder, measure=measure, resume=resume)


def test_nothing_is_done_anew_where_all_fits(whole, capsys):
    before, folder = whole
    stamps = [stamp(run_of(folder, number)) for number in range(3)]
    lines = (folder / "results.csv").read_bytes()
    again = gone_on(folder)
    assert again.remarks == {}
    assert [stamp(run_of(folder, number)) for number in range(3)] == stamps
    assert (folder / "results.csv").read_bytes() == lines
    assert figures(again) == figures(before)
    assert gone_on(folder, grid={"angle": [0.5, 1, 1.5]}).remarks == {}
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_run_of_another_mechanism(whole, capsys):
    before, folder = whole
    vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01, output=run_of(folder, 1), overwrite=True)
    again = gone_on(folder)
    assert again.remarks == {1: "its file holds a run that this ensemble did not write"}
    assert "1 remark" in repr(again)
    assert "1 of 3 members of" in (line := capsys.readouterr().err)
    assert "are done anew: member 1: its file holds a run that" in line
    assert again[1].trajectory.mechanism.name == before[0].trajectory.mechanism.name
    assert figures(again) == figures(before)
    assert gone_on(folder).remarks == {}


@pytest.mark.slow
def test_runs_that_were_swapped(whole):
    before, folder = whole
    one, other = run_of(folder, 0), run_of(folder, 2)
    one.rename(folder / "between")
    other.rename(one)
    (folder / "between").rename(other)
    again = gone_on(folder)
    assert again.remarks == {0: "its file holds the run of member 2", 2: "its file holds the run of member 0"}
    assert figures(again) == figures(before)
    for member, angle in zip(again, GRID["angle"], strict=True):
        alone = vi.simulate(pendulum(angle), **TIMES)
        assert member.trajectory.position.tobytes() == alone.position.tobytes()


@pytest.mark.slow
def test_a_run_that_was_made_longer_or_damaged_or_lost(whole):
    before, folder = whole
    vi.simulate(pendulum(0.5), 0.2, 0.01, output=run_of(folder, 0), resume=True)
    run_of(folder, 1).write_bytes(run_of(folder, 1).read_bytes()[:5000])
    run_of(folder, 2).unlink()
    again = gone_on(folder)
    assert again.remarks[0] == "its file holds a run that this ensemble did not write"
    assert "is damaged" in again.remarks[1]
    assert again.remarks[2] == "its run is missing"
    assert figures(again) == figures(before)


@pytest.mark.slow
def test_a_run_whose_nodes_are_damaged_is_done_anew_where_its_row_is_lost(whole):
    before, folder = whole
    with h5py.File(run_of(folder, 1), "r+") as file:
        file["position"][3] += 0.1
    (folder / "results.csv").unlink()
    again = gone_on(folder)
    assert figures(again) == figures(before)
    assert again[1].trajectory.position.tobytes() == vi.simulate(pendulum(1.0), **TIMES).position.tobytes()


@pytest.mark.slow
def test_a_value_that_was_changed_in_the_table(whole):
    before, folder = whole
    with open(folder / "results.csv", newline="") as file:
        columns, *rows = csv.reader(file)
    changed = [list(row) for row in rows]
    changed[1][columns.index("top")] = "7.5"
    changed[2][columns.index("status")] = "stopped"
    with open(folder / "results.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *changed])
    stamps = [stamp(run_of(folder, number)) for number in range(3)]
    remarks = dict.fromkeys((1, 2), "its row in the table was changed since it was written")
    assert vi.load_ensemble(folder).remarks == remarks
    again = gone_on(folder)
    assert again.remarks == remarks
    assert figures(again) == figures(before)
    assert [stamp(run_of(folder, number)) for number in range(3)] == stamps  # their rows alone are worked out anew
    assert vi.load_ensemble(folder).remarks == {}


def rewritten(folder, change):
    """Change the lines of the table, lists of cells."""
    with open(folder / "results.csv", newline="") as file:
        lines = list(csv.reader(file))
    change(lines)
    with open(folder / "results.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


@pytest.mark.slow
def test_a_heading_that_was_changed(tmp_path, here):
    """Measured numbers stay with their names, and no column is left that nothing measures."""
    folder = tmp_path / "e"
    before = gone_on(folder, measure=both)

    def swap(lines):
        at = [lines[0].index(name) for name in ("top", "low")]
        lines[0][at[0]], lines[0][at[1]] = "low", "top"

    def rename(lines):
        lines[0][lines[0].index("top")] = "height"

    for change in (swap, rename):
        rewritten(folder, change)
        assert list(vi.load_ensemble(folder).remarks) == [0, 1, 2]
        again = gone_on(folder, measure=both)
        assert list(again.remarks) == [0, 1, 2]
        assert figures(again) == figures(before)
        assert vi.load_ensemble(folder).remarks == {}


def both(trajectory):
    return top(trajectory) | {"low": trajectory.position[:, -1, 2].min()}


def test_a_cell_of_a_table_that_is_too_long(whole):
    with open(whole[1] / "results.csv", "a") as file:
        file.write("1," + "9" * 200_000 + "\n")
    with pytest.raises(vi.FileError, match=r"results.csv' is damaged at the line 5: field larger than"):
        vi.load_ensemble(whole[1])


def test_parameters_that_were_changed_in_the_description(whole):
    """The table holds the parameters that each row was made with."""
    _, folder = whole
    path = folder / "ensemble.json"
    described = json.loads(path.read_text())
    described["members"][1]["angle"] = 1.25
    described["members"][2]["angle"] = True
    path.write_text(json.dumps(described))
    read = vi.load_ensemble(folder)
    assert list(read.remarks) == [1, 2]
    assert read[0].trajectory.success
    with pytest.raises(vi.FileError, match=r"not the run of this member: its file holds a run with other arguments"):
        read[1].trajectory  # noqa: B018


def test_a_description_that_is_nested_deep(whole):
    path = whole[1] / "ensemble.json"
    path.write_text('{"members": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(vi.FileError, match=r"ensemble.json': lists are nested too deep"):
        vi.load_ensemble(whole[1])


@pytest.mark.slow
def test_a_run_that_is_read_is_its_member_s(whole):
    _, folder = whole
    shutil.copy(run_of(folder, 0), run_of(folder, 1))
    vi.simulate(pendulum(1.5), 0.1, 0.01, output=run_of(folder, 2), overwrite=True)
    for ensemble in (vi.load_ensemble(folder), whole[0]):
        assert ensemble[0].trajectory.success
        for number, reason in ((1, "a run with other arguments"), (2, "a run that this ensemble did not write")):
            with pytest.raises(vi.FileError, match=f"not the run of this member: its file holds {reason}"):
                ensemble[number].trajectory  # noqa: B018


def test_rows_without_headings_in_their_digests(whole):
    """As older versions wrote them."""
    _, folder = whole

    def older(lines):
        for line in lines[1:]:
            line[-1] = table._digest(line[:-1])

    rewritten(folder, older)
    assert vi.load_ensemble(folder).remarks == {}


LENGTH = 0.0


def helped(angle=1.0):
    return pendulum(angle + LENGTH)


def test_a_build_that_was_changed(tmp_path, here, monkeypatch):
    folder = tmp_path / "e"
    quiet(helped, {"angle": [0.5]}, output=folder)
    monkeypatch.setattr(f"{__name__}.LENGTH", 0.25)
    again = gone_on(folder, helped, None, grid={"angle": [0.5]})
    assert "build, or a value or function that it reads, was changed" in again.remarks[0]
    alone = vi.simulate(pendulum(0.75), **TIMES)
    assert again[0].trajectory.position.tobytes() == alone.position.tobytes()


def test_a_script_that_was_edited(tmp_path, here):
    """The script itself, and one that it imports of its folder."""
    script, lengths = tmp_path / "script.py", tmp_path / "lengths_of_links.py"
    script.write_text(
        "from lengths_of_links import ANGLE\nimport varint as vi\n\n"
        "def build(angle=1.0):\n    return vi.mechanisms.double_pendulum(angle=angle + ANGLE)\n"
    )
    lengths.write_text("ANGLE = 0.0\n")
    first = origin_of(source_of(script))
    lengths.write_text("ANGLE = 0.5\n")
    assert origin_of(source_of(script)) != first
    lengths.write_text("ANGLE = 0.0\n")
    assert origin_of(source_of(script)) == first
    folder = tmp_path / "e"
    quiet(script, {"angle": [0.5, 1.0]}, output=folder)
    script.write_text(script.read_text().replace("angle + ANGLE", "2 * angle"))
    again = gone_on(folder, script, None, grid={"angle": [0.5, 1.0]})
    assert list(again.remarks) == [0, 1]
    assert again[1].trajectory.position[0].tobytes() == pendulum(2.0).state().position.tobytes()


def test_a_mechanism_file_that_was_edited(tmp_path, here):
    path, folder = tmp_path / "m.json", tmp_path / "e"
    vi.save_mechanism(pendulum(0.5), path)
    vi.ensemble(path, {"dt": [0.02]}, 0.1, output=folder)
    vi.save_mechanism(pendulum(1.5), path)
    again = vi.ensemble(path, {"dt": [0.02]}, 0.1, output=folder, resume=True)
    assert list(again.remarks) == [0]
    assert again[0].trajectory.position[0].tobytes() == pendulum(1.5).state().position.tobytes()


@pytest.mark.slow
def test_a_measure_that_was_changed(tmp_path, here, monkeypatch):
    """Rows are worked out anew, from the runs that there are."""
    folder = tmp_path / "e"
    gone_on(folder, measure=scaled)
    stamps = [stamp(run_of(folder, number)) for number in range(3)]
    monkeypatch.setattr(f"{__name__}.LENGTH", 2.0)
    again = gone_on(folder, measure=scaled)
    assert list(again.remarks) == [0, 1, 2]
    assert "measure, or a value or function that it reads, was changed" in again.remarks[0]
    assert again.table["scaled"].tolist() == [2.0] * 3
    assert [stamp(run_of(folder, number)) for number in range(3)] == stamps


def scaled(trajectory):
    return {"scaled": LENGTH}


@pytest.mark.slow
def test_runs_of_another_version(whole, monkeypatch):
    """Done anew, or kept by resume="any"."""
    _, folder = whole
    stamps = [stamp(run_of(folder, number)) for number in range(3)]
    monkeypatch.setattr(made_with, "_installed", lambda: INSTALLED | {"varint": "9.9"})
    kept = gone_on(folder, resume="any")
    assert kept.remarks == {}
    assert [stamp(run_of(folder, number)) for number in range(3)] == stamps
    again = gone_on(folder)
    assert again.remarks == dict.fromkeys(range(3), f"varint {vi.__version__} made its run, here is 9.9")
    assert again[0].trajectory.settings["made_with"]["varint"] == "9.9"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numba", "processor"])
def test_a_half_run_of_another_processor_begins_anew(name, whole, monkeypatch):
    before, folder = whole
    member = {"member": before[1].trajectory.settings["member"]}

    def stop(done, total):
        raise KeyboardInterrupt

    recording = vi.Recording(output=run_of(folder, 1), overwrite=True, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        solve(vi.Problem(pendulum(1.0), 0.1), vi.Variational(dt=0.01), recording, member)
    shutil.copytree(folder, folder.with_name("other"))
    monkeypatch.setattr(made_with, "_installed", lambda: INSTALLED | {name: "9.9"})
    again = gone_on(folder)
    assert list(again.remarks) == [1]  # those that ended are kept
    assert f"{name} wrote it" in again.remarks[1].replace("class of ", "").replace("version of ", "")
    assert "resumed_with" not in again[1].trajectory.settings
    continued = gone_on(folder.with_name("other"), resume="any")
    assert continued.remarks == {1: "its run is not finished, although it has a row in the table"}
    assert continued[1].trajectory.settings["resumed_with"][0][name] == "9.9"
    for result in (again, continued):
        assert figures(result) == figures(before)


def as_before(folder):
    """The folder as it was written before runs and rows recorded whose they are."""
    path = folder / "ensemble.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": "varint ensemble 1"}))
    with open(folder / "results.csv", newline="") as file:
        rows = [row[:-2] for row in csv.reader(file)]
    with open(folder / "results.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)

    def forget(file):
        settings = json.loads(file.attrs["settings"])
        settings = {name: value for name, value in settings.items() if name not in ("made_with", "member")}
        file.attrs["settings"] = np.bytes_(json.dumps(settings).encode())

    for run in (folder / "runs").rglob("*.h5"):
        signed(run, forget)


@pytest.mark.slow
def test_a_folder_of_before(whole):
    """Read as it is; refused to go on, since what made it is not known, unless any may be taken."""
    before, folder = whole
    as_before(folder)
    read = vi.load_ensemble(folder)
    assert figures(read) == figures(before)
    assert read.remarks == {}
    assert read[1].trajectory.success
    texts = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(vi.FileError, match=r"of 3 members, 0 the first, .* are not known\. resume='any'"):
        gone_on(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == texts
    stamps = [stamp(run_of(folder, number)) for number in range(3)]
    more = gone_on(folder, resume="any", grid={"angle": [*GRID["angle"], 2.0]})
    assert more.remarks == {}
    assert len(more) == 4
    assert [stamp(run_of(folder, number)) for number in range(3)] == stamps


def test_files_of_others_stay(whole, capsys):
    _, folder = whole
    (folder / "thesis.txt").write_text("all of it")
    (folder / "runs" / "000" / "figure.png").write_bytes(b"picture")
    (run_of(folder, 1).with_name("000001.h5.0123abcd.new")).write_bytes(b"left by a kill")
    fewer = quiet(pendulum, {"angle": [2.0]}, output=folder, overwrite=True)
    assert len(fewer) == 1
    assert "keeps files that the ensemble did not write: runs/000/figure.png, thesis.txt" in capsys.readouterr().err
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert names == {"ensemble.json", "results.csv", "runs/000/000000.h5", "runs/000/figure.png", "thesis.txt"}
    assert (folder / "thesis.txt").read_text() == "all of it"


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys, here):
    from varint.cli import main

    monkeypatch.chdir(tmp_path)
    argv = ["ensemble", "double_pendulum", "--vary", "angle=0.5,1.0", "--duration", "0.1", "-o", "e"]
    assert main(argv) == 0
    vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01, output="e/runs/000/000001.h5", overwrite=True)
    assert main([*argv, "--resume", "--json"]) == 0
    (remark,) = json.loads(capsys.readouterr().out.splitlines()[-1])["remarks"]
    assert (remark["member"], remark["reason"][:14]) == (1, "its file holds")
    as_before(tmp_path / "e")
    assert main([*argv, "--resume"]) == 2
    assert "--resume any takes them as they are" in capsys.readouterr().err
    assert main([*argv, "--resume", "any"]) == 0


def test_the_digest_of_a_function_is_that_of_what_it_does():
    def of(text, **names):
        exec(text, names)
        return origin_of_function(names["f"])

    first = of("def f(x): return x + 1")
    assert of("def f(x):\n    # a comment\n    return x + 1\n") == first
    assert of("def f(x): return x + 2") != first
    assert of("def f(x, y=3): return x + 1") != of("def f(x, y=4): return x + 1")
    assert of("def f(x): return x + a", a=1) != of("def f(x): return x + a", a=2)
    assert of("def f(x): return x + 1", a=1) == first
    inner = "def g(x): return {} * x\ndef f(x): return [g(y) for y in x]"
    assert of(inner.format(2)) != of(inner.format(3))
    names = "def f(x): return x in {'a', 'b', 'c', 'd'}"
    assert of(names) == of(names)
    closed = "def outer(n):\n    def f(x): return x + n\n    return f\nf = outer({})"
    assert of(closed.format(1)) != of(closed.format(2))
    held = "class Leg:\n    def length(self): return {}\ndef f(x): return Leg().length()"
    assert of(held.format(1)) != of(held.format(2))
    lonely = "import functools\ndef g(a, b): return a\nf = functools.partial(g, b={})"
    assert of(lonely.format(1)) != of(lonely.format(2))
    recursive = "def f(x): return f(x - 1) if x else 0"
    assert of(recursive) == of(recursive)
    bob = vi.mechanisms.double_pendulum(angle=0.5), vi.mechanisms.double_pendulum(angle=1.5)
    assert of("f = lambda: m", m=bob[0]) != of("f = lambda: m", m=bob[1])
