"""Ensembles that are killed and go on, and the same members by processes, one process and a Dask cluster."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import varint as vi

ROOT = Path(__file__).parent.parent
MEMBERS = 60
SCRIPT = """
import sys
from pathlib import Path
import varint as vi

folder = Path(sys.argv[1])


def build(angle):
    with open(folder / "built", "a") as file:
        file.write(f"{angle!r}\\n")
    return vi.mechanisms.double_pendulum(angle=angle)


draws = vi.random_draws(MEMBERS, {"angle": ("uniform", 0.1, 3.0)}, seed=3)
vi.ensemble(build, draws, 2.0, 1e-3, output=folder / "e", resume=True, workers=2, on_unresolved="ignore")
""".replace("MEMBERS", str(MEMBERS))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The ensemble that was not stopped."""
    folder = tmp_path_factory.mktemp("whole")
    run_script(folder).wait()
    return folder


def run_script(folder):
    """Python without a guard for its main module, in a process group of its own."""
    (folder / "run.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "run.py", str(folder)]
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True)


def rows_in(folder):
    """Members whose lines are in the table."""
    table = folder / "e" / "results.csv"
    return max(0, table.read_bytes().count(b"\n") - 1) if table.exists() else 0


def has_ended(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def figures(ensemble):
    return {name: list(map(repr, values)) for name, values in ensemble.table.items() if name != "wall_time"}


def stamps(folder):
    """Of the runs whose members stand in the table: inode and time of writing."""
    found = vi.load_ensemble(folder / "e")
    return {member.path: (member.path.stat().st_ino, member.path.stat().st_mtime_ns) for member in found}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("who", [pytest.param("group", marks=pytest.mark.long), "leader"])
def test_kill_and_go_on(who, whole, tmp_path):
    """Three kills, of all processes at once or of the first alone; then what is left to do, and nothing again."""
    kept, under_way = {}, 0
    for share in (0.1, 0.4, 0.8):
        process = run_script(tmp_path)
        wait_for(lambda share=share: rows_in(tmp_path) >= share * MEMBERS)
        os.killpg(process.pid, signal.SIGKILL) if who == "group" else process.kill()
        process.wait()
        wait_for(lambda process=process: has_ended(process.pid), 10)  # workers end with what started them
        now = stamps(tmp_path)
        assert share * MEMBERS <= len(now) < MEMBERS
        assert kept.items() <= now.items()
        kept, under_way = now, under_way + 2
    assert run_script(tmp_path).wait() == 0
    found = vi.load_ensemble(tmp_path / "e")
    assert kept.items() <= stamps(tmp_path).items()
    assert len(found) == MEMBERS
    assert figures(found) == figures(vi.load_ensemble(whole / "e"))
    for member, other in zip(found, vi.load_ensemble(whole / "e"), strict=True):
        assert member.trajectory.position.tobytes() == other.trajectory.position.tobytes()
    built = Counter((tmp_path / "built").read_text().split())
    assert set(built) == {repr(member.parameters["angle"]) for member in found}
    assert sum(built.values()) <= MEMBERS + under_way  # those that a kill found at work, two each time
    before = (tmp_path / "built").read_text()
    assert run_script(tmp_path).wait() == 0
    assert (tmp_path / "built").read_text() == before


@pytest.mark.slow
def test_an_interrupt_ends_the_workers(tmp_path):
    process = run_script(tmp_path)
    wait_for(lambda: rows_in(tmp_path) >= 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.wait(timeout=60) == -signal.SIGINT
    assert has_ended(process.pid)
    assert not (tmp_path / "e" / "ensemble.json.lock").exists()
    assert len(vi.load_ensemble(tmp_path / "e")) < MEMBERS


@pytest.mark.slow
def test_one_folder_has_one_writer(tmp_path):
    process = run_script(tmp_path)
    wait_for(lambda: rows_in(tmp_path) >= 1)
    with pytest.raises(vi.FileError, match=rf"is being written by process {process.pid}"):
        vi.ensemble("double_pendulum", {"angle": [1.0]}, 1.0, 0.01, output=tmp_path / "e", overwrite=True)
    process.kill()
    process.wait()


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the cluster
def test_a_dask_cluster_gives_the_same(whole, tmp_path):
    dask = pytest.importorskip("dask", reason="needs varint-dynamics[dask]")
    distributed = pytest.importorskip("distributed", reason="needs varint-dynamics[dask]")
    draws = vi.random_draws(MEMBERS, {"angle": ("uniform", 0.1, 3.0)}, seed=3)
    faults = [{"angle": "far"}, {"angle": -1.0}]

    def build(angle):
        if angle == -1.0:
            os.kill(os.getpid(), signal.SIGKILL)
        return vi.mechanisms.double_pendulum(angle=angle)

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.ERROR}
    two_deaths = {"distributed.scheduler.allowed-failures": 1}  # are enough, in place of four
    with dask.config.set(two_deaths), distributed.LocalCluster(**workers) as cluster:
        options = {"scheduler": cluster.scheduler_address, "on_unresolved": "ignore"}
        found = vi.ensemble(build, draws, 2.0, 1e-3, output=tmp_path / "e", **options)
        again = vi.ensemble(build, draws + faults, 2.0, 1e-3, output=tmp_path / "e", resume=True, **options)
    expected = vi.load_ensemble(whole / "e")
    assert not found.failures, found.failures[0].message
    assert figures(found) == figures(expected)
    for member, other in zip(found, expected, strict=True):
        assert member.trajectory.position.tobytes() == other.trajectory.position.tobytes()
    assert [member.number for member in again.failures] == [MEMBERS, MEMBERS + 1]
    assert "MechanismError" in again[MEMBERS].message
    assert "died" in again[MEMBERS + 1].message


@pytest.mark.slow
def test_a_scheduler_that_is_not_there(monkeypatch):
    pytest.importorskip("distributed", reason="needs varint-dynamics[dask]")
    monkeypatch.setattr("varint.studies.ensembles.cluster.PATIENCE", 1)
    with pytest.raises(vi.ArgumentError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        vi.ensemble("double_pendulum", {"angle": [1.0]}, 1.0, 0.01, scheduler="tcp://127.0.0.1:9")


def test_the_package_of_clusters_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(vi.ArgumentError, match=r'pip install "varint-dynamics\[dask\]"'):
        vi.ensemble("double_pendulum", {"angle": [1.0]}, 1.0, 0.01, scheduler="tcp://127.0.0.1:9")
