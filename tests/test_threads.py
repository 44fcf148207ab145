"""While a block of steps is in compiled code, other threads run."""

import ctypes
import sys
import threading
import time

import pytest

import varint as vi
from varint.base.numba.jit import config
from varint.methods.variational import march as march_module
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme

NEVER = 1000.0  # s: no thread gives the interpreter away unasked


@pytest.fixture
def counted():
    """Function that says how far another thread counted while ``work()`` ran, which itself gives nothing away."""
    count, done = [0], threading.Event()

    def count_on():
        while not done.is_set():
            count[0] += 1
            time.sleep(0)  # gives the interpreter away

    def count_during(work):
        before = count[0]
        work()
        return count[0] - before

    usual = sys.getswitchinterval()
    sys.setswitchinterval(NEVER)
    thread = threading.Thread(target=count_on)
    thread.start()
    try:
        yield count_during
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(usual)


@pytest.mark.slow
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_stepping_lets_go_of_the_interpreter(counted, monkeypatch):
    mechanism = vi.mechanisms.n_pendulum(20)
    march = March(mechanism.compiled, scheme(2), 0.001, 1e-10, 1 << 40)
    march.start(mechanism.state())
    march.advance(1)  # compiles
    kernel, found = march_module.run, []

    def watched(*given):
        result = []
        found.append(counted(lambda: result.append(kernel(*given))))
        return result[0]

    monkeypatch.setattr(march_module, "run", watched)
    assert counted(lambda: ctypes.PyDLL(None).usleep(100_000)) == 0  # which holds it, for so many microseconds
    march.advance(10_000)
    assert march.node == 10_001
    assert found[0] > 0
