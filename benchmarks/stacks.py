"""Random stacks of up to three cubes that land on their corners: is one not solved, does one overlap or gain energy?

    python benchmarks/stacks.py [COUNT] [SEED]

COUNT (120) stacks of one to three cubes of 1 m, each turned against the one below by 1e-8 to 1e-2 rad about a level
axis and 1e-9 m above it, fall for 0.5 s in steps of 10 ms. Cubes of one size meet corner on corner: the hardest case.
"""

import sys
import time

import numpy as np

import varint as vi
from varint.model.rotation_vectors import quat_from_vector, rotation_matrix

DURATION, DT, GAP = 0.5, 0.01, 1e-9  # s, s, m
DEEP, GAINED = 1e-10, 1e-9  # m, J: what counts as an overlap, as a gain


def stack(rng: np.random.Generator) -> vi.Mechanism:
    """A stack of cubes that are turned to and fro, each a gap above the one below it."""
    boxes, tilt, axis = rng.integers(1, 4), 10 ** rng.uniform(-8.0, -2.0), rng.standard_normal(2)
    turn = tilt * np.append(axis / np.linalg.norm(axis), 0.0)
    bodies, contacts = [], []
    for k in range(boxes):
        quat = quat_from_vector(turn if k % 2 == 0 else -turn)
        half = 0.5 * np.abs(rotation_matrix(quat)[2]).sum()
        height = 0.5 + k + 1.5 * (2 * k + 1) * (half - 0.5) + GAP * (k + 1)
        bodies.append(vi.Body.box(f"b{k}", (1, 1, 1), 1.0, position=(0, 0, height), quat_wxyz=quat, collision=True))
        contacts.append(vi.Contact(f"c{k}", f"b{k}", f"b{k - 1}" if k else "world", friction=0.5))
    free = [vi.Free(f"f{k}", "world", f"b{k}") for k in range(boxes)]
    return vi.Mechanism("stack", bodies, free, (0, 0, -9.81), forces=contacts, ground=(vi.PlaneShape(),))


def main(count: int, seed: int) -> None:
    """Print what is not solved, overlaps or gains energy, and how many do."""
    rng, told, deep, gains, began = np.random.default_rng(seed), 0, [], 0, time.perf_counter()
    for n in range(count):
        mechanism = stack(rng)
        try:
            run = vi.simulate(mechanism, DURATION, DT, on_unresolved="ignore")
        except vi.ConvergenceError as error:
            told += 1
            print(f"{n}: {len(mechanism.bodies)} cubes: {error}", flush=True)
            continue
        depth, gain = max(each.max() for each in run.penetration.values()), np.diff(run.energy).max()
        if depth > DEEP or gain > GAINED:
            print(f"{n}: {len(mechanism.bodies)} cubes: overlap {depth:.1e} m, gain {gain:.1e} J", flush=True)
        gains += gain > GAINED
        deep += [depth] if depth > DEEP else []
    largest, seconds = max(deep, default=0.0), time.perf_counter() - began
    print(
        f"of {count}: {told} told, {len(deep)} overlap by up to {largest:.1e} m, {gains} gain energy; {seconds:.0f} s"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
