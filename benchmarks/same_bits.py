"""Do two checkouts give the same motion? Catalogue and samples of forces, both formulations, every order.

    python same_bits.py run OUT.npz [--nudged] [--like OTHER.npz] [--samples TESTS]   # with PYTHONPATH of the checkout
    python same_bits.py compare OLD.npz NEW.npz [NUDGED.npz]

A run is 1000 steps at the documented ``dt`` (20 by integrators that step in Python). ``--nudged`` makes ``dt`` longer
by one unit in its last place: how far such a run ends from the plain one tells what round-off does to that motion.
``--like`` leaves out runs that another file does not have. ``--samples``: the folder tests/ of the older checkout,
whose samples of forces are drawn as there. ``compare`` counts, by method, the runs that are equal to
the bit, those whose positions stay within 1e-11 of the size of the motion, and those that leave it by no more than a
hundred times what a nudge does; it lists the others, with the node at which they pass 1e-11.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

ORDERS, STEPS, STEPS_IN_PYTHON = (1, 2, 4, 6, 8), 1000, 20
EXPLICIT = ("dop853",)
EVERY = 10  # steps from record to record of runs of 1000 steps
CLOSE = 1e-11  # of the size of the motion
ROUND_OFF = 100  # times what a nudge does


def cases(nudged, tests):
    """Name to a function that gives the trajectory; the checkout is the one that is imported."""
    import varint as vi

    sys.path.insert(0, tests or str(Path(vi.__file__).resolve().parents[1] / "tests"))
    from force_samples import sample_mechanism, samples
    from random_mechanisms import random_velocity_state

    from varint.redmax.integrators import INTEGRATORS

    every = {}

    def add(name, mechanism, state, dt):
        dt = np.nextafter(dt, np.inf) if nudged else dt
        for order in ORDERS:
            arguments = {"order": order, "state": state, "on_unresolved": "ignore", "every": EVERY}
            every[f"{name}, order {order}"] = lambda a=arguments: vi.simulate(mechanism, STEPS * dt, dt, **a)
        adaptive = {"order": 4, "state": state, "on_unresolved": "ignore", "adaptive": True}
        every[f"{name}, adaptive"] = lambda: vi.simulate(mechanism, STEPS_IN_PYTHON * dt, dt, **adaptive)
        for integrator in (each for each, kind in INTEGRATORS.items() if not getattr(kind, "trees_only", False)):
            steps = STEPS if integrator in EXPLICIT else STEPS_IN_PYTHON
            arguments = {"integrator": integrator, "state": state, "every": EVERY}
            every[f"{name}, {integrator}"] = lambda a=arguments, n=steps: vi.redmax.simulate(mechanism, n * dt, dt, **a)

    for name in vi.mechanisms.NAMES:
        mechanism = getattr(vi.mechanisms, name)()
        add(name, mechanism, mechanism.state(), vi.mechanisms.module(name).EXPECTED["dt"])
    rng = np.random.default_rng(1)
    for name, forces in samples(rng).items():
        mechanism = sample_mechanism(rng, forces)
        add(f"force {name}", mechanism, random_velocity_state(rng, mechanism, 0.5), 0.002)
    return every


def run(path, nudged, like, tests):
    import varint as vi

    arrays = {}
    wanted = np.load(like).files if like else None
    warnings.simplefilter("ignore")
    for name, simulate in cases(nudged, tests).items():
        if wanted is not None and name not in wanted:
            continue
        try:
            trajectory = simulate()
        except vi.ConvergenceError as problem:
            trajectory = problem.trajectory
        except vi.VarintError:
            continue
        motion = [trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity]
        arrays[name] = np.concatenate(motion, axis=2)
    np.savez_compressed(path, **arrays)


def apart(a, b):
    """How far bodies of two runs are from each other at each record that both have, over the size of the motion."""
    n = min(len(a), len(b))
    size = max(1e-3, np.nanmax(np.abs(a[:, :, :3])))
    return np.abs(a[:n, :, :3] - b[:n, :, :3]).max(axis=(1, 2)) / size


def compare(old, new, nudged):
    old, new, nudged = np.load(old), np.load(new), np.load(nudged) if nudged else {}
    counts, rows = Counter(), []
    for name in old.files:
        method = name.rsplit(", ", 1)[1]
        counts[method, "runs"] += 1
        if name not in new:
            rows.append(f"{name}: only in the old file")
            continue
        a, b = old[name], new[name]
        if a.shape == b.shape and np.array_equal(a, b, equal_nan=True):
            counts[method, "equal"] += 1
            continue
        off = apart(a, b)
        beyond = np.flatnonzero(~(off <= CLOSE))
        lengths = "" if len(a) == len(b) else f"; {len(a)} and {len(b)} records"
        if not beyond.size and not lengths:
            counts[method, "close"] += 1
            continue
        chaos = apart(a, nudged[name]) if name in nudged else np.zeros(len(off))
        n = min(len(off), len(chaos))
        if n == len(off) and not lengths and np.all(off <= np.maximum(CLOSE, ROUND_OFF * np.maximum.accumulate(chaos))):
            counts[method, "round-off"] += 1
            continue
        first = beyond[0] if beyond.size else len(off)
        rows.append(f"{name}: {off.max():.1e} apart, nudged {chaos.max():.1e}, from record {first} on{lengths}")
    print("| method | runs | equal to the bit | within 1e-11 | within what a nudge does |\n|---|---|---|---|---|")
    for method in dict.fromkeys(method for method, _ in counts):
        figures = (counts[method, what] for what in ("runs", "equal", "close", "round-off"))
        print(f"| {method} | {' | '.join(map(str, figures))} |")
    print("\n".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    running = tasks.add_parser("run")
    running.add_argument("out")
    running.add_argument("--nudged", action="store_true")
    running.add_argument("--like")
    running.add_argument("--samples")
    comparing = tasks.add_parser("compare")
    for name, count in (("old", None), ("new", None), ("nudged", "?")):
        comparing.add_argument(name, nargs=count)
    given = parser.parse_args()
    if given.task == "run":
        run(given.out, given.nudged, given.like, given.samples)
    else:
        compare(given.old, given.new, given.nudged)


if __name__ == "__main__":
    main()
