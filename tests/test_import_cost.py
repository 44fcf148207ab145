"""What a program that asks for `simulate` does not wait for."""

import subprocess
import sys

SCRIPT = """
import gc, sys
import varint
varint.{name}
print(gc.isenabled(), *sorted(sys.modules))
"""
LATER = ("h5py", "matplotlib", "scipy.optimize", "scipy.sparse", "scipy.spatial", "trimesh", "mujoco", "quaternion")
LATER_HERE = ("files.formats", "files.mjcf", "files.osim", "files.robots", "files.runs.reader", "files.runs.writer",
              "views", "extras", "studies", "derivatives", "methods.reduced")  # fmt: skip


def imported(name):
    run = subprocess.run([sys.executable, "-c", SCRIPT.format(name=name)], capture_output=True, text=True, check=True)
    collects, *modules = run.stdout.split()
    assert collects == "True"
    return modules


def test_simulate_needs_no_files_pictures_or_optimisers():
    modules = imported("simulate")
    for name in (*LATER, *(f"varint.{place}" for place in LATER_HERE)):
        found = [module for module in modules if module == name or module.startswith(f"{name}.")]
        assert not found, name


def test_the_search_for_garbage_stays_off_where_it_was_off():
    script = "import gc; gc.disable(); import varint; varint.State; print(gc.isenabled())"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"]
