"""Shared fixtures, and kernels that are compiled before the first test."""

import signal
import subprocess
import sys
import zlib
from collections import Counter

import numpy as np
import pytest

from varint._numba import is_compiled
from varint.kernels.step import run

MOST_CASES = 30  # of a test of more, the fast tests have a third and the slow ones the others
COMPILED_FIRST = [  # kinds of runs; what stands in one line goes side by side, so that no two workers compile the same
    [["poses", "steps"], ["explicit steps in reduced coordinates", "implicit steps in reduced coordinates"]],
    [
        ["hard stops and drives", "gradients"],
        ["small motions", "joints as products", "gradients in reduced coordinates"],
    ],
]
SCRIPT = """
import sys, warnings
from varint.warming import KINDS
warnings.simplefilter("ignore")
for kind in sys.argv[1:]:
    KINDS[kind]()
"""


def pytest_configure(config):
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so in the background; some tests interrupt runs
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None) and not is_compiled(run):
        for together in COMPILED_FIRST:
            for process in [subprocess.Popen([sys.executable, "-c", SCRIPT, *kinds]) for kinds in together]:
                process.wait()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    cases = Counter(_test_of(item) for item in items)
    for item in items:
        number = zlib.crc32(item.nodeid.encode())
        if item.get_closest_marker("many") and number % 4:
            item.add_marker("long")
        if cases[_test_of(item)] > MOST_CASES and number % 3:
            item.add_marker("slow")


def _test_of(item):
    """The test whose case an item is."""
    return item.nodeid.partition("[")[0]


@pytest.fixture
def rng(request):
    """A generator of its own for each test, the same at every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def written(tmp_path):
    """Writes a text to a file of its own and returns the path."""

    def write(text, name="m.xml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def jax():
    """JAX, in double precision."""
    jax = pytest.importorskip("jax", reason="needs varint[jax]")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture
def torch():
    """PyTorch."""
    return pytest.importorskip("torch", reason="needs varint[torch]")
