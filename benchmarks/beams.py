"""Cost of an element of a beam in a step against that of a rigid link on ball joints, by their number.

``python benchmarks/beams.py`` prints microseconds an element and step, and iterations a step, of both, and for steel;
and the cost of a soft element over that of a rigid link, and over that of one among REFERENCE elements.
"""

import time

import varint as vi

COUNTS, REFERENCE, DT, DURATION, REPEATS = (8, 16, 25, 50, 100, 200, 400, 800), 50, 1e-3, 0.2, 3  # s
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


def costs(mechanisms):
    """Microseconds a body and step, the best of REPEATS runs in turn, and Newton iterations a step, of each."""
    steps, found = round(DURATION / DT), [[] for _ in mechanisms]
    for mechanism in mechanisms:
        vi.simulate(mechanism, 10 * DT, DT)
    for _ in range(REPEATS):
        for mechanism, seconds in zip(mechanisms, found, strict=True):
            start = time.process_time()
            run = vi.simulate(mechanism, DURATION, DT, every=steps)
            seconds.append((time.process_time() - start, run.newton_iterations / steps))
    return [
        (1e6 * min(seconds)[0] / steps / len(mechanism.bodies), seconds[0][1])
        for mechanism, seconds in zip(mechanisms, found, strict=True)
    ]


def main():
    rows = {n: costs([chain(n), beam(n, SOFT), beam(n, STEEL)]) for n in COUNTS}
    one = rows[REFERENCE][1][0]
    print("us an element and step, iterations a step; cost of a soft element over that of a rigid link,")
    print(f"and over that of one among {REFERENCE}")
    print("elements   rigid link       soft beam         steel beam")
    for n, columns in rows.items():
        (rigid, _), (soft, _), _ = columns
        text = "".join(f"{us:8.2f} {iterations:6.2f}   " for us, iterations in columns)
        print(f"{n:8d} {text} {soft / rigid:5.2f} {soft / one:5.2f}")


if __name__ == "__main__":
    main()
