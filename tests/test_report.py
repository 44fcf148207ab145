"""The report goes where it is asked to, and leaves every other file as it is."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "benchmarks" / "report"


def experiment(name):
    return SimpleNamespace(
        name=name,
        title=f"Title of {name}",
        source="",
        table=None,
        measure=lambda: {"x": [1.0, 2.0]},
        draw=lambda measured, figure: figure.subplots().plot(measured["x"]),
        seen=lambda measured: f"{len(measured['x'])} values",
    )


@pytest.fixture
def report(monkeypatch):
    """The program, with two quick experiments."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")  # as it sets them
    spec = importlib.util.spec_from_file_location("report_program", REPORT / "__main__.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    both = SimpleNamespace(EXPERIMENTS=[experiment("first"), experiment("second")])
    monkeypatch.setitem(sys.modules, "two_experiments", both)
    monkeypatch.setattr(program, "MODULES", ("two_experiments",))
    monkeypatch.setattr(program, "DPI", 10)
    return program


def contents(folder):
    return {path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*.*")}


def test_one_experiment_is_written_where_asked_and_nowhere_else(report, tmp_path, capsys):
    before, folder = contents(ROOT / "docs" / "report"), tmp_path / "new" / "folder"
    assert report.main(["first", "--out", str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["first.json", "first.png", "first.svg", "report.md"]
    page = (folder / "report.md").read_text()
    assert "Title of first" in page
    assert "Title of second" not in page
    assert str(folder / "report.md") in capsys.readouterr().out
    assert contents(ROOT / "docs" / "report") == before


def test_another_experiment_joins_those_of_the_folder_and_leaves_their_files(report, tmp_path):
    report.main(["first", "--out", str(tmp_path)])
    before = {path: value for path, value in contents(tmp_path).items() if path.stem == "first"}
    report.main(["second", "--out", str(tmp_path)])
    after = contents(tmp_path)
    assert before.items() <= after.items()
    page = (tmp_path / "report.md").read_text()
    assert page.index("Title of first") < page.index("Title of second")


def test_draw_measures_nothing(report, tmp_path):
    report.main(["--out", str(tmp_path)])
    text = (tmp_path / "second.json").read_text()
    assert json.loads(text)["measured"] == {"x": [1.0, 2.0]}
    (tmp_path / "second.svg").unlink()
    report.main(["draw", "--out", str(tmp_path)])
    assert (tmp_path / "second.json").read_text() == text
    assert (tmp_path / "second.svg").exists()


def test_an_unknown_name_writes_nothing(report, tmp_path, capsys):
    assert report.main(["third", "--out", str(tmp_path / "none")]) == 2
    assert "no experiment 'third'" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()


def test_timings_have_a_round_that_compiles_and_three_more(monkeypatch):
    monkeypatch.syspath_prepend(REPORT)
    shared = importlib.import_module("experiment")
    clock, calls = SimpleNamespace(now=0.0), {"compiled": [], "plain": []}
    monkeypatch.setattr(shared.time, "process_time", lambda: clock.now)

    def work(name, first, later):
        clock.now += later if calls[name] else first
        calls[name].append(clock.now)

    works = {"compiled": lambda: work("compiled", 15.0, 0.75), "plain": lambda: work("plain", 3.0, 3.0)}
    assert shared.in_turns(works, rounds=5, enough=2.5) == {"compiled": 0.75, "plain": 3.0}
    assert {name: len(each) for name, each in calls.items()} == {"compiled": 1 + 4, "plain": 1 + 3}


def test_without_a_folder_no_tracked_file_is_written(report):
    assert report.FOLDER == ROOT / "build" / "report"
    assert "build/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("options", "arguments"),
    [([], "--out build/report"), (["ONLY=vi_4a", "OUT=some/folder"], "vi_4a --out some/folder")],
)
def test_make_hands_name_and_folder_on(options, arguments):
    done = subprocess.run(
        ["make", "--dry-run", "report", *options], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (line,) = [line for line in done.stdout.splitlines() if "benchmarks/report" in line]  # others are of make itself
    assert line.split("benchmarks/report", 1)[1].split() == arguments.split()
