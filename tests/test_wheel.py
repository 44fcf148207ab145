"""The wheel holds the licence, every module, and the catalogue; the package runs from it, away from its source."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[2])(sys.argv[1]))"
NEEDED = 77  # of setuptools


def test_what_is_needed_to_build_is_in_the_extra_for_developers():
    assert PROJECT["build-system"]["requires"] == [f"setuptools>={NEEDED}"]
    assert f"setuptools>={NEEDED}" in PROJECT["project"]["optional-dependencies"]["dev"]


@pytest.mark.slow
def test_python_in_the_folder_of_a_checkout_finds_the_mechanisms():
    """There it takes the package from the folder, also where another copy is installed."""
    code = (
        "import sys\nsys.meta_path = [finder for finder in sys.meta_path if 'editable' not in repr(finder)]\n"
        "import varint\nprint(varint.mechanisms.module('four_bar').__file__)"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(ROOT / "mechanisms" / "four_bar.py")


@pytest.mark.slow
@pytest.mark.skipif(int(version("setuptools").split(".")[0]) < NEEDED, reason=f"setuptools below {NEEDED}")
def test_the_wheel_is_whole_and_runs(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    skipped = shutil.ignore_patterns("__pycache__")
    for folder in ("varint", "mechanisms", "examples"):
        shutil.copytree(ROOT / folder, source / folder, ignore=skipped, symlinks=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for what in ("build_sdist", "build_wheel"):
        command = [sys.executable, "-c", BUILD, out, what]
        told = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        file.extractall(tmp_path / "installed")
    (licence,) = [name for name in names if name.endswith("licenses/LICENSE")]
    assert (tmp_path / "installed" / licence).read_text() == (ROOT / "LICENSE").read_text()
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "varint").rglob("*.py")}
    for folder in ("mechanisms", "examples"):
        modules |= {f"varint/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / folder).rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules
    assets = {path.relative_to(ROOT).as_posix() for path in (ROOT / "varint" / "views" / "assets").iterdir()}
    assert len(assets) > 5
    assert assets <= names & packed
    examples = [path for path in (ROOT / "examples").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {f"varint/{path.relative_to(ROOT).as_posix()}" for path in examples} <= names
    assert "varint/py.typed" in names
    (metadata,) = [name for name in names if name.endswith("dist-info/METADATA")]
    assert (tmp_path / "installed" / metadata).read_text().splitlines()[1] == "Name: varint-dynamics"
    assert not [name for name in names if name.endswith((".nbc", ".pyc"))]

    told = subprocess.run(
        [sys.executable, "-c", "import varint; from varint.cli import main; print(varint.__file__); main(['info'])"],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(str(tmp_path / "installed"))
    assert "double_pendulum" in told.stdout
