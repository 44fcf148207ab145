"""What the benchmarks share: a march without recording, and the fastest of several timings."""

import time

import numpy as np

import varint as vi
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.plan import compile_structure


def march_of(mechanism, dt=0.01, tol=1e-10, clustered=True):
    """A march of order 2 from the mechanism's start that records nothing."""
    compiled = compile_structure(mechanism, clustered=clustered)
    march = March(compiled, scheme(2), dt, tol, 1 << 40)
    march.start(mechanism.state())
    return march


def fastest(work, repeats=7):
    """Shortest wall time (s) of ``work()``, the first call left out."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def chain(n, angle=np.pi / 4):
    """The revolute chain of the targets."""
    return vi.mechanisms.n_pendulum(n=n, angle=angle)
