"""Mechanism files and run files: nothing is lost, nothing damaged is taken for whole."""

import json
import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest
from poses import arrays_of
from random_mechanisms import random_body, random_joint, unit

import varint as vi
from varint.base.checks import unit_axis, unit_quaternion
from varint.files.runs.reader import load_settings
from varint.model.joints import REGISTRY

NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity")
DT = 0.01
OWN = (".json", ".toml")  # formats that hold all that a mechanism can be
ENDLESS = """
import sys, varint as vi
vi.simulate(vi.mechanisms.{name}(), 1e5, {dt}, order={order}, every={every}, output=sys.argv[1])
"""


def same_bits(one, other, *names):
    return all(np.asarray(getattr(one, name)).tobytes() == np.asarray(getattr(other, name)).tobytes() for name in names)


def pendulum_run(path, duration=1.0, **options):
    return vi.simulate(vi.mechanisms.double_pendulum(), duration, DT, output=path, **options)


def killed_run(path, name, order=2, every=1):
    """Let a run of ``name`` go on in another process, watch its file grow, and kill it."""
    process = subprocess.Popen([sys.executable, "-c", ENDLESS.format(name=name, dt=DT, order=order, every=every), path])
    try:
        deadline = time.monotonic() + 300  # the kernels may have to be compiled
        seen = []
        while len(seen) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
            try:
                steps = vi.load(path).steps
            except vi.FileError:  # not begun
                continue
            if steps not in seen:
                seen.append(steps)
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    assert seen == sorted(seen)
    return seen[-1]


# mechanisms


@pytest.mark.parametrize("suffix", OWN)
def test_files_keep_every_joint_type_to_the_bit(suffix, rng, tmp_path):
    bodies = [random_body(rng, f"b{number}") for number in range(len(REGISTRY))]
    ends = ["world", *(body.name for body in bodies)]
    joints = [
        random_joint(rng, kind, f"joint {number}", ends[number], ends[number + 1], bodies[number].position + 0.1)
        for number, kind in enumerate(REGISTRY)
    ]
    start = {"velocity": {"b0": rng.standard_normal(3)}, "rates": {"joint 8": rng.standard_normal(joints[8].dof)}}
    mechanism = vi.Mechanism("one of each", bodies, joints, gravity=rng.standard_normal(3), start=start)
    vi.save_mechanism(mechanism, tmp_path / f"m{suffix}")
    read = vi.load_mechanism(tmp_path / f"m{suffix}")

    assert read.name == mechanism.name
    assert [body.name for body in read.bodies] == [body.name for body in mechanism.bodies]
    for one, other in zip(mechanism.joints, read.joints, strict=True):
        assert type(one) is type(other)
        assert (one.name, one.body_a, one.body_b) == (other.name, other.body_a, other.body_b)
    for one, other in zip(arrays_of(mechanism.compiled.plan), arrays_of(read.compiled.plan), strict=True):
        assert one.tobytes() == other.tobytes()
    assert same_bits(mechanism.state(), read.state(), *NODES[1:])


def test_units_keep_their_bits_when_they_are_checked_again(rng):
    for _ in range(200):
        quat = unit_quaternion(unit(rng, 4) * (1 + rng.uniform(-1e-9, 1e-9)), "quat")
        axis = unit_axis(rng.standard_normal(3), "axis")
        assert unit_quaternion(quat, "quat").tobytes() == quat.tobytes()
        assert unit_axis(axis, "axis").tobytes() == axis.tobytes()


PENDULUM = {
    "name": "pendulum",
    "bodies": [{"name": "bob", "mass": 1.0, "inertia": np.eye(3).tolist()}],
    "joints": [{"type": "Spherical", "name": "pivot", "body_a": "world", "body_b": "bob", "point": [0, 0, 1]}],
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bodies": None}, ()),
        ({"bodies": [{"name": "bob", "mass": 1.0}]}, ("inertia",)),
        ({"bodies": [PENDULUM["bodies"][0] | {"mass": -1}]}, ("bob", "-1")),
        ({"bodies": [PENDULUM["bodies"][0] | {"colour": "red"}]}, ("colour",)),
        ({"joints": [PENDULUM["joints"][0] | {"type": "Sphericl"}]}, ("pivot", "Sphericl", "'Spherical'?")),
        ({"joints": [PENDULUM["joints"][0] | {"type": ["Spherical"]}]}, ()),
        ({"joints": [{"name": "pivot"}]}, ("type",)),
        ({"joints": "none"}, ()),
        ({"gravity": [0, 1]}, ("gravity",)),
        ({"start": "rest"}, ()),
        ({"start": {"speed": {}}}, ("speed",)),
    ],
)
def test_json_that_describes_no_mechanism(tmp_path, change, words):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(PENDULUM))
    vi.load_mechanism(path)
    path.write_text(json.dumps(PENDULUM | change))
    with pytest.raises(vi.MechanismError) as caught:
        vi.load_mechanism(path)
    assert all(word in str(caught.value) for word in (str(path), *words))


@pytest.mark.parametrize("text", ["[]", "3", "null", '"pendulum"', "{}"])
def test_json_of_something_else(tmp_path, text):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(vi.MechanismError, match=r"m\.json"):
        vi.load_mechanism(path)


PYTHON = "import varint as vi\n\ndef build():\n    return {}\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("m.json", '{\n "name": "x",\n "bodies": [,]\n}', "line 3"),
        ("m.json", b"\xff\xfe\x00", "not a text file"),
        ("m.py", "x = 1\ny = (\n", "line 2: SyntaxError"),
        ("m.py", "import varint\n\nimport no_such_module\n", "line 3: ModuleNotFoundError"),
        ("m.py", PYTHON.format("None"), "returned NoneType"),
        ("m.py", "x = 1\n", "defines no build"),
        ("m.py", b"\x00\xff", "m.py"),
    ],
)
def test_mechanism_file_that_cannot_be_read(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(vi.FileError) as caught:
        vi.load_mechanism(path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(("code", "error"), [("1 / 0", ZeroDivisionError), ("vi.Body.box('b')", TypeError)])
def test_errors_of_build_are_its_own(tmp_path, code, error):
    path = tmp_path / "m.py"
    path.write_text(PYTHON.format(code))
    with pytest.raises(error) as caught:
        vi.load_mechanism(path)
    assert caught.value.__notes__ == [f"raised by '{path}', line 4, in build()"]


def test_mechanism_paths_that_do_not_work(tmp_path):
    for name in ("none.json", "none.py", "."):
        with pytest.raises(vi.FileError, match="cannot read"):
            vi.load_mechanism(tmp_path / name)
    with pytest.raises(vi.FileError, match="cannot write"):
        vi.save_mechanism(vi.mechanisms.double_pendulum(), tmp_path / "none" / "m.json")


# runs


@pytest.mark.slow
@pytest.mark.parametrize(("name", "order", "every"), [("double_pendulum", 2, 1), ("four_bar", 4, 7), ("snake", 1, 3)])
def test_run_file_is_the_run(tmp_path, name, order, every):
    build = getattr(vi.mechanisms, name)
    path = tmp_path / "run.h5"
    written = vi.simulate(build(), 2.0, DT, order=order, every=every, output=path)
    plain = vi.simulate(build(), 2.0, DT, order=order, every=every)
    read = vi.load(path)
    for other in (plain, read):
        assert same_bits(written, other, *NODES, "drift", "newton_iterations", "substeps", "steps", "status")
        np.testing.assert_allclose(other.energy, written.energy, rtol=1e-14)
        assert other.success
    assert read.message == written.message
    assert read.wall_time == written.wall_time
    assert len(read.t) == -(-200 // every) + 1
    assert read.t[-1] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "order", "every"), [("double_pendulum", 2, 1), pytest.param("four_bar", 4, 7, marks=pytest.mark.slow)]
)
def test_killed_run_is_readable_and_goes_on_to_the_same_bits(tmp_path, name, order, every):
    path = tmp_path / "run.h5"
    seen = killed_run(path, name, order, every)
    left = vi.load(path)
    assert left.steps >= seen
    assert not left.success
    assert len(left.t) == left.steps // every + 1

    duration = (left.steps + 500) * DT
    build = getattr(vi.mechanisms, name)
    resumed = vi.simulate(build(), duration, DT, order=order, every=every, output=path, resume=True)
    whole = vi.simulate(build(), duration, DT, order=order, every=every)
    for run in (resumed, vi.load(path)):
        assert same_bits(run, whole, *NODES, "newton_iterations", "substeps", "steps", "status")
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_finished_run_is_left_as_it_is(tmp_path, capsys):
    path = tmp_path / "run.h5"
    first = pendulum_run(path, 0.1)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    again = pendulum_run(path, 0.1, resume=True)
    assert capsys.readouterr().err.strip() == f"varint: the run in '{path}' is finished"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    assert again.position.tobytes() == first.position.tobytes()


@pytest.mark.slow
def test_finished_run_goes_on_when_asked_for_longer(tmp_path):
    path = tmp_path / "run.h5"
    pendulum_run(path, 1.0)
    longer = pendulum_run(path, 3.0, resume=True)
    assert same_bits(longer, vi.simulate(vi.mechanisms.double_pendulum(), 3.0, DT), *NODES)
    assert same_bits(vi.load(path), longer, *NODES)


@pytest.mark.slow
def test_run_stopped_by_its_progress_goes_on(tmp_path):
    path = tmp_path / "run.h5"

    def stop(done, steps):
        if done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pendulum_run(path, progress=stop)
    assert 20 < vi.load(path).steps < 100
    assert vi.load(path).status == -1
    assert same_bits(pendulum_run(path, resume=True), vi.simulate(vi.mechanisms.double_pendulum(), 1.0, DT), *NODES)


@pytest.mark.slow
def test_resume_refuses_another_run(tmp_path):
    path = tmp_path / "run.h5"
    pendulum_run(path)
    before = path.read_bytes()
    mechanism = vi.mechanisms.double_pendulum()
    moving = mechanism.state(rates={"joint 1": 1.0})
    others = [
        (mechanism, 0.02, {}, "its dt is 0.01, not 0.02"),
        (mechanism, DT, {"order": 4}, "its scheme is 'rattle', not 'suzuki'"),
        (mechanism, DT, {"tol": 1e-9}, "its tol is 1e-10, not 1e-09"),
        (mechanism, DT, {"every": 2}, "its every is 1, not 2"),
        (mechanism, DT, {"state": moving}, "its start, loads or inputs are others"),
        (mechanism, DT, {"force": {"link 1": (1, 0, 0)}}, "its start, loads or inputs are others"),
        (vi.mechanisms.double_pendulum(angle=0.5), DT, {}, "its mechanism differs in its bodies"),
        (vi.mechanisms.n_pendulum(3), DT, {}, "its mechanism differs in its name"),
    ]
    for other, dt, options, differs in others:
        with pytest.raises(vi.FileError, match=f"holds another run: {differs}"):
            vi.simulate(other, 1.0, dt, output=path, resume=True, **options)
    assert path.read_bytes() == before


def test_resume_needs_a_run(tmp_path):
    with pytest.raises(vi.FileError, match="there is no run in"):
        pendulum_run(tmp_path / "none.h5", resume=True)
    (tmp_path / "text.h5").write_text("not a run")
    with pytest.raises(vi.FileError, match="not a run of varint"):
        pendulum_run(tmp_path / "text.h5", resume=True)


def test_output_that_cannot_be_written(tmp_path):
    (tmp_path / "folder.h5").mkdir()
    for path in (tmp_path / "none" / "run.h5", tmp_path / "folder.h5"):
        with pytest.raises(vi.FileError, match="cannot write"):
            pendulum_run(path)


@pytest.mark.slow
def test_run_file_cut_short_is_never_taken_for_whole(tmp_path):
    path, part = tmp_path / "run.h5", tmp_path / "part.h5"
    pendulum_run(path)
    whole = path.read_bytes()
    for length in [*range(0, 100, 9), *np.linspace(100, len(whole) - 1, 60).astype(int)]:
        part.write_bytes(whole[:length])
        with pytest.raises(vi.FileError, match=r"part\.h5"):
            vi.load(part)


@pytest.mark.slow
def test_killed_run_file_cut_short_or_with_holes(tmp_path, rng):
    path, part = tmp_path / "run.h5", tmp_path / "part.h5"
    killed_run(path, "double_pendulum")
    whole = path.read_bytes()
    damaged = [whole[:60], whole[: len(whole) // 2]]
    for first in (4096 * np.arange(1, 8)).tolist():  # as a machine without power leaves it: some pages were not written
        damaged.append(whole[:first] + bytes(4096 * 4) + whole[first + 4096 * 4 :])
    for number, content in enumerate(damaged):
        part.write_bytes(content)
        began = time.monotonic()
        message = None
        try:
            read = vi.load(part)
        except vi.FileError as problem:
            message = str(problem)
        if message is None:  # what is missing is where nothing of the run lies
            assert number > 0
            assert same_bits(read, vi.load(path), "quat_wxyz")
        elif number < 2:
            assert "cut short" in message
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("content", [b"", b"\x89HDF\r\n\x1a\n", b"# a text\n" * 100, os.urandom(5000), None])
def test_file_that_holds_no_run(tmp_path, content):
    path = tmp_path / "run.h5"
    if content is None:
        with h5py.File(path, "w", libver="v110") as file:
            file["position"] = np.zeros((3, 2, 3))
    else:
        path.write_bytes(content)
    with pytest.raises(vi.FileError, match="not a run of varint"):
        vi.load(path)


def test_run_file_of_another_version(tmp_path):
    path = tmp_path / "run.h5"
    pendulum_run(path)
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = np.bytes_("varint run 0")
    with pytest.raises(vi.FileError, match="another version"):
        vi.load(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *NODES,
        "mechanism",
        "steady_load",
        "blocks",
        "checkpoint",
        "checkpoint/1",
        "checkpoint/0/message",
        "checkpoint/1/state",
    ],
)
def test_run_file_with_a_part_missing(tmp_path, name):
    path = tmp_path / "run.h5"
    pendulum_run(path)
    with h5py.File(path, "r+") as file:
        del file[name]
    with pytest.raises(vi.FileError, match="damaged"):
        vi.load(path)


@pytest.mark.slow
def test_nodes_that_never_reached_the_disk_are_noticed(tmp_path):
    path = tmp_path / "run.h5"
    pendulum_run(path)
    with h5py.File(path, "r+") as file:
        file["quat_wxyz"][40:] = 0.0
    with pytest.raises(vi.FileError, match="damaged"):
        vi.load(path)


@pytest.mark.slow
def test_failed_run_is_in_its_file_up_to_the_failure_and_cannot_go_on(tmp_path):
    path = tmp_path / "run.h5"
    force = np.zeros((101, 3))
    force[50:] = 1e15, 0, 0
    run = {"mechanism": vi.mechanisms.double_pendulum(), "duration": 1.0, "dt": 0.01, "force": {"link 2": force}}
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(**run, output=path)
    loaded = vi.load(path)
    assert (loaded.success, loaded.status, loaded.steps) == (False, 1, 50)
    assert loaded.message == str(caught.value)
    assert np.array_equal(loaded.position, caught.value.trajectory.position)
    assert np.array_equal(loaded.energy, caught.value.trajectory.energy)
    with pytest.raises(vi.FileError, match=r"cannot go on: the step at t = 0\.5 s"):
        vi.simulate(**run, output=path, resume=True)


@pytest.mark.slow
def test_finished_run_can_be_made_longer_but_not_shorter(tmp_path):
    path = tmp_path / "run.h5"
    mechanism = vi.mechanisms.four_bar()
    vi.simulate(mechanism, 0.5, 0.01, output=path)
    longer = vi.simulate(mechanism, 1.0, 0.01, output=path, resume=True)
    assert load_settings(path)["duration"] == 1.0
    assert np.array_equal(longer.position, vi.simulate(mechanism, 1.0, 0.01).position)
    assert np.array_equal(vi.load(path).energy, longer.energy)
    with pytest.raises(vi.ArgumentError, match=r"past 0\.2 s already, at 1 s"):
        vi.simulate(mechanism, 0.2, 0.01, output=path, resume=True)


def test_mechanism_script_imports_from_its_folder(tmp_path):
    (tmp_path / "neighbour_of_the_script.py").write_text("import varint as vi\nmade = vi.mechanisms.tree()\n")
    (tmp_path / "script.py").write_text("from neighbour_of_the_script import made\ndef build():\n    return made\n")
    before = list(sys.path)
    assert vi.load_mechanism(tmp_path / "script.py").name == vi.mechanisms.tree().name
    assert sys.path == before
