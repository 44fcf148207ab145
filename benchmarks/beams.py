"""Cost of an element of a beam in a step against that of a rigid link on ball joints, by their number.

``python benchmarks/beams.py`` prints microseconds an element and step, and iterations a step, of both, and for steel.
"""

import time

import numpy as np

import varint as vi

COUNTS, DT, DURATION, REPEATS = (8, 16, 64, 400), 1e-3, 0.2, 3  # s
SOFT = vi.Section(EA=1e5, GJ=5.0, EI=10.0, kGA=4e4, mass_per_length=1.0)
STEEL = vi.Section.rectangle(0.01, 0.01, E=2.07e11, nu=0.3, density=7850.0)


def chain(n):
    """Rods of 1 m in all on ball joints."""
    bodies = [vi.Body.rod(f"rod {k}", (k / n, 0, 0), ((k + 1) / n, 0, 0), mass=1 / n, radius=0.1 / n) for k in range(n)]
    joints = [
        vi.Spherical(f"ball {k}", f"rod {k - 1}" if k else "world", f"rod {k}", point=(k / n, 0, 0)) for k in range(n)
    ]
    return vi.Mechanism("chain", bodies, joints)


def beam(n, section):
    """A cantilever of 1 m that falls."""
    parts = vi.beam(
        "beam", "world", None, point_a=(0, 0, 0), point_b=(1, 0, 0), elements=n, section=section, normal=(0, 0, 1)
    )
    return vi.Mechanism("beam", parts.bodies, parts.joints, forces=parts.forces)


def cost(mechanism):
    """Microseconds a body and step, the best of REPEATS runs, and Newton iterations a step."""
    steps = round(DURATION / DT)
    vi.simulate(mechanism, 10 * DT, DT)
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run = vi.simulate(mechanism, DURATION, DT, every=steps)
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds) / steps / len(mechanism.bodies), np.mean(run.newton_iterations) / steps


def main():
    print("elements   rigid link       soft beam         steel beam      (us an element and step, iterations a step)")
    for n in COUNTS:
        columns = [cost(chain(n)), cost(beam(n, SOFT)), cost(beam(n, STEEL))]
        print(f"{n:8d} " + "".join(f"{us:8.2f} {iterations:6.2f}   " for us, iterations in columns))


if __name__ == "__main__":
    main()
