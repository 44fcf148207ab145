"""Three weights on one rope: two hang from its ends over fixed pulleys, the third from a loose pulley between them.

The rope has no mass and keeps its length, which `vi.UserConstraint` takes as a function of the poses. Where its parts
between the pulleys are vertical the accelerations are constant; where the fixed pulleys are ``apart`` they are not.
"""

import numpy as np

import varint as vi

MASSES = 2.0, 3.0, 4.0  # kg, of the ends and of the middle
HEIGHTS = -1.0, -0.6, -0.8  # m, below the fixed pulleys


def rope(position, apart):
    """Length of the rope, m: pulleys at the height zero, the outer ones ``apart`` from the middle one, m."""
    first, second, middle = position[:, 2]
    return 2 * np.sqrt(apart**2 + middle**2) - first - second


def build(apart=0.0):
    """The weights, which move up and down only."""
    places = [(x, 0.0, z) for x, z in zip((-0.5, 0.5, 0.0), HEIGHTS, strict=True)]
    names = ["left", "right", "middle"]
    bodies = [
        vi.Body.box(name, (0.1, 0.1, 0.1), mass, position=place)
        for name, mass, place in zip(names, MASSES, places, strict=True)
    ]
    slides = [vi.Prismatic(f"{body.name} slides", "world", body.name, axis=(0, 0, 1)) for body in bodies]
    length = rope(np.array(places), apart)
    keeps = vi.UserConstraint("rope", names, lambda position, rotation: rope(position, apart) - length)
    return vi.Mechanism("three weights on a rope", bodies, slides, forces=[keeps])


def tension():
    """N, of the vertical rope: T (1/m1 + 1/m2 + 4/m3) = 4 g."""
    first, second, middle = MASSES
    return 4 * 9.81 / (1 / first + 1 / second + 4 / middle)


def main():
    run = vi.simulate(build(), duration=0.5, dt=0.01)
    pull = -run.force["rope"][-1, 0]
    up = tension() * np.array([1.0, 1.0, 2.0]) / MASSES - 9.81
    print(f"tension {pull:.6f} N, in closed form {tension():.6f} N")
    print("heights after 0.5 s:", run.position[-1, :, 2], "in closed form:", HEIGHTS + 0.125 * up)
    run = vi.simulate(build(apart=0.5), duration=0.5, dt=0.01)
    print(f"pulleys apart: tension from {-run.force['rope'][0, 0]:.3f} N to {-run.force['rope'][-1, 0]:.3f} N")


if __name__ == "__main__":
    main()
