"""Two processes or threads that write one run file."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from file_runs import run, same, whole

import varint as vi
from varint.files.runs.lock import SUFFIX, locked

WRITE = """
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
try:
    vi.simulate(vi.mechanisms.double_pendulum(), {duration}, 0.01, output=sys.argv[1], {how}=True)
except vi.FileError as problem:
    print(problem)
    sys.exit(3)
"""


def together(path, duration, resume, count=2):
    """Exit codes and outputs of processes that write the same file at the same moment."""
    code = "import sys, varint as vi\n" + WRITE.format(duration=duration, how="resume" if resume else "overwrite")
    start = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([sys.executable, "-c", code, path], **start) for _ in range(count)]
    for process in processes:
        process.stdout.readline()
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120) for process in processes]
    return [process.returncode for process in processes], outputs


def check_two_writers(path, resume, expected):
    codes, outputs = together(path, 40.0, resume)
    assert set(codes) <= {0, 3}, outputs
    assert 0 in codes
    for code, (said, _) in zip(codes, outputs, strict=True):
        if code:
            assert "is being written by" in said, said
            assert "run.h5" in said
    assert same(vi.load(path), expected)
    assert [other.name for other in path.parent.iterdir()] == ["run.h5"]


@pytest.mark.slow
@pytest.mark.parametrize("resume", [False, True])
def test_two_processes_with_one_output(tmp_path, resume):
    if resume:
        run(tmp_path / "run.h5")
    check_two_writers(tmp_path / "run.h5", resume, whole(40.0))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("resume", [False, True])
def test_many_times_two_processes_with_one_output(tmp_path, resume):
    expected = whole(40.0)
    for _ in range(10):
        path = tmp_path / "run.h5"
        path.unlink(missing_ok=True)
        if resume:
            run(path)
        check_two_writers(path, resume, expected)


@pytest.mark.slow
def test_lock_names_its_holder_and_goes_with_it(tmp_path):
    path = tmp_path / "run.h5"
    with locked(path):
        assert path.with_name("run.h5" + SUFFIX).read_text().startswith(f"{os.getpid()} on ")
        with pytest.raises(vi.FileError, match=f"process {os.getpid()} on"):
            run(path)
    assert not list(tmp_path.iterdir())
    path.with_name("run.h5" + SUFFIX).write_text("1234 on a machine that was switched off\n")
    run(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
def test_threads_do_not_share_a_file_either(tmp_path):
    path, refused = tmp_path / "run.h5", []

    def second(done, steps):
        try:
            run(path, overwrite=True)
        except vi.FileError as problem:
            refused.append(str(problem))

    first = run(path, 5.0, progress=second)
    assert refused
    assert all("is being written by process" in words for words in refused)
    assert same(vi.load(path), first)


@pytest.mark.slow
def test_threads_with_files_of_their_own(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda k: run(tmp_path / f"run{k % 8}.h5", 0.2 + 0.1 * k), range(8)))
    for k, found in enumerate(runs):
        assert same(found, whole(0.2 + 0.1 * k))
    assert len(list(tmp_path.iterdir())) == 8


@pytest.mark.long
@pytest.mark.slow
def test_threads_that_write_files_of_their_own(tmp_path):
    """The images of small files are made in memory, by all threads at once."""
    mechanism = vi.mechanisms.double_pendulum()

    def write(number):
        path = tmp_path / f"{number}.h5"
        state = mechanism.state(coordinates={"joint 1": 0.01 * number})
        for _ in range(5):
            vi.simulate(mechanism, 0.03, 1e-3, state=state, output=path, overwrite=True)
        return np.array_equal(vi.load(path).position, vi.simulate(mechanism, 0.03, 1e-3, state=state).position)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(16)))
