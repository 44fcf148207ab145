"""Files that are saved: whole or not at all, and never in place of what belongs to others."""

import contextlib
import errno
import hashlib
import os
import resource
import signal
import stat
import threading

import pytest

import varint as vi
from varint.base import atomic_writes as whole
from varint.cli import main
from varint.views.plots import plot_run

OLD = b"what was there before, and is worth more than a file that is cut short\n" * 3
MODE = 0o640
FEW = 64  # bytes, less than any file here has


def double_pendulum():
    """A tree of hinges, which a URDF holds without a companion."""
    return vi.mechanisms.double_pendulum()


@pytest.fixture(scope="module")
def run():
    return vi.simulate(double_pendulum(), 0.1, 0.01)


@pytest.fixture(scope="module")
def comparison():
    return vi.compare(double_pendulum(), 0.04, (0.02, 0.01))


SAVES = {
    "m.json": lambda run, comparison, path: vi.save_mechanism(run.mechanism, path),
    "m.toml": lambda run, comparison, path: vi.save_mechanism(run.mechanism, path),
    "m.urdf": lambda run, comparison, path: vi.save_mechanism(run.mechanism, path),
    "m.xml": lambda run, comparison, path: vi.save_mechanism(run.mechanism, path),
    "m.png": lambda run, comparison, path: run.mechanism.plot(path=path),
    "energy.pdf": lambda run, comparison, path: run.plot("energy", path=path),
    "energy.svg": lambda run, comparison, path: run.plot("energy", path=path),
    "all.png": lambda run, comparison, path: plot_run(run, path),
    "film.gif": lambda run, comparison, path: run.animate(path),
    "page.html": lambda run, comparison, path: run.view(path),
    "table.csv": lambda run, comparison, path: run.to_csv(path),
    "page.md": lambda run, comparison, path: comparison.save(path),
    "numbers.json": lambda run, comparison, path: comparison.save(path),
    "errors.png": lambda run, comparison, path: comparison.save(path),
}
EACH = pytest.mark.parametrize("name", SAVES)


@pytest.fixture
def save(run, comparison):
    return lambda path: SAVES[path.name](run, comparison, path)


@contextlib.contextmanager
def full_disk(size):
    """No file may grow beyond ``size`` bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def old_file(path):
    path.write_bytes(OLD)
    path.chmod(MODE)
    return path


def fail_to_replace(monkeypatch, number):
    """The replacement of that number, from 0, fails."""
    replace, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == number + 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(source, target)

    monkeypatch.setattr(whole.os, "replace", failing)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------------------------------- whole or not at all


@pytest.mark.many
@pytest.mark.slow
@EACH
def test_a_full_disk_leaves_the_old_file(name, save, tmp_path):
    path = old_file(tmp_path / name)
    with full_disk(FEW), pytest.raises(vi.FileError, match=f"cannot write '.*{name}': File too large"):
        save(path)
    assert contents(tmp_path) == {name: OLD}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_a_full_disk_leaves_the_old_film(suffix, run, tmp_path):
    """Which another program writes."""
    pytest.importorskip("imageio_ffmpeg", reason="needs the extra varint-dynamics[film]")
    path = old_file(tmp_path / f"film{suffix}")
    with full_disk(FEW), pytest.raises(vi.FileError, match=f"cannot write '.*film{suffix}': "):
        run.animate(path)
    assert contents(tmp_path) == {path.name: OLD}
    run.animate(path)
    assert path.read_bytes() != OLD
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.many
@pytest.mark.slow
@EACH
def test_a_replacement_that_fails_leaves_the_old_file(name, save, tmp_path, monkeypatch):
    path = old_file(tmp_path / name)
    fail_to_replace(monkeypatch, 0)
    with pytest.raises(vi.FileError, match=f"cannot write '.*{name}': Input/output error"):
        save(path)
    assert contents(tmp_path) == {name: OLD}


@pytest.mark.slow
@EACH
def test_links_and_modes_are_kept(name, save, tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    target = old_file(store / f"other{os.path.splitext(name)[1]}")
    link = tmp_path / name
    link.symlink_to(target)
    save(link)
    assert link.is_symlink()
    assert target.read_bytes() != OLD
    assert stat.S_IMODE(target.stat().st_mode) == MODE
    assert [*store.iterdir()] == [target]
    assert sorted(tmp_path.iterdir()) == sorted([store, link])


def test_a_new_file_has_the_mode_of_others(tmp_path, save):
    save(tmp_path / "m.json")
    (tmp_path / "other").touch()
    assert (tmp_path / "m.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_content_is_on_the_disk_before_it_replaces(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(whole.os, "fsync", lambda handle: (done.append(os.fstat(handle).st_ino), sync(handle)))
    monkeypatch.setattr(whole.os, "replace", lambda a, b: (done.append(os.stat(a).st_ino), replace(a, b)))
    vi.save_mechanism(double_pendulum(), tmp_path / "m.json")
    assert done == 2 * [(tmp_path / "m.json").stat().st_ino]


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_a_replaced_file_keeps_its_owner(tmp_path):
    path = old_file(tmp_path / "m.json")
    os.chown(path, 12345, 12346)
    vi.save_mechanism(double_pendulum(), path)
    assert (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (12345, 12346, MODE)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes to any file")
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = old_file(tmp_path / "m.json")
    path.chmod(0o440)
    with pytest.raises(vi.FileError, match=r"cannot write '.*m.json': Permission denied"):
        vi.save_mechanism(double_pendulum(), path)
    assert contents(tmp_path) == {"m.json": OLD}


def test_a_pipe_is_written_to(tmp_path):
    path, read = tmp_path / "m.json", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    vi.save_mechanism(double_pendulum(), path)
    reader.join(10)
    assert stat.S_ISFIFO(path.stat().st_mode)
    vi.save_mechanism(double_pendulum(), tmp_path / "same.json")
    assert read == [(tmp_path / "same.json").read_bytes()]


def test_long_names(tmp_path):
    path = tmp_path / f"{'n' * 250}.json"
    vi.save_mechanism(double_pendulum(), path)
    assert [*tmp_path.iterdir()] == [path]


# ------------------------------------------------------------------------------------------- companions of robots

BY_HAND = b"""# tuned for a week
include = "m.urdf"

[forces.motor]
type = "Motor"
joint = "joint 1"
effort = 2.0
"""
OTHER = b"# of another program\n[tool]\nsize = 3\n"


def with_motor(effort=2.0):
    """A tree that a URDF holds but for its force."""
    mechanism = double_pendulum()
    forces = [vi.Motor("motor", joint=mechanism.joints[0].name, effort=effort)]
    return vi.Mechanism("m", mechanism.bodies, mechanism.joints, forces=forces)


def test_a_companion_is_rewritten_and_removed_with_its_robot(tmp_path):
    path, other = tmp_path / "m.urdf", tmp_path / "m.toml"
    for effort in (2.0, 3.0):
        vi.save_mechanism(with_motor(effort), path)
        assert other.read_text().startswith('# Companion of "m.urdf": ')
        assert vi.load_mechanism(other).forces[0].effort == effort
    vi.save_mechanism(double_pendulum(), path)
    assert [*tmp_path.iterdir()] == [path]
    assert not vi.load_mechanism(path).forces


@pytest.mark.parametrize("content", [BY_HAND, OTHER, b"no TOML \xff"])
def test_a_file_in_the_place_of_a_companion_is_kept(content, tmp_path):
    path, other = tmp_path / "m.urdf", tmp_path / "m.toml"
    other.write_bytes(content)
    for before in (None, OLD):
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(
            vi.FileError, match=r"m.urdf': .* belong in '.*m.toml', a file that was not saved with it: overwrite="
        ):
            vi.save_mechanism(with_motor(), path)
        assert contents(tmp_path) == {"m.toml": content} | ({} if before is None else {"m.urdf": before})
    vi.save_mechanism(with_motor(), path, overwrite=True)
    assert vi.load_mechanism(other).forces[0].effort == 2.0


def test_a_companion_without_its_first_line_is_kept(tmp_path):
    vi.save_mechanism(with_motor(), tmp_path / "m.urdf")
    other = tmp_path / "m.toml"
    other.write_text(other.read_text().partition("\n")[2])
    before = contents(tmp_path)
    with pytest.raises(vi.FileError, match="a file that was not saved with it"):
        vi.save_mechanism(with_motor(3.0), tmp_path / "m.urdf")
    assert contents(tmp_path) == before


def test_a_companion_is_of_one_robot(tmp_path):
    vi.save_mechanism(with_motor(), tmp_path / "leg.urdf")
    (tmp_path / "leg.toml").rename(tmp_path / "m.toml")
    with pytest.raises(vi.FileError, match="a file that was not saved with it"):
        vi.save_mechanism(with_motor(3.0), tmp_path / "m.urdf")


def test_a_robot_that_needs_no_companion_is_not_mixed_with_another_file(tmp_path):
    """What includes the robot would act on the new one; any other file has nothing to do with it."""
    path, other = tmp_path / "m.urdf", tmp_path / "m.toml"
    other.write_bytes(BY_HAND)
    with pytest.raises(vi.FileError, match=r"m.urdf': '.*m.toml' includes it .* overwrite=True removes it"):
        vi.save_mechanism(double_pendulum(), path)
    assert contents(tmp_path) == {"m.toml": BY_HAND}
    vi.save_mechanism(double_pendulum(), path, overwrite=True)
    assert [*tmp_path.iterdir()] == [path]
    for overwrite in (False, True):
        other.write_bytes(OTHER)
        vi.save_mechanism(double_pendulum(), path, overwrite=overwrite)
        assert other.read_bytes() == OTHER


@pytest.mark.parametrize("before", [None, with_motor, double_pendulum], ids=["new", "with companion", "alone"])
@pytest.mark.parametrize("after", [lambda: with_motor(3.0), double_pendulum], ids=["with companion", "alone"])
@pytest.mark.parametrize("number", [0, 1, FEW])
def test_an_error_leaves_robot_and_companion(before, after, number, tmp_path, monkeypatch):
    """The first replacement fails, or the second, or the disk is full."""
    path = tmp_path / "m.urdf"
    if before is not None:
        vi.save_mechanism(before(), path)
    there = contents(tmp_path)
    with monkeypatch.context() as patched:
        if number != FEW:
            fail_to_replace(patched, number)
        with full_disk(FEW) if number == FEW else contextlib.nullcontext():
            if number == 1 and after is double_pendulum:  # which replaces one file
                vi.save_mechanism(after(), path)
                return
            with pytest.raises(vi.FileError, match="cannot write"):
                vi.save_mechanism(after(), path)
    assert contents(tmp_path) == there


@pytest.mark.slow
@pytest.mark.parametrize("before", [None, with_motor, double_pendulum], ids=["new", "with companion", "alone"])
@pytest.mark.parametrize("after", [lambda: with_motor(3.0), double_pendulum], ids=["with companion", "alone"])
def test_a_kill_between_the_two_files_is_noticed(before, after, tmp_path):
    """At each replacement and removal: the old pair loads, or the new one, or the files are refused."""
    path, other = tmp_path / "m.urdf", tmp_path / "m.toml"
    efforts = [[] if made is None else [float(f.effort) for f in made().forces] for made in (before, after)]
    for number in range(9):
        for left in tmp_path.iterdir():
            left.unlink()
        if before is not None:
            vi.save_mechanism(before(), path)
        killed = killed_at(number, lambda: vi.save_mechanism(after(), path))
        present = other if other.exists() else path
        if is_mixed(tmp_path):
            assert killed
            for file in {path, present}:
                with pytest.raises(vi.FileError, match="was interrupted"):
                    vi.load_mechanism(file)
        elif present.exists():
            assert [float(force.effort) for force in vi.load_mechanism(present).forces] in efforts
        vi.save_mechanism(with_motor(5.0), path)
        assert vi.load_mechanism(other).forces[0].effort == 5.0
        assert not [*tmp_path.glob("*.saving")]
        if not killed:
            break
    assert number > 0
    assert not killed


def is_mixed(folder):
    """Whether the marker names the one file that is there and not the other one."""
    marker = folder / "m.urdf.saving"
    contents = [file.read_bytes() if file.exists() else b"" for file in (folder / "m.urdf", folder / "m.toml")]
    digests = marker.read_text().split() if marker.exists() else []
    new = [hashlib.sha256(c).hexdigest() == digest for c, digest in zip(contents, digests, strict=False)]
    return len(set(new)) == 2


def killed_at(number, save):
    """Whether ``save`` came to that replacement or removal of a file, from 0, in a process that is killed there."""
    if (child := os.fork()) == 0:
        calls = []

        def die(function):
            def counted(*arguments):
                if len(calls) == number:
                    os.kill(os.getpid(), signal.SIGKILL)
                calls.append(arguments)
                return function(*arguments)

            return counted

        os.replace, os.unlink = die(os.replace), die(os.unlink)
        try:
            save()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_marker_of_a_save_that_says_nothing(tmp_path):
    """It was cut short before any file was replaced, or both files are old, or both new."""
    path = tmp_path / "m.urdf"
    vi.save_mechanism(with_motor(), path)
    marker = tmp_path / "m.urdf.saving"
    new = "".join(hashlib.sha256(file.read_bytes()).hexdigest() + "\n" for file in (path, tmp_path / "m.toml"))
    for content in ("", new[:70], "0\n0\n", new, "\udc80"):
        marker.write_text(content, errors="surrogateescape")
        assert vi.load_mechanism(tmp_path / "m.toml").forces[0].effort == 2.0
    marker.write_text(new)
    path.write_text(path.read_text() + "<!-- by hand -->")
    with pytest.raises(vi.FileError, match=r"'.*m.toml' is new, and '.*m.urdf' is not.* remove '.*m.urdf.saving'"):
        vi.load_mechanism(tmp_path / "m.toml")


def test_a_disk_with_room_for_the_robot_alone(tmp_path):
    path = tmp_path / "m.urdf"
    many = [vi.Motor(f"motor {k}", joint=double_pendulum().joints[0].name, effort=1.0) for k in range(100)]
    large = vi.Mechanism("m", double_pendulum().bodies, double_pendulum().joints, forces=many)
    vi.save_mechanism(with_motor(), path)
    there = contents(tmp_path)
    with (
        full_disk(len(there["m.urdf"]) + 1000),
        pytest.raises(vi.FileError, match=r"cannot write '.*m.toml': File too"),
    ):
        vi.save_mechanism(large, path)
    assert contents(tmp_path) == there


def test_convert_replaces_a_companion_of_others_by_force(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.toml").write_bytes(BY_HAND)
    assert main(["convert", "four_bar", "m.urdf"]) == 2
    assert "a file that was not saved with it: --force replaces it" in capsys.readouterr().err
    assert contents(tmp_path) == {"m.toml": BY_HAND}
    assert main(["convert", "four_bar", "m.urdf", "--force"]) == 0
    assert capsys.readouterr().out.split() == ["m.urdf", "m.toml"]
    assert vi.load_mechanism("m.toml").name == "four-bar"
    capsys.readouterr()


def test_overwrite_is_a_flag(tmp_path):
    with pytest.raises(vi.ArgumentError, match="overwrite must be True or False, got 'yes'"):
        vi.save_mechanism(double_pendulum(), tmp_path / "m.urdf", overwrite="yes")
