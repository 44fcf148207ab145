"""What is recorded, where it goes, and whether there is room for it; asked before the first step."""

import os
import shutil
import tracemalloc
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.cli import main
from varint.files.runs import space as room
from varint.files.runs.space import WantedSpace, available_memory, check_disk, check_memory, size_text
from varint.runs import running

DT = 0.01
SIMULATE = {
    "maximal": lambda mechanism, duration, dt=DT, **options: vi.simulate(mechanism, duration, dt, **options),
    "reduced": lambda mechanism, duration, dt=DT, **options: vi.redmax.simulate(
        mechanism, duration, dt, integrator="bdf2", **options
    ),
}


class Stop(Exception):
    """Raised by a progress."""


def stop(done, total):
    raise Stop


def never(done, total):
    pytest.fail("it made a step")


@pytest.fixture(params=SIMULATE)
def simulate(request):
    return SIMULATE[request.param]


@pytest.fixture
def pendulum():
    return vi.mechanisms.double_pendulum()


# ------------------------------------------------------------------------------------------ files that exist


@pytest.mark.slow
def test_a_finished_run_is_not_replaced_unasked(simulate, pendulum, tmp_path):
    path = tmp_path / "run.h5"
    simulate(pendulum, 0.1, output=path)
    before = path.read_bytes()
    for output in (path, str(path)):
        with pytest.raises(vi.FileError) as caught:
            simulate(pendulum, 0.2, output=output, progress=never)
        for words in (f"'{path}' exists", "overwrite=True to replace it", "resume=True to go on with it"):
            assert words in str(caught.value)
    assert path.read_bytes() == before
    assert [other.name for other in tmp_path.iterdir()] == ["run.h5"]
    assert simulate(pendulum, 0.2, output=path, overwrite=True).t[-1] == pytest.approx(0.2)
    assert vi.load(path).t[-1] == pytest.approx(0.2)


@pytest.mark.slow
def test_overwriting_needs_no_file(simulate, pendulum, tmp_path):
    simulate(pendulum, 0.1, output=tmp_path / "run.h5", overwrite=True)
    assert vi.load(tmp_path / "run.h5").success


def test_overwrite_and_resume_exclude_each_other(simulate, pendulum, tmp_path):
    simulate(pendulum, 0.1, output=tmp_path / "run.h5")
    with pytest.raises(vi.ArgumentError, match=r"overwrite=True replaces .* resume=True continues"):
        simulate(pendulum, 0.2, output=tmp_path / "run.h5", overwrite=True, resume=True)
    with pytest.raises(vi.ArgumentError, match="overwrite must be True or False, got 'yes'"):
        simulate(pendulum, 0.2, output=tmp_path / "run.h5", overwrite="yes")


def test_a_file_that_appears_while_the_run_starts_is_kept(simulate, pendulum, tmp_path, monkeypatch):
    path, locked = tmp_path / "run.h5", running.locked

    def other_run_ends(place):
        path.write_text("another run")
        return locked(place)

    monkeypatch.setattr(running, "locked", other_run_ends)
    with pytest.raises(vi.FileError, match="exists"):
        simulate(pendulum, 0.1, output=path, progress=never)
    assert path.read_text() == "another run"


@pytest.mark.slow
def test_the_command_replaces_by_force(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    argv = ["run", "double_pendulum", "-o", "run.h5", "--duration"]
    assert main([*argv, "0.1"]) == 0
    assert main([*argv, "0.2"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert all(word in line for word in ("'run.h5' exists", "--force", "--resume"))
    for formulation in ([], ["--integrator", "bdf2"]):
        assert main([*argv, "0.2", "--force", *formulation]) == 0
        assert vi.load("run.h5").t[-1] == pytest.approx(0.2)


# ------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize("name", ["run", "run.hdf", "run.h5.gz", "run.png", ".h5"])
def test_names_of_other_files_are_refused(simulate, pendulum, tmp_path, name):
    with pytest.raises(vi.ArgumentError, match=r"output must end in \.h5 or \.hdf5, got "):
        simulate(pendulum, 0.1, output=tmp_path / name, progress=never)
    assert not list(tmp_path.iterdir())


def test_tables_have_a_way_of_their_own(simulate, pendulum, tmp_path, capsys):
    with pytest.raises(vi.ArgumentError, match=r"\.h5 or \.hdf5, got '.*run\.CSV'.*traj\.to_csv\(path\)"):
        simulate(pendulum, 0.1, output=tmp_path / "run.CSV")
    for name in ("run.csv", "run.txt"):
        assert main(["run", "double_pendulum", "--duration", "0.1", "-o", str(tmp_path / name)]) == 2
        line = capsys.readouterr().err.splitlines()[-1]
        assert ("--csv" in line) == (name == "run.csv")
        assert ("output must end in .h5 or .hdf5" in line) == (name == "run.txt")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", ["run.h5", "run.H5", "run.hdf5", "run.HDF5"])
def test_names_of_runs(simulate, pendulum, tmp_path, name, capsys):
    run = simulate(pendulum, 0.1, output=tmp_path / name)
    assert np.array_equal(vi.load(tmp_path / name).position, run.position)
    assert main(["info", str(tmp_path / name)]) == 0


# ------------------------------------------------------------------------------------------ room


Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def free(monkeypatch):
    """Sets the bytes that are free on each disk and in memory."""

    monkeypatch.setattr(room, "SMALL", 0)  # bytes: small runs are looked at too

    def set_free(disk=10**15, memory=10**15):
        monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2 * disk, disk, disk))
        monkeypatch.setattr(room, "available_memory", lambda: memory)

    return set_free


def test_a_run_of_a_thousand_million_seconds_is_refused_at_once(simulate, pendulum, tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(vi.FileError, match=r"the run needs \d+(\.\d)? TB, and .* are free there: every=\d+ fits"):
        simulate(pendulum, 1e9, output=path, progress=never)
    with pytest.raises(vi.ArgumentError, match=r"need \d+(\.\d)? TB of memory, .*: every=\d+ fits, .* output="):
        simulate(pendulum, 1e9, progress=never)
    assert not list(tmp_path.iterdir())


def told_every(problem):
    return int(str(problem.value).split("every=")[1].split()[0])


def test_the_every_that_is_told_fits(simulate, pendulum, tmp_path, free):
    """And the next smaller of 1, 2, 5, 10, ... does not."""
    path = tmp_path / "run.h5"
    free(disk=30_000, memory=30_000)
    for kind, output in ((vi.FileError, {"output": path}), (vi.ArgumentError, {})):
        with pytest.raises(kind) as caught:
            simulate(pendulum, 10.0, **output, progress=never)
        every = told_every(caught)
        assert every in (10, 20, 50)
        smaller = {10: 5, 20: 10, 50: 20}[every]
        with pytest.raises(kind):
            simulate(pendulum, 10.0, every=smaller, **output, progress=never)
        with pytest.raises(Stop):
            simulate(pendulum, 10.0, every=every, **output, progress=stop)


def test_where_nothing_fits_no_every_is_told(simulate, pendulum, tmp_path, free):
    free(disk=100, memory=100)
    for kind, output in ((vi.FileError, {"output": tmp_path / "run.h5"}), (vi.ArgumentError, {})):
        with pytest.raises(kind, match="give a shorter duration") as caught:
            simulate(pendulum, 1.0, **output, progress=never)
        assert "every" not in str(caught.value)


@pytest.mark.slow
def test_a_run_that_goes_on_counts_what_is_to_come(simulate, pendulum, tmp_path, free):
    path = tmp_path / "run.h5"
    simulate(pendulum, 9.0, output=path)
    free(disk=50_000)
    with pytest.raises(Stop):
        simulate(pendulum, 10.0, output=path, resume=True, progress=stop)
    before = path.read_bytes()
    with pytest.raises(vi.FileError, match="give a shorter duration, or make room") as caught:
        simulate(pendulum, 20.0, output=path, resume=True, progress=never)
    assert "every" not in str(caught.value)  # it cannot be changed any more
    assert path.read_bytes() == before


@pytest.mark.slow
def test_a_file_that_is_replaced_makes_room(simulate, pendulum, tmp_path, free):
    path = tmp_path / "run.h5"
    simulate(pendulum, 10.0, output=path)
    free(disk=100_000)
    simulate(pendulum, 10.0, output=path, overwrite=True)
    with pytest.raises(vi.FileError, match="make room"):
        simulate(pendulum, 10.0, output=tmp_path / "other.h5")


def test_steps_of_the_integrators_own_are_not_known(pendulum, tmp_path, free):
    free(disk=100, memory=100)
    assert vi.redmax.simulate(pendulum, 0.1).success
    assert vi.redmax.simulate(pendulum, 0.1, output=tmp_path / "run.h5").success


def test_margins(tmp_path):
    """The smaller of 5 % and 50 MB stay free."""
    free = shutil.disk_usage(tmp_path).free
    left = min(0.05 * free, 50e6)
    check_disk(tmp_path / "run.h5", WantedSpace(1, 1, int(free - left - 30e6)))
    with pytest.raises(vi.FileError):
        check_disk(tmp_path / "run.h5", WantedSpace(1, 1, int(free - left + 30e6)))


@pytest.mark.parametrize(
    ("steps", "every", "nodes"), [(10, 1, 10), (10, 7, 2), (10, 10, 1), (10, 11, 1), (14, 7, 2), (0, 5, 0)]
)
def test_the_size_counts_the_last_state(steps, every, nodes):
    assert WantedSpace(steps, every, 100).size == 100 * nodes


@pytest.mark.parametrize("words", ["12 bytes", "1.5 kB", "224 MB", "22.4 TB"])
def test_sizes_in_words(words):
    number, unit = words.split()
    assert size_text(float(number) * {"bytes": 1, "kB": 1e3, "MB": 1e6, "TB": 1e12}[unit]) == words


def test_memory_of_the_machine_and_of_control_groups(tmp_path, monkeypatch):
    whole = available_memory()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < whole <= total
    monkeypatch.setattr(room, "CGROUPS", tmp_path)
    assert 0 < available_memory() <= total  # no group has a limit there
    old, new = room.MEMORY_FILES[1], room.MEMORY_FILES[0]
    for files, folder in ((new, tmp_path), (old, tmp_path / "memory")):
        folder.mkdir(exist_ok=True)
        limit, used, cached = files
        (folder / limit).write_text("2000000\n")
        (folder / used).write_text("1500000\n")
        (folder / "memory.stat").write_text(f"anon 5\n{cached} 300000\n")
        assert available_memory() == 800_000
        with pytest.raises(vi.ArgumentError, match="800 kB are available"):
            check_memory(WantedSpace(100, 1, 10_000))
        (folder / limit).write_text(f"{2**63 - 4096}\n" if files is old else "max\n")
        assert available_memory() > 10**7


# ------------------------------------------------------------------------------------------ tables of inputs


def peak(work):
    tracemalloc.start()
    try:
        with pytest.raises(Stop):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_functions_of_time_are_tabulated_as_the_run_goes(simulate):
    asked = []

    def position(t):
        asked.append(t)
        return 0.1 * np.sin(t)

    mechanism = with_forces(
        vi.mechanisms.double_pendulum(angle=0.0), vi.PrescribedMotion("m", joint="joint 1", position=position)
    )
    assert peak(lambda: simulate(mechanism, 1e9, every=10**10, progress=stop)) < 20e6
    assert len(asked) < 1e4
    assert max(asked) < 1e3


def test_loads_of_one_body_take_no_table_of_all(simulate):
    chain, steps = vi.mechanisms.n_pendulum(40), 20_000
    force = np.zeros((steps + 1, 3))
    simulate(chain, DT, every=steps)  # compiles
    taken = peak(lambda: simulate(chain, steps * DT, every=steps, force={"link 3": force}, progress=stop))
    assert taken < 0.2 * (steps + 1) * 40 * 6 * 8


# ------------------------------------------------------------------------------------------ the layout, as it is told


def check_layout(run):
    """That the lines of the page on runs, which know h5py alone, read the file ``run.h5`` as it is."""
    page = (Path(__file__).parent.parent / "docs" / "runs.md").read_text()
    (lines,) = [block for block in page.split("```python\n")[1:] if "h5py.File" in block]
    found = {}
    exec(lines.split("```")[0], found)
    assert list(found["arrays"]) == list(run.nodes)
    for name, array in found["arrays"].items():
        assert array.tobytes() == run.nodes[name].tobytes(), name
        assert f"`{name}`" in page
    assert found["status"] == run.status


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_files_are_read_by_what_the_page_says(simulate, tmp_path, monkeypatch, stopped):
    monkeypatch.chdir(tmp_path)
    for mechanism in (vi.mechanisms.double_pendulum(), vi.mechanisms.cart_pole(effort=0.1)):
        options = {"output": "run.h5", "every": 7, "overwrite": True, "force": {"link 1": np.zeros((21, 3))}}
        if mechanism.name not in ("2-link pendulum",):
            options.pop("force")
        if stopped:
            with pytest.raises(Stop):
                simulate(mechanism, 0.2, progress=stop, **options)
        else:
            simulate(mechanism, 0.2, **options)
        check_layout(vi.load("run.h5"))


@pytest.mark.slow
def test_files_of_impulses_are_read_by_what_the_page_says(tmp_path, monkeypatch):
    pytest.importorskip("clarabel", reason="needs varint-dynamics[contact]")
    monkeypatch.chdir(tmp_path)
    arm = with_forces(vi.mechanisms.double_pendulum(), vi.JointStop("stop", joint="joint 1", upper=0.1))
    vi.redmax.simulate(arm, 0.2, 0.01, integrator="euler", output="run.h5")
    check_layout(vi.load("run.h5"))
