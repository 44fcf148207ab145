"""Run files under what happens to files: full disks, kills, two writers, interrupts, deletion, damage on purpose."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import pytest
from file_runs import DT, NODES, in_process, run, same, whole

import varint as vi
from varint.files.runs import reader as run_reader
from varint.files.runs import writer as run_writer
from varint.files.runs.contents import Checkpoint

# ------------------------------------------------------------------------------------------ disks that are full

OUT_OF_SPACE = """
import os, tempfile
ballast = tempfile.TemporaryFile(dir=os.path.dirname(sys.argv[1]))

def fill(done, total):
    if done > 600 and {full} and not ballast.tell():
        status = os.statvfs(ballast.name)
        os.posix_fallocate(ballast.fileno(), 0, status.f_bavail * status.f_bsize)
        ballast.seek(1)

try:
    vi.simulate(vi.mechanisms.n_pendulum(5), {duration}, 0.01, output=sys.argv[1], progress=fill)
except vi.FileError as problem:
    print(problem)
    sys.exit(3)
"""


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3300 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only the superuser mounts")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3300k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    yield place
    subprocess.run(["umount", place], check=True)


def check_stopped_for_space(path, done):
    """That a run of `OUT_OF_SPACE` said why it ended, and left a file that goes on elsewhere to the same bits."""
    assert done.returncode == 3, done.stderr
    assert all(line.startswith("varint: compiling") for line in done.stderr.splitlines())
    assert str(path) in done.stdout
    assert "MB are free" in done.stdout
    assert "resume=True" in done.stdout
    left = vi.load(path)
    assert left.status == -1
    assert not left.success
    assert len(left.t) == left.steps + 1 > 500
    assert f"up to t = {left.t[-1]:g} s" in done.stdout
    assert [other.name for other in path.parent.iterdir()] == [path.name]
    elsewhere = path.parent.parent / "longer.h5"
    elsewhere.write_bytes(path.read_bytes())
    duration = float(left.t[-1]) + 2.0
    mechanism = vi.mechanisms.n_pendulum(5)
    longer = vi.simulate(mechanism, duration, DT, output=elsewhere, resume=True)
    assert same(longer, vi.simulate(mechanism, duration, DT))
    return left


@pytest.mark.slow
def test_full_disk_stops_the_run_and_keeps_what_was_written(small_disk):
    path = small_disk / "run.h5"
    left = check_stopped_for_space(path, in_process(OUT_OF_SPACE.format(duration=50.0, full=True), path))
    with pytest.raises(vi.FileError, match="MB are free"):  # what room there is left does not last
        vi.simulate(vi.mechanisms.n_pendulum(5), 1e5, DT, output=path, resume=True)
    assert vi.load(path).position[: len(left.t)].tobytes() == left.position.tobytes()
    assert [other.name for other in small_disk.iterdir()] == ["run.h5"]


@pytest.mark.slow
def test_largest_file_that_a_process_may_write(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, 2 << 20))\n"
    done = in_process(limit + OUT_OF_SPACE.format(duration=1e3, full=False), folder / "run.h5")
    check_stopped_for_space(folder / "run.h5", done)
    assert "File too large" in done.stdout


@pytest.mark.slow
def test_disk_that_fails_although_space_was_reserved(small_disk):
    """As of a disk that breaks: HDF5 itself meets the error."""
    code = "import varint.files.runs.writer\nvarint.files.runs.writer._reserve = lambda *bytes: None\n"
    code += OUT_OF_SPACE.format(duration=50.0, full=True)
    check_stopped_for_space(small_disk / "run.h5", in_process(code, small_disk / "run.h5"))


def test_no_room_for_a_file_at_all(small_disk):
    (small_disk / "large").write_bytes(bytes(3290 << 10))
    with pytest.raises(vi.FileError, match=r"cannot write '.*run\.h5': No space left"):
        run(small_disk / "run.h5", 0.1)
    assert [other.name for other in small_disk.iterdir()] == ["large"]


def test_systems_that_cannot_reserve(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate")
    assert same(run(tmp_path / "run.h5", 5.0), whole(5.0))


def test_what_was_reserved_is_given_back(tmp_path):
    run(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert os.path.getsize(tmp_path / "run.h5") == file.id.get_filesize() < run_writer.MARGIN


# ------------------------------------------------------------------------------------------ links, deletion


@pytest.mark.slow
def test_links_are_followed(tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "run.h5", tmp_path / "run.h5"
    link.symlink_to(target)
    for resume, duration in ((False, 1.0), (True, 2.0)):
        run(link, duration, resume=resume)
        assert link.is_symlink()
        assert same(vi.load(target), whole(duration))
    assert sorted(tmp_path.rglob("*.*")) == sorted([link, target])


@pytest.mark.parametrize("replaced", [False, True])
def test_file_that_goes_while_it_is_written(tmp_path, replaced):
    path = tmp_path / "run.h5"

    def remove(done, steps):
        path.unlink()
        if replaced:
            path.write_text("another file")

    with pytest.raises(vi.FileError, match="was deleted or replaced while the run wrote it"):
        run(path, 1e4, progress=remove)
    assert [other.read_text() for other in tmp_path.iterdir()] == (["another file"] if replaced else [])


def test_output_that_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.h5")
    with pytest.raises(vi.FileError, match="it is not a file"):
        run(tmp_path / "pipe.h5")
    with pytest.raises(vi.FileError, match="no such file"):
        vi.load(tmp_path / "pipe.h5")


# ------------------------------------------------------------------------------------------ kills and interrupts

GO_ON = """
def by_nodes(mechanism, duration, order, **to):
    method = vi.Lobatto(0.01, order, on_unresolved="ignore")
    return vi.simulate(vi.Problem(mechanism, duration), method, vi.Recording(**to))
mechanism = vi.mechanisms.{name}()
{short}
sys.stdout.write("ready\\n"); sys.stdout.flush()
{call}
"""
TO_FILE = ", output=sys.argv[1], resume=len(sys.argv) > 2)"
CALLS = {
    "maximal": "vi.simulate(mechanism, 1e5, 0.01, order={order}" + TO_FILE,
    "adaptive": "vi.simulate(mechanism, 1e5, 0.01, order={order}, adaptive=True" + TO_FILE,
    "reduced": "vi.redmax.simulate(mechanism, 1e5, dt=0.01" + TO_FILE,
    "collocation": "by_nodes(mechanism, 1e5, {order}" + TO_FILE,
}


def killed_after(seconds, path, name, formulation, order, resume, early):
    """From when the kernels are loaded on, or, unless ``early``, from when the file is there."""
    call = CALLS[formulation].format(order=order)
    short = f"{call.split(', output')[0].replace('1e5', '0.01')})"  # loads the kernels
    code = "import sys, varint as vi\n" + GO_ON.format(name=name, short=short, call=call)
    arguments = [sys.executable, "-c", code, path, *(["resume"] if resume else [])]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    while not early and not path.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(seconds)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def check_kills(path, rng, count, name, formulation, order):
    """Kill a run ``count`` times, from before its file is there on, and let it go on each time."""
    loaded = 0
    for number in range(count):
        early = number < count // 4
        killed_after(rng.exponential(0.15), path, name, formulation, order, resume=path.exists(), early=early)
        assert not [left for left in path.parent.iterdir() if left.suffix not in (".h5", ".lock", ".new")]
        if path.exists():
            loaded += 1
            left = vi.load(path)
            assert left.status == -1
    assert loaded
    duration = DT * (round(float(vi.load(path).t[-1]) / DT) + 100)
    mechanism = getattr(vi.mechanisms, name)()
    simulate = {
        "maximal": lambda **to: vi.simulate(mechanism, duration, DT, order=order, **to),
        "adaptive": lambda **to: vi.simulate(mechanism, duration, DT, order=order, adaptive=True, **to),
        "reduced": lambda **to: vi.redmax.simulate(mechanism, duration, dt=DT, **to),
        "collocation": lambda **to: vi.simulate(
            vi.Problem(mechanism, duration), vi.Lobatto(DT, order, on_unresolved="ignore"), vi.Recording(**to)
        ),
    }[formulation]
    assert same(simulate(output=path, resume=True), simulate())
    assert [other.name for other in path.parent.iterdir()] == [path.name]
    return loaded


KILLED = [
    ("double_pendulum", "maximal", 2),
    ("four_bar", "maximal", 4),
    ("double_pendulum", "maximal", 8),
    ("double_pendulum", "adaptive", 4),
    ("double_pendulum", "reduced", 2),
    ("four_bar", "collocation", 8),
]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "formulation", "order"), KILLED)
def test_many_kills(tmp_path, rng, name, formulation, order):
    assert check_kills(tmp_path / "run.h5", rng, 20, name, formulation, order) > 10


@pytest.mark.slow
def test_kill_while_the_file_is_made_leaves_none_or_a_whole_one(tmp_path, monkeypatch):
    """What is beside the output before it is put in place is no run file of that name."""
    seen = []
    replace = os.replace

    def look(source, target):
        seen.append((Path(target).exists(), len(vi.load(source).t)))
        replace(source, target)

    monkeypatch.setattr(run_writer.os, "replace", look)
    run(tmp_path / "run.h5")
    assert seen == [(False, 1)]
    (tmp_path / "run.h5.0123abcd.new").write_text("left by a kill")
    (tmp_path / "run.h5.mine.new").write_text("the user's own")
    run(tmp_path / "run.h5", 2.0, resume=True)
    assert sorted(other.name for other in tmp_path.iterdir()) == ["run.h5", "run.h5.mine.new"]


@pytest.mark.parametrize("number", range(8))
@pytest.mark.slow
@pytest.mark.many
def test_interrupts_are_never_lost(tmp_path, number):
    path = tmp_path / "run.h5"
    run(tmp_path / "short.h5")  # loads the kernels, from where interrupts may be lost
    timer = threading.Timer(0.02 + 0.03 * number, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run(path, 2e4)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if path.exists():
        assert vi.load(path).status == -1


@pytest.mark.slow
def test_interrupt_while_a_checkpoint_is_written_is_as_a_kill(tmp_path, monkeypatch):
    """Whatever ends a write in its middle: the file is whole up to the block before, and goes on."""
    path, arrays, count = tmp_path / "run.h5", Checkpoint.arrays, []

    def broken(checkpoint):
        found = arrays(checkpoint)
        count.append(None)
        if len(count) > 6:  # the numbers of this checkpoint, then no more
            return {"progress": found["progress"], "wall_time": Interrupting()}
        return found

    class Interrupting:
        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "arrays", broken)
    with pytest.raises(KeyboardInterrupt):
        run(path, 50.0)
    monkeypatch.undo()
    left = vi.load(path)
    assert left.status == -1
    assert 0 < left.steps < 5000
    assert same(run(path, 50.0, resume=True), whole(50.0))


@pytest.mark.slow
def test_file_modes_stay_and_read_only_files_too(tmp_path):
    path = tmp_path / "run.h5"
    run(path)
    path.chmod(0o600)
    run(path, 2.0, resume=True)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(vi.FileError, match="no folder"):
        run(tmp_path / "none" / "run.h5")


def test_links_between_checkpoints_are_not_followed(tmp_path):
    path, pipe = tmp_path / "run.h5", tmp_path / "pipe"
    run(path)
    os.mkfifo(pipe)
    with h5py.File(path, "r+") as file:
        del file["checkpoint/0/state"]
        file["checkpoint/0/state"] = h5py.ExternalLink(str(pipe), "x")
    with pytest.raises(vi.FileError, match="damaged"):
        vi.load(path)


@pytest.mark.slow
def test_blocks_do_not_shrink_where_the_rest_is_slow(tmp_path):
    done = []

    def slow(steps, total):
        done.append(steps)
        time.sleep(0.3)

    run(tmp_path / "run.h5", 300.0, progress=slow)
    assert len(done) < 12


def test_second_interrupt_does_not_wait():
    def thrice(t, state):
        os.kill(os.getpid(), signal.SIGINT)
        return 0.0

    pendulum = vi.mechanisms.double_pendulum()
    motor = vi.Motor("motor", joint="joint 1", effort=thrice)
    mechanism = vi.Mechanism("driven", pendulum.bodies, pendulum.joints, forces=[motor])
    with pytest.raises(KeyboardInterrupt):
        vi.simulate(mechanism, 10.0, DT)


# ------------------------------------------------------------------------------------------ memory


@pytest.mark.slow
@pytest.mark.long
def test_nodes_in_a_file_are_not_kept_in_memory(tmp_path):
    code = """
n = 40
mechanism = vi.mechanisms.n_pendulum(n)
vi.simulate(mechanism, 0.1, 0.001, output=sys.argv[1] + ".h5")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = vi.simulate(mechanism, 40.0, 0.001, output=sys.argv[1])
assert run.energy.shape == run.drift.shape == (40001,)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(grown / (40001 * n * 13 * 8))
"""
    done = in_process(code, tmp_path / "run.h5")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0  # of the size of the nodes: blocks and parts of them


PEAK = "print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
LONG_RUNS = {  # and by how many bytes a node their peak may grow: the times and who was unresolved, and with the
    # summary and the picture a few numbers of each node more. A node itself has 224.
    "simulate": (
        "len(vi.simulate(vi.mechanisms.double_pendulum(), float(sys.argv[2]), 0.001, output=sys.argv[1]).t)\n",
        40,
    ),
    "the command": (
        "from varint.cli import main\n"
        "main(['run', 'double_pendulum', '--duration', sys.argv[2], '--dt', '0.001', '-o', sys.argv[1]])\n",
        120,
    ),
}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["simulate", pytest.param("the command", marks=pytest.mark.long)])
def test_memory_does_not_grow_with_the_length_of_a_run(tmp_path, name):
    code, most = LONG_RUNS[name]
    peaks = []
    for minutes in (10, 40):
        done = in_process(code + PEAK, tmp_path / f"{minutes}.h5", str(60 * minutes))
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] - peaks[0] < most * 60_000 * 30, peaks


@pytest.mark.slow
def test_large_runs_are_read_when_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    held = run(path, 20.0)
    monkeypatch.setattr(run_reader, "HELD", 0)
    monkeypatch.setattr(run_reader, "PART", 1 << 10)
    late = vi.load(path)
    assert type(late.nodes).__name__ == "StoredNodes"
    assert len(list(late.parts())) > 2
    for name in ("energy", "drift", "linear_momentum", "energy_balance", *NODES):
        assert getattr(late, name).tobytes() == getattr(held, name).tobytes()
    assert late.is_conservative
    assert same(pickle.loads(pickle.dumps(late)), held)

    early = vi.load(path)
    longer = run(path, 40.0, resume=True)
    assert same(early, held)
    assert same(longer, whole(40.0))
    late = vi.load(path)
    vi.simulate(vi.mechanisms.double_pendulum(), 60.0, DT, tol=1e-9, output=path, overwrite=True)
    with pytest.raises(vi.FileError, match="holds another run by now"):
        late.position  # noqa: B018
    path.unlink()
    with pytest.raises(vi.FileError, match="no such file"):
        late.energy  # noqa: B018
