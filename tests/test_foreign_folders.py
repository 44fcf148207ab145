"""Commands started in a folder of files of others: nothing of it is run, and its settings change no picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import varint

COMMAND = "import sys; from varint.cli import main; sys.exit(main())"  # as the script that is installed begins
PACKAGES = ["cloudpickle", "distributed", "h5py", "llvmlite", "matplotlib", "networkx", "numba", "numpy", "scipy"]
ON_A_CLUSTER = """if True:
    from distributed import LocalCluster
    import varint as vi
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        ensemble = vi.ensemble("m.toml", {"mass": [1.0]}, 0.02, dt=0.01, scheduler=cluster.scheduler_address)
    assert not ensemble.failures
"""
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


def ran(folder, *argv, code=COMMAND):
    """Return the finished command, or other code, started in the folder."""
    environment = os.environ | {"PYTHONPATH": str(Path(varint.__file__).parents[1])}
    argv = [sys.executable, "-P", "-c", code, *map(str, argv)]
    return subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True)


def write_modules(folder):
    """Write a module of each name of the standard library and of packages that are used, which notes that it ran."""
    (folder / "m.toml").write_text(TEXT)
    for name in [*sys.stdlib_module_names, *PACKAGES]:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'RAN')!r}, 'a').write({name!r})\n")


@pytest.mark.slow
def test_workers_of_an_ensemble_import_nothing_of_the_folder(tmp_path):
    write_modules(tmp_path)
    times = ("--vary", "mass=1,2", "--duration", "0.02", "--dt", "0.01", "--workers", "1")
    done = ran(tmp_path, "ensemble", "m.toml", *times)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "RAN").exists()


@pytest.mark.slow
@pytest.mark.long
def test_workers_of_a_cluster_import_nothing_of_the_folder(tmp_path):
    pytest.importorskip("distributed")
    write_modules(tmp_path)
    done = ran(tmp_path, code=ON_A_CLUSTER)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "RAN").exists()


@pytest.mark.long
@pytest.mark.slow
def test_settings_of_the_folder_change_no_picture(tmp_path):
    (tmp_path / "m.toml").write_text(TEXT)
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfont.size: 40\n")
    done = ran(tmp_path, "run", "m.toml", "--duration", "0.02", "--dt", "0.01", "-o", "m.h5")
    assert done.returncode == 0, done.stderr
    done = ran(tmp_path, "plot", "m.h5", "energy", "-o", "m.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.png").stat().st_size > 1000
    done = ran(tmp_path, "film", "m.h5", "-o", "m.gif")
    assert done.returncode == 0, done.stderr
