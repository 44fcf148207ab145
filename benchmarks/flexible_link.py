"""A flexible link as a beam against the same link cut into rigid pieces with springs: bodies for the same error.

``python benchmarks/flexible_link.py`` prints the largest error of the tip of a link, with a load and bare, over
three swings by the number of bodies, in parts of its amplitude. The reference is a beam of 64 elements.
"""

import numpy as np

import varint as vi

LENGTH, EI, MASS = 1.0, 10.0, 0.2  # m, N m^2, kg
LOADS = (10.0, 0.0)  # kg at the tip
BEAMS, PIECES, REFERENCE = (2, 4, 8, 16), (10, 20, 40), 64
STEPS, SWINGS = 1200, 3.0
SPEED = 0.3  # m/s, of the tip at the start


def as_beam(n, load):
    """The link as a beam of ``n`` elements, clamped at the origin."""
    section = vi.Section(EA=1e6, GJ=10.0, EI=EI, kGA=1e6, mass_per_length=MASS / LENGTH)
    parts = vi.beam(
        "link", "world", "tip" if load else None, point_a=(0, 0, 0), point_b=(LENGTH, 0, 0), elements=n,
        section=section, normal=(0, 0, 1),
    )  # fmt: skip
    tips = [vi.Body.sphere("tip", 0.01, load, position=(LENGTH, 0, 0))] if load else []
    bodies = [*parts.bodies, *tips]
    start = {body.name: np.array([0.0, 0.0, swing(body.position[0])]) for body in bodies}
    return vi.Mechanism("beam", bodies, parts.joints, forces=parts.forces, gravity=(0, 0, 0), start={"velocity": start})


def as_pieces(n, load):
    """The link as ``n`` rods on hinges with springs of EI n / L, at the clamp of twice that."""
    l, bodies, joints, forces, rates, before = LENGTH / n, [], [], [], {}, 0.0
    for k in range(n):
        name, parent, at = f"rod {k}", f"rod {k - 1}" if k else "world", (k * l, 0, 0)
        bodies.append(vi.Body.rod(name, at, ((k + 1) * l, 0, 0), mass=MASS / n))
        joints.append(vi.Revolute(f"hinge {k}", parent, name, point=at, axis=(0, -1, 0)))
        stiffness = EI / l * (1 if k else 2)
        forces.append(vi.TorsionSpring(f"spring {k}", joint=f"hinge {k}", stiffness=stiffness))
        slope = (swing((k + 1) * l) - swing(k * l)) / l
        rates[f"hinge {k}"], before = slope - before, slope
    if load:
        bodies.append(vi.Body.sphere("tip", 0.01, load, position=(LENGTH, 0, 0)))
        joints.append(vi.Fixed("load", f"rod {n - 1}", "tip", point=(LENGTH, 0, 0)))
    return vi.Mechanism("pieces", bodies, joints, forces=forces, gravity=(0, 0, 0), start={"rates": rates})


def swing(x):
    """Velocity at the start, m/s: the deflection under a force at the tip."""
    return SPEED * x * x * (3 * LENGTH - x) / (2 * LENGTH**3)


def period(load):
    """Of the first mode, s, by Rayleigh's quotient."""
    return 2 * np.pi / np.sqrt(3 * EI / LENGTH**3 / (load + 33 / 140 * MASS))


def tip(mechanism, load):
    """(T,) m, height of the tip over three swings."""
    duration = SWINGS * period(load)
    run = vi.simulate(mechanism, duration, duration / STEPS)
    return run.path(mechanism.bodies[-1].name, (LENGTH, 0, 0)).position[:, 2]


def main():
    for load in LOADS:
        wanted = tip(as_beam(REFERENCE, load), load)
        print(f"a load of {load:g} kg on a link of {MASS:g} kg: error of the tip over its amplitude")
        for what, make, counts in (("elements", as_beam, BEAMS), ("rigid pieces", as_pieces, PIECES)):
            for n in counts:
                error = np.abs(tip(make(n, load), load) - wanted).max() / np.abs(wanted).max()
                print(f"  {n:4d} {what:14s} {error:9.2e}", flush=True)


if __name__ == "__main__":
    main()
