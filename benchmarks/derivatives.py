"""How exact the derivatives are: curvature of measures, operator of a step, refined solves. Asserted by the tests."""

import sys
from pathlib import Path

import numpy as np

import varint as vi

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import force_samples
import test_measures
import test_operator


def curvature():
    """Largest relative differences of curvatures from differences, and from their symmetry, over all kinds."""
    rng = np.random.default_rng(0)
    by_kind = [
        test_measures.check(*test_measures.of_two(test_measures.random_numbers(rng), kind), *pose)
        for kind in test_measures.OF_NUMBERS
        for pose in [test_measures.random_pose(rng, 2) for _ in range(10)]
    ]
    return np.max([(found.by_differences, found.by_symmetry) for found in by_kind], axis=0)


def operator():
    """Largest relative differences of the operator from differences, and of its transpose from it."""
    rng, found = np.random.default_rng(0), []
    for at_end in (False, True):
        for name in test_operator.SAMPLES:
            mechanism = force_samples.sample_mechanism(rng, force_samples.samples(rng)[name])
            found.append(test_operator.check(test_operator.Step(mechanism, rng, 0.05, 5.0, at_end)))
        mechanism = force_samples.coupled_everywhere(rng)
        found.append(test_operator.check(test_operator.Step(mechanism, rng, 0.02, 1.0, at_end)))
    return np.max(found, axis=0)


def passes():
    """Most passes in which refined solves come to 1e-13, and how many mechanisms were tried."""
    rng, needed = np.random.default_rng(0), []
    for name in vi.mechanisms.NAMES:
        mechanism = getattr(vi.mechanisms, name)()
        dt = vi.mechanisms.module(name).EXPECTED["dt"]
        needed.append(test_operator.refined(mechanism, mechanism.state(), dt))
    for name in test_operator.SAMPLES:
        mechanism = force_samples.sample_mechanism(rng, force_samples.samples(rng)[name])
        needed.append(test_operator.refined(mechanism, mechanism.state(), 0.005))
    reached = np.array(needed) <= 1e-13
    return (int(np.argmax(reached, axis=1).max()) + 1 if reached.any(axis=1).all() else 99), len(needed)


def measure():
    (bent, odd), (along, back), (most, count) = curvature(), operator(), passes()
    return [
        ("curvature of every kind, against differences", f"{bent:.0e}", "<= 1e-7", bent <= 1e-7),
        ("... and its symmetry", f"{odd:.0e}", "<= 1e-12", odd <= 1e-12),
        ("operator of a step, against differences", f"{along:.0e}", "<= 1e-7", along <= 1e-7),
        ("its transpose", f"{back:.0e}", "<= 1e-13", back <= 1e-13),
        (f"refined solves to 1e-13, {count} mechanisms", f"{most} passes", "<= 6", most <= 6),
    ]
