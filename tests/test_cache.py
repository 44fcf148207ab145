"""The cache of compiled functions: damaged files, full disks, folders of others, two processes; what is said of it."""

import errno
import io
import os
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest
from numba.core.environment import Environment

import varint as vi
from varint.base.numba import cache, njit
from varint.base.numba.jit import config
from varint.base.numba.pace import PACE
from varint.step import step

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")
posix_only = pytest.mark.skipif(not hasattr(os, "getuid"), reason="about owners and modes of files")

SCRIPT = """
import sys
import numpy as np
from varint.base.numba import Float1, indirect, njit

@indirect(seconds=3, what="pairs")
def doubled(out: Float1) -> float:
    out[0] *= 2.0
    return out[0]

@njit(seconds=4, what="pairs")
def entry(out):
    return doubled(out) + 1.0

@njit
def silent(x):
    return x + 1.0

@njit
def once_more(x):
    return x * 3.0

if "full" in sys.argv:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
doubled.prepare()
assert entry(np.array([3.0])) == 7.0
assert (silent(2.0), silent(2), once_more(2.0)) == (3.0, 3.0, 6.0)
functions = doubled.compiled, entry, silent, once_more
print(*(sum(function.stats.cache_hits.values()) for function in functions))
"""


@pytest.fixture(autouse=True)
def as_estimated(monkeypatch):
    """Estimates are as they are written, whatever was compiled before."""
    monkeypatch.setattr(PACE, "spent", 0.0)


@pytest.fixture
def process(tmp_path):
    """Starts `SCRIPT` with a cache folder of the test's own."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)

    def start(*arguments):
        command = [sys.executable, str(path), *arguments]
        return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return start


def outcome(process):
    """Loads from the cache by function, and the lines on stderr."""
    out, error = process.communicate()
    assert process.returncode == 0, error
    return [int(number) for number in out.split()], error.splitlines()


def files_in(tmp_path):
    return sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file())


AGAIN = "and again in each process, for no folder can be written: set NUMBA_CACHE_DIR"
ANNOUNCED = [f"varint: compiling pairs, about {seconds} s, once on a machine ..." for seconds in (7, 3, 4)]
WHOLE, *EACH = ANNOUNCED  # both functions together, and either alone


@pytest.mark.slow
def test_damaged_files_are_compiled_anew_and_overwritten(tmp_path, process):
    """Cut off, empty, garbage, one bit wrong. Two processes that compile at once are both right, before that."""
    for hits, lines in map(outcome, [process(), process()]):
        assert all(hits[k] <= (1, 1, 2, 1)[k] for k in range(4))
        assert set(lines) <= set(ANNOUNCED)
    files = files_in(tmp_path)
    assert [path.suffix for path in files] == [".nbc"] * 5  # one of them for two types; nothing half-written

    by_name = {re.search(r"__main__\.(\w+)-", path.name)[1]: path for path in files}
    content = {path: path.read_bytes() for path in files}
    half = content[by_name["doubled"]]
    by_name["doubled"].write_bytes(half[: len(half) // 2])
    by_name["entry"].write_bytes(b"")
    flipped = bytearray(content[by_name["silent"]])
    flipped[-100] ^= 1
    by_name["silent"].write_bytes(flipped)
    by_name["once_more"].write_bytes(b"garbage" * 1000)
    hits, lines = outcome(process())
    assert hits == [0, 0, 1, 0]
    (folder,) = {path.parent for path in files}
    told = f"varint: files in the compile cache '{folder}' are damaged: they are compiled anew"
    assert sorted(lines) == sorted([told, *EACH])  # each was there, as far as one can tell before it is read
    assert outcome(process()) == ([1, 1, 2, 1], [])


@pytest.mark.slow
def test_a_full_disk_does_not_end_the_run(tmp_path, process):
    pytest.importorskip("resource")
    hits, lines = outcome(process("full"))
    assert hits == [0, 0, 0, 0]
    assert lines[0] == WHOLE
    assert lines[1:] == [
        f"varint: compiled functions cannot be kept in '{next((tmp_path / 'cache' / 'varint').iterdir())}'"
        f" ({os.strerror(errno.EFBIG)}): they are compiled again in each process"
    ]
    assert files_in(tmp_path) == []
    assert outcome(process())[0] == [0, 0, 0, 0]
    assert len(files_in(tmp_path)) == 5


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The environment of a new process: a home and a temporary folder, nothing found yet."""
    home, shared = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    shared.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    cache.cache_folder.cache_clear()
    cache.tell.cache_clear()
    yield home, shared
    cache.cache_folder.cache_clear()
    cache.tell.cache_clear()


def fallback(shared):
    owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    return shared / f"varint{owner}" / cache.COMMON_HASH


def test_the_folder_is_in_the_home_and_private(places, capsys):
    home, _ = places
    folder = cache.cache_folder()
    assert folder == home / ".cache" / "varint" / cache.COMMON_HASH
    for made in (folder, folder.parent, folder.parent.parent):
        assert os.name == "nt" or made.stat().st_mode & 0o777 == 0o700
    assert capsys.readouterr().err == ""


def no_home(monkeypatch, home):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])  # nor an entry of the user: KeyError


HOMES = {
    "neither HOME nor an entry of the user": no_home,
    "HOME is a file": lambda monkeypatch, home: (home.rmdir(), home.write_text("")),
    "HOME is missing": lambda monkeypatch, home: home.rmdir(),
    "HOME is relative": lambda monkeypatch, home: monkeypatch.setenv("HOME", "somewhere"),
    ".cache is a file": lambda monkeypatch, home: (home / ".cache").write_text(""),
    "XDG_CACHE_HOME is a file": lambda monkeypatch, home: monkeypatch.setenv("XDG_CACHE_HOME", __file__),
}


@posix_only
@pytest.mark.parametrize("what", HOMES)
def test_without_a_home_the_temporary_folder_serves(what, places, monkeypatch, capsys):
    home, shared = places
    HOMES[what](monkeypatch, home)
    assert cache.cache_folder() == fallback(shared)
    assert fallback(shared).stat().st_mode & 0o777 == 0o700
    assert capsys.readouterr().err == ""


def test_a_relative_folder_for_caches_is_passed_over(places, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert cache.cache_folder() == places[0] / ".cache" / "varint" / cache.COMMON_HASH
    assert not Path("caches").exists()


def open_to_others(folder, monkeypatch):
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def owned_by_another(folder, monkeypatch):
    folder.mkdir(parents=True)
    number = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: number)


def linked(folder, monkeypatch):
    folder.parent.mkdir(parents=True, exist_ok=True)
    (folder.parent / "elsewhere").mkdir(exist_ok=True)
    folder.symlink_to(folder.parent / "elsewhere")


UNSAFE = {
    "other users can write to": open_to_others,
    "belongs to another user": owned_by_another,
    "is a link": linked,
}


@posix_only
@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("what", UNSAFE)
def test_a_folder_that_is_not_the_users_alone_is_refused(what, depth, places, monkeypatch, capsys):
    """Neither the folder itself nor the one that it lies in."""
    home, shared = places
    folder = home / ".cache" / "varint" / cache.COMMON_HASH
    unsafe = (folder.parent, folder)[depth]
    UNSAFE[what](unsafe, monkeypatch)
    assert cache.cache_folder() != folder
    told = capsys.readouterr().err
    assert what in told
    assert "NUMBA_CACHE_DIR" in told
    if what != "belongs to another user":  # all folders here do, once the number of the user is another
        assert f"'{unsafe}'" in told
        assert cache.cache_folder() == fallback(shared)


@posix_only
@pytest.mark.parametrize("what", UNSAFE)
def test_a_temporary_folder_of_another_is_not_used(what, places, monkeypatch, capsys):
    """Whoever made it first could have put code there: then nothing is kept, and each process says so."""
    home, shared = places
    home.rmdir()
    if what == "belongs to another user":
        number = os.getuid() + 1
        (shared / f"varint-{number}").mkdir()
        monkeypatch.setattr(os, "getuid", lambda: number)
    else:
        UNSAFE[what](shared / f"varint-{os.getuid()}", monkeypatch)
    assert cache.cache_folder() is None
    assert what in capsys.readouterr().err

    @njit(seconds=3)
    def entry(x):
        return 2.0 * x

    assert entry(4.0) == 8.0
    assert capsys.readouterr().err.endswith(f".entry, about 3 s, {AGAIN} ...\n")
    assert not [path for path in shared.rglob("*") if path.is_file()]


@posix_only
def test_the_folder_that_the_user_names_is_not_checked(places, tmp_path, monkeypatch, capsys):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(config, "CACHE_DIR", str(shared))
    assert cache.cache_folder() == shared / "varint" / cache.COMMON_HASH
    owned_by_another(tmp_path / "any", monkeypatch)
    cache.cache_folder.cache_clear()
    assert cache.cache_folder() == shared / "varint" / cache.COMMON_HASH
    assert capsys.readouterr().err == ""


def test_a_folder_that_the_user_names_and_that_cannot_be_used_is_told(places, tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "file"))
    assert cache.cache_folder() is None
    assert f"compiled functions are not kept in '{tmp_path / 'file' / 'varint'}'" in capsys.readouterr().err


def test_without_any_folder_each_process_compiles(places, monkeypatch, capsys):
    def full():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    places[0].rmdir()
    monkeypatch.setattr(tempfile, "gettempdir", full)
    assert cache.cache_folder() is None

    @njit(seconds=3)
    def entry(x):
        return 2.0 * x

    assert entry(4.0) == 8.0
    assert capsys.readouterr().err.endswith(f".entry, about 3 s, {AGAIN} ...\n")


def test_nothing_to_write_to_ends_no_run(monkeypatch):
    """stderr may lie on the disk that is full, or be missing."""

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    for stream in (Full(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        cache.tell(f"told to {stream}")


def test_systems_without_user_numbers(places, monkeypatch):
    """As on Windows, whose folders for temporary files belong to one user each."""
    monkeypatch.delattr(os, "getuid", raising=False)
    places[0].rmdir()
    assert cache.cache_folder() == places[1] / "varint" / cache.COMMON_HASH


def test_what_was_typed_in_is_not_kept(places):
    """No file tells whether it has changed."""
    scope = {}
    exec("def f(x):\n    return x + 1.0\n", {"__name__": "typed"}, scope)
    assert njit(scope["f"])(1.0) == 2.0
    assert not list(places[0].rglob("*.nbc"))


def compiled_from(path, factor):
    path.write_text(f"def f(x):\n    return {factor} * x\n")
    scope = {"__name__": path.stem}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return njit(scope["f"])


def test_a_changed_source_is_compiled_anew(places, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "source_of_f", types.ModuleType("source_of_f"))
    for factor in (2.0, 3.0, 2.0):
        entry = compiled_from(tmp_path / "source_of_f.py", factor)
        assert entry(1.0) == factor
    assert sum(entry.stats.cache_hits.values()) == 1  # that of the first pass
    assert len(list(places[0].rglob("*.nbc"))) == 2


def test_functions_of_no_module_are_compiled_anew(places, tmp_path, monkeypatch):
    """As those of a script that is read by its path: numba cannot import their module."""
    for _ in range(2):
        monkeypatch.setattr(Environment, "_memo", {})  # as in another process
        entry = compiled_from(tmp_path / "nowhere.py", 2.0)
        assert entry(1.0) == 2.0
        assert not entry.stats.cache_hits


AHEAD = """
import os, sys
from varint.base.numba import njit
from varint.base.numba.cache import ORIGINS, WantedCode

if not WantedCode.ahead and "FAILS" in os.environ:
    sys.exit("the process that compiles ahead ends early")

@njit(seconds=1, what="the first")
def first(x):
    return x + 1.0

@njit(seconds=2, what="the second", ahead="the first")
def second(x: float) -> float:
    return 2.0 * x
"""
CALLS = """
import pathlib, time
from ahead import *
one, end = first(1.0), time.monotonic() + 60.0
while "FAILS" not in os.environ and time.monotonic() < end:  # until the other process is done, on a busy machine too
    if any(pathlib.Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*second*.nbc")):
        break
    time.sleep(0.05)
print(second(one), sorted(ORIGINS.items()))
"""


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs a second core")
@pytest.mark.parametrize("fails", [{}, {"FAILS": "yes"}])
def test_another_process_compiles_what_will_be_needed(fails, tmp_path):
    (tmp_path / "ahead.py").write_text(AHEAD)
    folders = [str(tmp_path), str(Path(vi.__file__).parents[1])]
    given = os.environ | fails | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run([sys.executable, "-c", CALLS], env=given, capture_output=True, text=True)
    origins = [("compiled", 2)] if fails else [("compiled", 1), ("kept", 1)]
    assert done.stdout == f"4.0 {origins}\n", done.stderr
    assert done.stderr.splitlines() == [
        "varint: compiling the first, about 1 s, once on a machine ...",
        "varint: compiling the second, about 2 s, at the same time ...",
    ]


def test_what_is_compiled_ahead_is_annotated_as_it_is_called():
    vi.simulate(vi.mechanisms.four_bar(), 0.02, 0.01)
    assert list(step.run.overloads) == [step.run.annotated]


RUN = """
import hashlib
import varint as vi
run = vi.simulate(vi.mechanisms.governor(), 0.05, 0.01)
digest = hashlib.sha256(run.position.tobytes() + run.acceleration.tobytes())
digest.update(vi.redmax.simulate(vi.mechanisms.governor(), 0.05, dt=0.01).position.tobytes())
print(digest.hexdigest())
"""


def said(code, environment):
    """The lines on stderr of a process that runs ``code``."""
    head = "import varint as vi; m = vi.mechanisms.four_bar()\n"
    done = subprocess.run([sys.executable, "-c", head + code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


ONCE = r"varint: compiling ([\w ]+), about \d+ s, (?:once on a machine|at the same time) \.\.\."
STEPS = ["the solver of joints", "steps in maximal coordinates"]  # the second by a process of its own
COMPILED = {
    "vi.simulate(m, 0.02, 0.01).drift": STEPS,
    "vi.simulate(m, 0.02, 0.01).reactions['crank pivot']": [*STEPS, "reactions"],
    "vi.redmax.simulate(m, 0.02, 0.01, integrator='sdirk2')": [
        STEPS[0],
        "reduced coordinates",
        "implicit steps in reduced coordinates",
    ],
    "m.diagnose()": [STEPS[0], "the diagnosis of poses"],
    "m.sweep('crank pivot', [0.0, 0.1]); m.assemble(m.state())": STEPS[:1],
    "vi.simulate(vi.mechanisms.roller_coaster(), 0.02, 0.01)": [*STEPS, "joints as products of exponentials"],
}
ALWAYS = list(COMPILED)[2:3]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    "code", [*ALWAYS, *(pytest.param(c, marks=pytest.mark.long) for c in COMPILED if c not in ALWAYS)]
)
def test_what_is_compiled_is_announced_once_and_never_again(code, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    lines = said(code, environment)
    assert [re.fullmatch(ONCE, line)[1] for line in lines] == COMPILED[code]
    assert said(code, environment) == []


@pytest.mark.long
@pytest.mark.slow
def test_where_nothing_can_be_kept_each_process_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "file")}
    for _ in range(2):
        refused, *lines = said("vi.simulate(m, 0.02, 0.01)", environment)
        assert refused.startswith(f"varint: compiled functions are not kept in '{tmp_path / 'file' / 'varint'}'")
        assert [line.partition(", about ")[0] for line in lines] == [f"varint: compiling {what}" for what in STEPS]
        assert all(line.endswith(f" s, {AGAIN} ...") for line in lines)


@pytest.mark.long
@pytest.mark.slow
def test_damaged_files_of_the_real_kernels(tmp_path):
    """Cut to half and emptied in turn: the same bits, announced, and whole files afterwards."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run():
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.splitlines()

    first, announced = run()
    assert [re.fullmatch(ONCE, line)[1] for line in announced] == [
        *STEPS,
        "forces",
        "efforts at recorded nodes",
        "reactions",
        "reduced coordinates",
        "forces in reduced coordinates",
        "explicit steps in reduced coordinates",
    ]
    assert run() == (first, [])
    files = files_in(tmp_path)
    assert len(files) > 20
    for k, path in enumerate(files):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if k % 2 else b"")
    out, lines = run()
    assert out == first
    assert "are damaged" in lines[0]
    assert {line.split(", about")[0] for line in lines[1:]} == {line.split(", about")[0] for line in announced}
    assert run() == (first, [])
    assert files_in(tmp_path) == files
