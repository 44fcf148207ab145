"""What a spring and a damper in every joint of a chain of 100 links add to the cost of a step."""

import time

from common import chain, march_of

import varint as vi

LIMIT = 1.2  # times the plain chain
LINKS, STEPS, ROUNDS = 100, 300, 40


def sprung(plain):
    """The same mechanism with a spring and a damper along the coordinate of each joint."""
    forces = [vi.TorsionSpring(f"spring {j.name}", joint=j.name, stiffness=5.0) for j in plain.joints]
    forces += [vi.JointDamper(f"damper {j.name}", joint=j.name, damping=0.5) for j in plain.joints]
    return vi.Mechanism("sprung chain", plain.bodies, plain.joints, forces=forces, start=plain.start)


def measure():
    plain = chain(LINKS)
    marches = [march_of(mechanism) for mechanism in (plain, sprung(plain))]
    for march in marches:
        march.advance(50)
    saved = [march.checkpoint() for march in marches]
    best, iterations = [float("inf")] * 2, [0.0] * 2
    for _ in range(ROUNDS):  # in turn, so that both see the same machine
        for k, march in enumerate(marches):
            march.restore(saved[k])
            began = time.perf_counter()
            block = march.advance(STEPS)
            best[k] = min(best[k], (time.perf_counter() - began) / STEPS / LINKS * 1e6)
            iterations[k] = block.newton_iterations / STEPS
    rows = [
        (f"a step, chain n = {LINKS}, {what}", f"{t:.2f} us a link, {n:.2f} iterations", "", None)
        for what, t, n in zip(("plain", "spring and damper in each joint"), best, iterations, strict=True)
    ]
    ratio = best[1] / best[0]
    return [*rows, ("cost of the forces", f"{ratio:.2f} times", f"<= {LIMIT}", ratio <= LIMIT)]
