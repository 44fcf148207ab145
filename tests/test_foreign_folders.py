"""Commands started in a folder of files of others: nothing of it is run, and its settings change no picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import varint

COMMAND = "import sys; from varint.cli import main; sys.exit(main())"  # as the script that is installed begins
MODULES = ["json", "queue", "gc", "signal", "threading", "cloudpickle", "numpy", "numba", "scipy", "h5py", "networkx"]
TEXT = """name = "m"
[parameters]
mass = 1.0
[bodies.a]
mass = "mass"
inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
position = [0, 0, -1]
[joints.j]
type = "Revolute"
body_a = "world"
body_b = "a"
point = [0, 0, 0]
axis = [0, 1, 0]
"""


def ran(folder, *argv):
    """Return the finished command, started in the folder."""
    environment = os.environ | {"PYTHONPATH": str(Path(varint.__file__).parents[1])}
    argv = [sys.executable, "-P", "-c", COMMAND, *map(str, argv)]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_workers_of_an_ensemble_import_nothing_of_the_folder(tmp_path):
    (tmp_path / "m.toml").write_text(TEXT)
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'a').write({name!r})\n")
    times = ("--vary", "mass=1,2", "--duration", "0.02", "--dt", "0.01", "--workers", "1")
    done = ran(tmp_path, "ensemble", "m.toml", *times)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "RAN").exists()


@pytest.mark.slow
def test_settings_of_the_folder_change_no_picture(tmp_path):
    (tmp_path / "m.toml").write_text(TEXT)
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfont.size: 40\n")
    done = ran(tmp_path, "run", "m.toml", "--duration", "0.02", "--dt", "0.01", "-o", "m.h5")
    assert done.returncode == 0, done.stderr
    done = ran(tmp_path, "plot", "m.h5", "energy", "-o", "m.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.png").stat().st_size > 1000
