"""Shared fixtures, and kernels that are compiled before the first test."""

import subprocess
import sys
import zlib

import numpy as np
import pytest

from varint._numba import is_compiled
from varint.kernels.step import run

# side by side, so that no two workers compile the same
COMPILED_FIRST = [
    """
import varint as vi
for order in (2, 4):
    run = vi.simulate(vi.mechanisms.governor(), 0.01, 0.001, order=order)
run.reactions, run.force, run.drift
vi.mechanisms.four_bar().diagnose()
""",
    """
import varint as vi
for integrator in ("dop853", "euler", "bdf2"):
    vi.redmax.simulate(vi.mechanisms.governor(), 0.01, dt=0.001, integrator=integrator)
vi.redmax.simulate(vi.mechanisms.four_bar(), 0.01, dt=0.001)
vi.mechanisms.roller_coaster().state()
""",
]


def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None) and not is_compiled(run):
        for process in [subprocess.Popen([sys.executable, "-c", script]) for script in COMPILED_FIRST]:
            process.wait()


@pytest.fixture
def rng(request):
    """A generator of its own for each test, the same at every run."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
