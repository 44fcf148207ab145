"""Wall times of runs are those of their steps, without compilation."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from linked_cache import link_cache

from varint.base.clock import clock, stopped_clock
from varint.base.numba import njit
from varint.base.numba.jit import config

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")


@compiled_only
def test_the_clock_stands_still_while_a_function_is_compiled():
    @njit(cache=False)
    def total(values):
        s = 0.0
        for k in range(values.size):
            s += np.sin(values[k])
        return s

    began, here = time.perf_counter(), clock()
    total(np.ones(3))
    here, spent = clock() - here, time.perf_counter() - began
    assert 0.0 <= here < 0.2 * spent


def test_the_clock_stands_once_for_a_compilation_within_another():
    here = clock()
    with stopped_clock(), stopped_clock():
        time.sleep(0.02)
    stood = clock() - here
    time.sleep(0.02)
    assert stood < 0.01 < 0.02 <= clock() - here


FIRST = """
import varint as vi
problem = vi.Problem(vi.mechanisms.n_pendulum(n=2, angle=0.3), 1.0)
for _ in range(2):
    print(vi.simulate(problem, METHOD).wall_time)
"""
REDUCED = "varint.methods.reduced.recursions.momentum_recursions.find_rates-"


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize(
    ("method", "anew"),
    [
        pytest.param('vi.Reduced("variational2_recursive", dt=0.01)', REDUCED, id="reduced"),
        pytest.param("vi.Variational(dt=0.01)", "varint.step.step.run-", id="variational", marks=pytest.mark.long),
    ],
)
def test_a_first_run_states_the_time_of_its_steps(method, anew, tmp_path):
    """A part of them is compiled anew."""
    command, options = [sys.executable, "-c", FIRST.replace("METHOD", method)], {"capture_output": True, "text": True}
    subprocess.run(command, check=True, **options)  # compiles all
    folder, _ = link_cache(tmp_path, anew)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, env=environment, check=True, **options)
    compiled = [path.name for path in folder.iterdir() if not path.is_symlink()]
    assert compiled
    assert all(name.startswith(anew) for name in compiled)
    first, second = map(float, done.stdout.split())
    assert first < 20 * second + 0.05  # it was 15.8 s after 0.008 s, where all was compiled
