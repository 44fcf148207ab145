"""Do two checkouts give the same bits? Catalogue and samples of forces, both formulations, every order.

    python same_bits.py run OUT.npz          # in the environment of a checkout
    python same_bits.py compare OLD.npz NEW.npz

A run is 1000 steps at the documented ``dt`` (20 by integrators that step in Python). Where bits differ the table has
the largest difference of positions, m, and the first node at which there is one.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

ORDERS, STEPS, STEPS_IN_PYTHON = (1, 2, 4, 6, 8), 1000, 20
EXPLICIT = ("dop853",)


def cases():
    """Name to a function that gives the trajectory."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from force_samples import sample_mechanism, samples
    from random_mechanisms import random_velocity_state

    import varint as vi
    from varint.redmax.integrators import INTEGRATORS

    every = {}

    def add(name, mechanism, state, dt):
        for order in ORDERS:
            arguments = {"order": order, "state": state, "on_unresolved": "ignore", "every": 10}
            every[f"{name}, order {order}"] = lambda a=arguments: vi.simulate(mechanism, STEPS * dt, dt, **a)
        adaptive = {"order": 4, "state": state, "on_unresolved": "ignore", "adaptive": True}
        every[f"{name}, adaptive"] = lambda: vi.simulate(mechanism, STEPS_IN_PYTHON * dt, dt, **adaptive)
        for integrator in (each for each, kind in INTEGRATORS.items() if not kind.trees_only):
            steps = STEPS if integrator in EXPLICIT else STEPS_IN_PYTHON
            arguments = {"integrator": integrator, "state": state, "every": 10}
            every[f"{name}, {integrator}"] = lambda a=arguments, n=steps: vi.redmax.simulate(mechanism, n * dt, dt, **a)

    for name in vi.mechanisms.NAMES:
        mechanism = getattr(vi.mechanisms, name)()
        add(name, mechanism, mechanism.state(), vi.mechanisms.module(name).EXPECTED["dt"])
    rng = np.random.default_rng(1)
    for name, forces in samples(rng).items():
        mechanism = sample_mechanism(rng, forces)
        add(f"force {name}", mechanism, random_velocity_state(rng, mechanism, 0.5), 0.002)
    return every


def run(path):
    import varint as vi

    arrays = {}
    warnings.simplefilter("ignore")
    for name, simulate in cases().items():
        try:
            trajectory = simulate()
        except vi.ConvergenceError as problem:
            trajectory = problem.trajectory
        except vi.VarintError:
            continue
        motion = [trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity]
        arrays[name] = np.concatenate(motion, axis=2)
    np.savez_compressed(path, **arrays)


def compare(old, new):
    old, new = np.load(old), np.load(new)
    same, rows = 0, []
    for name in old.files:
        if name not in new.files:
            rows.append(f"{name}: only in the old one")
            continue
        a, b = old[name], new[name]
        if a.shape == b.shape and np.array_equal(a, b, equal_nan=True):
            same += 1
            continue
        n = min(len(a), len(b))
        off = np.abs(a[:n, :, :3] - b[:n, :, :3]).max(axis=(1, 2))
        first = int(np.argmax(np.abs(a[:n] - b[:n]).max(axis=(1, 2)) > 0)) if off.size else 0
        rows.append(f"{name}: differs by {off.max():.2e} m, from record {first} of {len(a)}, {len(b)}")
    print(
        f"{same} of {len(old.files)} runs equal to the bit; {len(set(new.files) - set(old.files))} only in the new one"
    )
    print("\n".join(rows))


if __name__ == "__main__":
    {"run": run, "compare": compare}[sys.argv[1]](*sys.argv[2:])
