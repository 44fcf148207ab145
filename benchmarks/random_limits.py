"""Random mechanisms with limits beside each other, by the rule of tests/test_random_limits.py: which runs are wrong?

    python random_limits.py FIRST LAST               # mechanisms by their numbers, from FIRST to before LAST
    python random_limits.py FIRST LAST --touching    # those of boxes, capsules and tethers beside taut ones
    python random_limits.py FIRST LAST --lobatto 6   # by collocation of this order, in steps twice as long

Prints each mechanism whose run leaves the reduced run by more than that rule allows, gains energy beyond its work, or
freezes a joint that is free (tests/limit_rules.py), "silent" or "told" by a warning, and each that ended with an error,
that is refused, or that took above `LONGEST` seconds of processor time (compilation counts: run the first ones again);
then how many agree.
"""

import argparse
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import varint as vi

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from limit_rules import GAIN, energy_gain, frozen_joints
from random_limits import random_limited, random_touching
from test_random_limits import DT, DURATION, FAR, LEAST, largest_error

LONGEST = 20.0  # s


def made(seed: int, touching: bool) -> tuple[vi.Mechanism, dict]:
    """Return the mechanism of a number and the arguments of its state."""
    if touching:
        return random_touching(np.random.default_rng([seed, 12]), DT)
    return random_limited(np.random.default_rng([seed, 11]), DT)


def outcome(seed: int, touching: bool = False, order: int | None = None) -> tuple[str, str]:
    """Return "agrees", "silent", "told", "refused" or "error", and what there is to say about it.

    ``order``: of collocation; None for steps of order 2.
    """
    mechanism, start = made(seed, touching)
    dt = DT if order is None else 2 * DT

    def method(dt: float) -> vi.Variational | vi.Lobatto:
        return vi.Variational(dt) if order is None else vi.Lobatto(dt, order)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            state = mechanism.state(**start)
            run = vi.simulate(vi.Problem(mechanism, DURATION, state), method(dt))
            right = vi.redmax.simulate(mechanism, DURATION, dt, state=state, integrator="radau", rtol=1e-8)
        except vi.ArgumentError as problem:
            return "refused", str(problem)
        except vi.VarintError as problem:
            return "error", f"{type(problem).__name__}: {problem}"
    judged = "told" if told or run.unresolved.size else "silent"
    for name, each in (("run", run), ("reduced run", right)):
        if (gain := energy_gain(each)) > GAIN:
            return judged, f"the {name} gains {gain:.2g} of its energy"
        if frozen := frozen_joints(each):
            return judged, f"the {name} freezes {', '.join(frozen)}"
    size, off = mechanism.compiled.length, np.abs(run.position - right.position).max()
    if off <= FAR * LEAST * size:
        return "agrees", ""
    error = largest_error(mechanism, state, run, off / FAR, method)
    if off <= FAR * error:
        return "agrees", ""
    return judged, f"{off:.2e} m from the reduced run; {error:.2e} m by halving the step; size {size:.2g} m"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--touching", action="store_true", help="boxes, capsules and tethers beside taut ones")
    parser.add_argument("--lobatto", type=int, metavar="ORDER", help="by collocation, in steps twice as long")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(args.first, args.last):
        began = time.process_time()
        kind, text = outcome(seed, args.touching, args.lobatto)
        counts[kind] += 1
        if kind != "agrees":
            print(f"{seed}: {kind}: {text}", flush=True)
        if time.process_time() - began > LONGEST:
            print(f"{seed}: took {time.process_time() - began:.0f} s", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
