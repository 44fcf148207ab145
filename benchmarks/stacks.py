"""Random stacks of up to three cubes that land on their corners: is one not solved, does one overlap or gain energy?

    python benchmarks/stacks.py [COUNT] [SEED]
    python benchmarks/stacks.py hit [COUNT] [SEED]

COUNT (120) stacks of one to three cubes of 1 m, each turned against the one below by 1e-8 to 1e-2 rad about a level
axis and 1e-9 m above it, fall for 0.5 s in steps of 10 ms. Cubes of one size meet corner on corner: the hardest case.

With ``hit``, COUNT (24) stacks of five cubes of 0.2 m and 1 kg are hit by a ball of 3 kg that rolls at 2 to 4 m/s,
1.5 s in steps of 5 ms.
"""

import sys
import time
from collections.abc import Iterator

import numpy as np

import varint as vi
from varint.model.rotation_vectors import quat_from_vector, rotation_matrix

DURATION, DT, GAP = 0.5, 0.01, 1e-9  # s, s, m
HIT_DURATION, HIT_DT = 1.5, 0.005  # s
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


def hit_stack(seed: int) -> tuple[vi.Mechanism, vi.State]:
    """Five cubes on one another, and the ball that rolls towards them; the state in which it starts."""
    rng = np.random.default_rng(seed)
    size, radius = (0.2, 0.2, 0.2), 0.15
    bodies = [vi.Body.box(f"b{k}", size, 1.0, position=(0, 0, 0.1 + 0.2 * k), collision=True) for k in range(5)]
    aside = rng.uniform(-0.05, 0.05)
    bodies.append(vi.Body.sphere("ball", radius, 3.0, position=(-0.6, aside, radius), collision=True))
    law = {"friction": rng.uniform(0.2, 0.8), "restitution": rng.choice([0.0, 0.0, 0.3])}
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    contacts = [vi.ContactPairs("contacts", bodies="all", **law)]
    mechanism = vi.Mechanism("stack", bodies, free, forces=contacts, ground=(vi.PlaneShape(),))
    speed = rng.uniform(2.0, 4.0)
    rolls = {"velocity": {"ball": (speed, 0, 0)}, "angular_velocity": {"ball": (0, speed / radius, 0)}}
    return mechanism, mechanism.state(**rolls)


def fallen(count: int, seed: int) -> Iterator[tuple[vi.Mechanism, vi.State, float, float]]:
    """Random stacks that fall: mechanism, start, duration and step, s."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        mechanism = stack(rng)
        yield mechanism, mechanism.state(), DURATION, DT


def hit(count: int, seed: int) -> Iterator[tuple[vi.Mechanism, vi.State, float, float]]:
    """Random stacks that are hit, as `fallen`."""
    for n in range(count):
        yield *hit_stack(seed + n), HIT_DURATION, HIT_DT


def report(cases: Iterator[tuple[vi.Mechanism, vi.State, float, float]]) -> None:
    """Print what is not solved, overlaps or gains energy, and how many do."""
    told, deep, gains, began, count = 0, [], 0, time.perf_counter(), 0
    for n, (mechanism, state, duration, dt) in enumerate(cases):
        count = n + 1
        try:
            run = vi.simulate(mechanism, duration, dt, state=state, on_unresolved="ignore")
        except vi.ConvergenceError as error:
            told += 1
            print(f"{n}: {len(mechanism.bodies)} bodies: {error}", flush=True)
            continue
        depth, gain = max(each.max() for each in run.penetration.values()), np.diff(run.energy).max()
        if depth > DEEP or gain > GAINED:
            print(f"{n}: {len(mechanism.bodies)} bodies: overlap {depth:.1e} m, gain {gain:.1e} J", flush=True)
        gains += gain > GAINED
        deep += [depth] if depth > DEEP else []
    largest, seconds = max(deep, default=0.0), time.perf_counter() - began
    print(
        f"of {count}: {told} told, {len(deep)} overlap by up to {largest:.1e} m, {gains} gain energy; {seconds:.0f} s"
    )


if __name__ == "__main__":
    arguments, is_hit = sys.argv[1:], sys.argv[1:2] == ["hit"]
    numbers = [int(argument) for argument in arguments[1 if is_hit else 0 :]]
    how_many, first = numbers[0] if numbers else (24 if is_hit else 120), numbers[1] if len(numbers) > 1 else 0
    report((hit if is_hit else fallen)(how_many, first))
