"""Cost of hard contacts: a chain of n links on the ground, four points each, beside one without contacts, and a block
on four points beside the same block on a planar joint.

Also loose balls and boxes far apart, of which each pair may touch.

At rest and sliding, at 1 ms. The steps at the start, where the contacts close and start values settle, are left out. A
step with contacts is to take at most twice the time of one without, and the time is to grow as n.
"""

import itertools
import time
from dataclasses import replace

import numpy as np

import varint as vi
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme

LENGTHS = (10, 30, 100, 300, 1000)
LINK, THICK, DT = 0.2, 0.05, 1e-3  # m, m, s
RATIO_LIMIT, EXPONENT_LIMIT = 2.0, 1.1
AT_START, ROUNDS = 25, 5


def lying_chain(n: int, contacts: bool) -> vi.Mechanism:
    """A chain of ``n`` links along x, by ball joints; without contacts there is no gravity either."""
    places = LINK * (np.arange(n) + 0.5)
    bodies = [vi.Body.box(f"b{i}", (LINK, THICK, THICK), 0.1, position=(x, 0, THICK / 2)) for i, x in enumerate(places)]
    joints = [vi.Free("free", "world", "b0")] + [
        vi.Spherical(f"j{i}", f"b{i - 1}", f"b{i}", point=(LINK * i, 0, THICK / 2)) for i in range(1, n)
    ]
    feet = np.array([(a, b, -THICK / 2) for a in (-0.09, 0.09) for b in (-THICK / 2, THICK / 2)])
    forces = [vi.HardContact(f"f{i}", b.name, points=b.position + feet, friction=0.5) for i, b in enumerate(bodies)]
    gravity = (0.0, 0.0, -9.81) if contacts else (0.0, 0.0, 0.0)
    return vi.Mechanism("lying chain", bodies, joints, forces=forces if contacts else [], gravity=gravity)


def block(contacts: bool) -> vi.Mechanism:
    """A block on four points, or on a planar joint."""
    body = vi.Body.box("block", (1, 1, 1), 1.0, position=(0, 0, 0.5))
    feet = [(x, y, 0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    joint = vi.PlanarTranslation("plane", "world", "block", axis=(0, 0, 1))
    floor = vi.HardContact("floor", "block", points=feet, friction=0.25)
    free = vi.Free("free", "world", "block")
    return vi.Mechanism("block", [body], [free if contacts else joint], forces=[floor] if contacts else [])


def loose(n: int, kind: str, contacts: bool) -> vi.Mechanism:
    """``n`` bodies of 1 m, 3 m apart, in space."""
    side = round(n ** (1 / 3) + 0.49)
    places = [(3.0 * (i % side), 3.0 * (i // side % side), 3.0 * (i // side**2)) for i in range(n)]
    make, size = (vi.Body.sphere, 0.5) if kind == "balls" else (vi.Body.box, (0.8, 0.9, 1.0))
    bodies = [make(f"b{i}", size, 1.0, position=at, collision=contacts) for i, at in enumerate(places)]
    joints = [vi.Free(f"f{i}", "world", f"b{i}") for i in range(n)]
    pairs = [vi.ContactPairs("pairs", bodies=[body.name for body in bodies], friction=0.3)] if contacts else []
    return vi.Mechanism("loose", bodies, joints, forces=pairs, gravity=(0.0, 0.0, 0.0))


def step_of(mechanism: vi.Mechanism, speed: float, at_random: float = 0.0) -> tuple[float, float]:
    """Shortest wall time of a step, s, and Newton iterations a step; NaN where steps are not solved.

    ``speed`` : of all bodies; ``at_random``: of each, in any direction, m/s.
    """
    n = len(mechanism.bodies)
    state = mechanism.state()
    own = at_random * np.random.default_rng(1).standard_normal(state.velocity.shape)
    march = March(mechanism.compiled, scheme(2), DT, 1e-10, 1 << 40)
    march.start(replace(state, velocity=state.velocity + own + speed * np.array([0.96, 0.28, 0.0])))
    steps = max(5 if at_random == 0.0 else 500, 20_000 // n)
    march.advance(AT_START)
    saved, best = march.checkpoint(), float("inf")
    for _ in range(ROUNDS):
        march.restore(saved)
        began = time.perf_counter()
        block = march.advance(steps)
        best = min(best, (time.perf_counter() - began) / steps)
        if march.failure is not None:
            return np.nan, np.nan
    return best, block.newton_iterations / steps


def measure():
    rows = []
    for speed, what in ((0.0, "at rest"), (30.0, "sliding")):
        seconds = []
        for n in LENGTHS:
            own, count = step_of(lying_chain(n, True), speed)
            plain, _ = step_of(lying_chain(n, False), speed)
            ratio = own / plain
            seconds.append(own)
            figures = f"{own / n * 1e6:.2f} us a link, {count:.1f} iterations, {ratio:.2f} times that without"
            rows.append((f"a step, n = {n}, {what}", figures, f"<= {RATIO_LIMIT}", ratio <= RATIO_LIMIT))
        own, count = step_of(block(True), speed)
        ratio = own / step_of(block(False), speed)[0]
        figures = f"{own * 1e6:.2f} us, {count:.1f} iterations, {ratio:.2f} times that of a planar joint"
        rows.append((f"a block, {what}", figures, f"<= {RATIO_LIMIT}", ratio <= RATIO_LIMIT))
        solved = np.isfinite(seconds)
        exponent = np.polyfit(np.log(np.array(LENGTHS)[solved]), np.log(np.array(seconds)[solved]), 1)[0]
        rows.append((f"exponent in n, {what}", f"{exponent:.3f}", f"<= {EXPONENT_LIMIT}", exponent <= EXPONENT_LIMIT))
    for kind, n in itertools.product(("balls", "boxes"), (10, 100, 400)):
        own, plain = (step_of(loose(n, kind, contacts), 0.0, at_random=0.3)[0] for contacts in (True, False))
        figures = f"{own * 1e6:.1f} us, {own / plain:.2f} times that without"
        rows.append((f"{n} loose {kind}", figures, f"<= {RATIO_LIMIT}", own / plain <= RATIO_LIMIT))
    return rows


if __name__ == "__main__":
    for row in measure():
        print(*row, sep="; ")
