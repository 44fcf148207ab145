"""Compiled functions that come with a wheel: when they are used, when not, and what is said."""

import json
import os
import shutil
import subprocess
import sys
import types
import venv
import zipfile
from pathlib import Path

import pytest
from numba.core.environment import Environment

from varint.base.numba import cache, njit, shipped
from varint.base.numba.jit import config

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")
ROOT = Path(__file__).parent.parent
V3 = shipped.LEVELS["x86-64"] + shipped.LEVELS["x86-64-v2"] + shipped.LEVELS["x86-64-v3"]
SOURCE = "def f(x):\n    return 2.0 * x\n"


@pytest.fixture
def host(monkeypatch):
    """Sets the features of the processor; at first just those of the class."""

    def set_features(names, machine="x86_64"):
        monkeypatch.setattr(shipped.platform, "machine", lambda: machine)
        monkeypatch.setattr(shipped.binding, "get_host_cpu_features", lambda: dict.fromkeys(names, True))
        shipped.find.cache_clear()

    set_features(V3)
    yield set_features
    shipped.find.cache_clear()


@pytest.fixture
def brought(tmp_path, monkeypatch, host):
    """The folder that came with the package, with the manifest of this process; nothing is kept elsewhere."""
    folder = tmp_path / "came"
    folder.mkdir()
    (folder / shipped.MANIFEST).write_text(json.dumps(shipped.manifest()))
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(config, "CPU_NAME", None)
    monkeypatch.setattr(config, "CPU_FEATURES", None)
    monkeypatch.setattr(cache, "ORIGINS", type(cache.ORIGINS)())
    monkeypatch.setitem(sys.modules, "source_of_f", types.ModuleType("source_of_f"))
    for remembered in (shipped.find, cache.cache_folder, cache.tell):
        remembered.cache_clear()
    yield folder
    for remembered in (shipped.find, cache.cache_folder, cache.tell):
        remembered.cache_clear()


def entry(tmp_path):
    """A compiled function of a file, as another process has it."""
    path = tmp_path / "source_of_f.py"
    path.write_text(SOURCE)
    scope = {"__name__": path.stem}
    exec(compile(SOURCE, str(path), "exec"), scope)
    Environment._memo.clear()
    return njit(scope["f"], seconds=3, what="doubles")


def ship(folder, tmp_path):
    """Compile the function, and move its file to where a wheel has it; its name is then that of the class."""
    made = entry(tmp_path)
    assert made(1.0) == 2.0
    (signature,) = made.overloads
    (path,) = (tmp_path / "own").rglob("*.nbc")
    path.rename(folder / made._cache._name(signature, shipped.CPU_CLASS))
    cache.ORIGINS.clear()
    cache.tell.cache_clear()
    shipped.find.cache_clear()


@pytest.mark.parametrize(
    ("names", "machine", "found"),
    [
        ((), "x86_64", "x86-64"),
        (V3, "x86_64", "x86-64-v3"),
        (V3, "AMD64", "x86-64-v3"),
        ([name for name in V3 if name != "fma"], "x86_64", "x86-64-v2"),
        (V3 + shipped.LEVELS["x86-64-v4"], "x86_64", "x86-64-v4"),
        (V3, "aarch64", "aarch64"),
    ],
)
def test_the_class_of_a_processor(names, machine, found, host):
    host(names, machine)
    assert shipped.cpu_class() == found


def test_a_checkout_brings_nothing_and_says_nothing(tmp_path, brought, capsys):
    (brought / shipped.MANIFEST).unlink()
    assert shipped.find() == (None, "")
    assert entry(tmp_path)(1.0) == 2.0
    assert +cache.ORIGINS == {"compiled": 1}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("varint: compiling doubles")


def test_what_came_is_used_and_nothing_compiled(tmp_path, brought, capsys):
    ship(brought, tmp_path)
    capsys.readouterr()
    made = entry(tmp_path)
    assert made.is_ready
    assert made(3.0) == 6.0
    assert +cache.ORIGINS == {"shipped": 1}
    assert capsys.readouterr().err == ""
    assert not list((tmp_path / "own").rglob("*.nbc"))


def test_what_is_made_for_this_processor_comes_first(tmp_path, brought, monkeypatch, capsys):
    ship(brought, tmp_path)
    capsys.readouterr()
    monkeypatch.setattr(cache.WantedCode, "shipped", False)  # as `varint compile` has it
    made = entry(tmp_path)
    assert not made.is_ready
    assert made(3.0) == 6.0
    assert +cache.ORIGINS == {"compiled": 1}
    monkeypatch.setattr(cache.WantedCode, "shipped", True)
    cache.ORIGINS.clear()
    assert entry(tmp_path)(3.0) == 6.0
    assert +cache.ORIGINS == {"kept": 1}


def test_a_damaged_file_that_came_is_compiled_anew(tmp_path, brought, capsys):
    ship(brought, tmp_path)
    (path,) = brought.glob("*.nbc")
    path.write_bytes(path.read_bytes()[:-10])
    capsys.readouterr()
    assert entry(tmp_path)(3.0) == 6.0
    assert +cache.ORIGINS == {"compiled": 1}
    assert "are damaged: they are compiled anew" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped.manifest())
def test_what_is_for_something_else_is_not_used_and_told(name, tmp_path, brought, capsys):
    ship(brought, tmp_path)
    (brought / shipped.MANIFEST).write_text(json.dumps(shipped.manifest() | {name: "another"}))
    capsys.readouterr()
    assert entry(tmp_path)(3.0) == 6.0
    assert +cache.ORIGINS == {"compiled": 1}
    first, second = capsys.readouterr().err.splitlines()
    why = f"they are for {name} another, here is {shipped.manifest()[name]}"
    assert first == f"varint: the compiled functions that came with varint cannot be used: {why}"
    assert second.startswith("varint: compiling doubles, about ")


def test_processors_and_names_that_do_not_fit(brought, host, monkeypatch):
    host(shipped.LEVELS["x86-64"])
    assert shipped.find() == (None, "they are for processors of class x86-64-v3, here is x86-64")
    host(V3, "aarch64")
    assert shipped.find() == (None, "they are for processors of class x86-64-v3, here is aarch64")
    host(V3 + shipped.LEVELS["x86-64-v4"])
    assert shipped.find() == (brought, "")
    shipped.find.cache_clear()
    monkeypatch.setattr(config, "CPU_NAME", "generic")
    assert shipped.find() == (None, "they are for processors of class x86-64-v3, NUMBA_CPU_NAME names generic")


@pytest.mark.parametrize("text", ["", "[]", "null", "{"])
def test_a_manifest_that_is_none(text, brought):
    (brought / shipped.MANIFEST).write_text(text)
    folder, why_not = shipped.find()
    assert folder is None
    assert why_not


# --------------------------------------------------------------------------------------------- the wheel itself


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done


RUN = """
import sys
from varint.base.numba.cache import ORIGINS
from varint.cli import main
code = main(["run", "four_bar", "--duration", "1", "--dt", "0.01", "--json"])
print(dict(+ORIGINS), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(shipped.cpu_class() not in ("x86-64-v3", "x86-64-v4"), reason="the processor is below x86-64-v3")
def test_a_run_from_the_wheel_compiles_nothing(tmp_path):
    """In an environment of its own, elsewhere, with a home and a cache that are empty; the packages are those here."""
    out, home, elsewhere = tmp_path / "dist", tmp_path / "home", tmp_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
    left = ("PYTHONPATH", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in left} | {"HOME": str(home)}
    builder = [sys.executable, ROOT / "packaging" / "build_wheels.py", "--here", "--out", out]
    run([*builder, "--kind", "poses", "--kind", "steps"], env=environment, cwd=elsewhere)
    (wheel,) = out.glob("*manylinux*.whl")
    assert f"cp{sys.version_info.major}{sys.version_info.minor}-none" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "varint/py.typed" in names
    assert sum(name.endswith(".nbc") for name in names) > 20

    venv.create(tmp_path / "venv", with_pip=True)
    python = next((tmp_path / "venv").glob("[bS]*/python*"))
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).stdout.strip())
    run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], env=environment, cwd=elsewhere)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    (site / "packages.pth").write_text("\n".join(packages))
    options = {"env": environment, "cwd": elsewhere}

    done = run([python, "-c", RUN], **options)
    assert json.loads(done.stdout)["success"]
    told = done.stderr.splitlines()
    assert len(told) == 1, told
    assert set(eval(told[0])) == {"shipped"}
    assert not list(home.rglob("*.nbc"))
    report = json.loads(run([python, "-m", "varint", "doctor", "--json"], **options).stdout)
    assert report["compiled"] == "shipped"
    assert Path(report["place"]) == site / "varint"
    listed = json.loads(run([python, "-m", "varint", "examples", "--copy", "copied", "--json"], **options).stdout)
    assert (elsewhere / "copied" / "four_bar.py").read_text() == (ROOT / "examples" / "four_bar.py").read_text()
    assert len(listed["output"]) > 10

    manifest = site / "varint" / "_compiled" / shipped.MANIFEST
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"numba": "0.0.0"}))
    done = run([python, "-c", RUN], **options)
    assert json.loads(done.stdout)["success"]
    first, *announced, origins = done.stderr.splitlines()
    assert first.startswith("varint: the compiled functions that came with varint cannot be used: they are for numba 0")
    assert any("compiling steps in maximal coordinates" in line for line in announced)
    assert set(eval(origins)) == {"compiled", "kept"}  # one by a process of its own
    shutil.rmtree(tmp_path / "venv")
