"""How far runs that go on from a node of another leave it: the catalogue and the samples of forces, by every method.

    python benchmarks/restarts.py                       # all methods of one step and fixed size
    python benchmarks/restarts.py 4 "lobatto 6" gauss   # orders, collocation, integrators in reduced coordinates
    python benchmarks/restarts.py 4 --only four_bar     # mechanisms and forces with such names

Each run is one of ``tests/test_restarts.py``: 130 steps, and runs of 129 and 100 steps from its nodes 1 and 30. A line
is the largest difference of poses, coordinates and motions over a step, relative to the largest speed, and the same
after one unit in the last place of the poses of the node. The last table has those above 1e-12, by method.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from force_samples import IN_STEPS, SAMPLES, sample_mechanism  # noqa: E402
from test_restarts import (  # noqa: E402
    COLLOCATION,
    DT,
    ITS_OWN,
    NODES,
    OF_TIME,
    ONE_STEP,
    STEPS,
    differences,
    run_of,
)

import varint as vi  # noqa: E402

METHODS = (2, 4, 6, 8, *COLLOCATION, *ONE_STEP)
BOUND = 1e-12


def mechanisms() -> Iterator[tuple[str, vi.Mechanism, float]]:
    """Yield names, mechanisms and step sizes, s: the catalogue, then a mechanism for each force."""
    for name in vi.mechanisms.NAMES:
        dt = vi.mechanisms.module(name).EXPECTED["dt"] if name in ITS_OWN else DT
        yield name, getattr(vi.mechanisms, name)(), dt
    for name in IN_STEPS:
        if name not in OF_TIME:
            yield f"force {name}", sample_mechanism(np.random.default_rng(3), SAMPLES[name]), DT


def farthest(mechanism: vi.Mechanism, method: int | str, dt: float) -> tuple[float, float]:
    """Return the largest difference of runs from nodes to the whole run, and that by the last bits of their poses.

    Raises ArgumentError and ConvergenceError where the method does not run.
    """
    run, apart, nudged = run_of(method, dt), 0.0, 0.0
    whole = run(mechanism, NODES[-1] + STEPS, mechanism.state())
    for node in NODES:
        start, steps = whole[node], NODES[-1] + STEPS - node
        part = run(mechanism, steps, start)
        far = max(differences(mechanism, part, whole, node, dt).values())
        apart = max(apart, far)
        if far > BOUND:
            poses = {name: np.nextafter(getattr(start, name), np.inf) for name in ("position", "quat_wxyz")}
            other = run(mechanism, steps, replace(start, **poses))
            nudged = max(nudged, *differences(mechanism, other, part, 0, dt).values())
    return apart, nudged


def main() -> None:
    """Print a line for each run, and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--only", nargs="*", default=[""])
    arguments = parser.parse_args()
    methods = [int(method) if str(method).isdigit() else method for method in arguments.methods]
    counts = dict.fromkeys(methods, 0)
    refused = dict(counts)
    above: dict[int | str, list[str]] = {method: [] for method in methods}
    for name, mechanism, dt in mechanisms():
        for method in methods if any(word in name for word in arguments.only) else []:
            began = time.process_time()
            try:
                apart, nudged = farthest(mechanism, method, dt)
            except (vi.ArgumentError, vi.ConvergenceError) as problem:
                refused[method] += 1
                print(f"refused {name}, {method}: {str(problem)[:160]!r}", flush=True)
                continue
            counts[method] += 1
            beside = f", {apart / nudged:.1f} times a last bit" if apart > BOUND and nudged else ""
            print(f"{apart:.1e} {name}, {method}{beside} ({time.process_time() - began:.0f} s)", flush=True)
            if not apart <= BOUND:
                above[method].append(f"{name} {apart:.1e}{beside}")
    print("| method | runs | refused | above 1e-12 |\n|---|---|---|---|")
    for method in methods:
        print(f"| {method} | {counts[method]} | {refused[method]} | {'; '.join(above[method]) or 'none'} |")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
