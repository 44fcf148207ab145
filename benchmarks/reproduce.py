"""Whether two checkouts give the same trajectories: every mechanism of the catalogue and the tests' force samples.

    python benchmarks/reproduce.py record DIRECTORY      with the interpreter of each checkout, in its top folder
    python benchmarks/reproduce.py compare OLD NEW       two directories made so

Each run is recorded twice, the second time with positions, velocities and gravity that differ at random by about
1e-14 of themselves. How far these two part says how much the motion itself amplifies round-off: the trajectories of
the two checkouts are compared as long as they part by no more than `AMPLIFIED` of the motion's size.
"""

import dataclasses
import sys
from pathlib import Path

import numpy as np

import varint as vi

STEPS = 1000
TOLERANCE = 1e-13  # m/s, of Newton's iteration: its default leaves more than is asked of the agreement
NOISE = 1e-14  # relative, of the second run
AMPLIFIED = 1e-11  # of the sizes, by which the second run may have parted
AGREED = 1e-10
PARTS = ("position", "quat_wxyz", "velocity", "angular_velocity")


def samples():
    """(name, mechanism, state, dt) of every run."""
    for name in vi.mechanisms.NAMES:
        mechanism = getattr(vi.mechanisms, name)()
        yield name, mechanism, mechanism.state(), vi.mechanisms.module(name).EXPECTED["dt"]
    sys.path.insert(0, str(Path("tests").resolve()))
    import force_samples
    import test_more_forces
    from random_mechanisms import random_closed

    for seed in range(4):
        rng = np.random.default_rng(seed)
        mechanism = force_samples.coupled_everywhere(rng)
        yield f"coupled everywhere {seed}", mechanism, mechanism.state(), 0.002
        mechanism = force_samples.one_of_each(rng, random_closed(rng, 6, 1, kinds=("Revolute", "Universal", "Free")))
        yield f"one of each {seed}", mechanism, mechanism.state(), 0.002
    for name, force in test_more_forces.ONE_BODY.items():
        mechanism = test_more_forces.floating(force)
        yield f"one body: {name}", mechanism, mechanism.state(**test_more_forces.MOVING), 0.0005


def record(folder):
    """Write each run as an .npz of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, mechanism, state, dt in samples():
        arrays, rng = {}, np.random.default_rng(0)
        for suffix, noise in (("", 0.0), (" again", NOISE)):
            given = state.position, state.velocity, state.angular_velocity, mechanism.gravity
            x, v, w, gravity = (value * (1.0 + noise * rng.standard_normal(value.shape)) for value in given)
            start = vi.State(x, state.quat_wxyz, v, w)
            changed = dataclasses.replace(mechanism, gravity=gravity)
            try:
                run = vi.simulate(changed, STEPS * dt, dt, state=start, tol=TOLERANCE)
            except vi.ConvergenceError as problem:  # a mechanism that locks up: as far as it went
                run = problem.trajectory
            arrays |= {part + suffix: getattr(run, part) for part in PARTS}
        np.savez(folder / f"{name}.npz", **arrays)


def parted(one, other, part, suffix=""):
    """(T,) largest difference of two runs in one kind of number, of its size."""
    nodes = min(len(one[part]), len(other[part + suffix]))
    difference = np.abs(one[part][:nodes] - other[part + suffix][:nodes])
    return difference.reshape(nodes, -1).max(axis=1) / max(1e-3, np.abs(one[part]).max())


def compare(old, new):
    """Print a line a run; whether all agree."""
    worst, short = 0.0, []
    for path in sorted(old.glob("*.npz")):
        one, other = np.load(path), np.load(new / path.name)
        found, steps = [], []
        for part in PARTS:
            amplified = parted(one, one, part, " again") > AMPLIFIED
            nodes = max(1, int(np.argmax(amplified))) if amplified.any() else len(amplified)
            found.append(parted(one, other, part)[:nodes].max())
            steps.append(nodes - 1)
        if min(steps) < STEPS:
            short.append((path.stem, dict(zip(PARTS, steps, strict=True))))
        worst = max(worst, *found)
        mark = "" if max(found) <= AGREED else "   APART"
        print(f"{path.stem:28s} largest difference {max(found):.1e}{mark}")
    print(f"worst {worst:.1e}; compared over fewer than {STEPS} steps:")
    for name, steps in short:
        print(f"  {name}: {steps}")
    return worst <= AGREED


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        record(Path(sys.argv[2]))
    else:
        sys.exit(not compare(*map(Path, sys.argv[2:4])))
