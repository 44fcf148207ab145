"""A stiff flyball governor: two arms on a turning shaft, springs hold up a slider (IFToMM A05)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import pointing

DENSITY, LENGTH, WIDTH, SLIDER, BALL = 3000.0, 1.0, 0.01, 0.1, 5.0  # kg/m^3, m, m, m, kg


def build(stiffness: float = 8e5, damping: float = 4e4, rate: float = 2 * np.pi) -> vi.Mechanism:
    """Shaft along z on a revolute joint, the arms 30 degrees below level, hinged to it 0.05 m off its axis at z = 1 m.

    A point mass of 5 kg ends each arm; a spring with a damper, at rest at the start, goes from the middle of each to
    the side of the slider.

    Zero of the coordinates: the pose at the start: the arms 30 degrees below level, the slider ("slide") at z = 0.5
    m.

    Parameters
    ----------
    stiffness : float, N/m
        Of each spring.
    damping : float, N s/m
        Of each damper.
    rate : float, rad/s
        Of the whole about z at the start.
    """
    shaft = vi.Body.box("shaft", size=(WIDTH, WIDTH, LENGTH), mass=DENSITY * WIDTH**2 * LENGTH, position=(0, 0, 0.5))
    slider = vi.Body.box("slider", size=(SLIDER,) * 3, mass=DENSITY * SLIDER**3, position=(0, 0, 0.5))
    bodies = [shaft, slider]
    joints = [
        vi.Revolute("bearing", "world", "shaft", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Prismatic("slide", "shaft", "slider", point=(0, 0, 0.5), axis=(0, 0, 1)),
    ]
    forces = []
    for name, side in (("right", 1), ("left", -1)):
        direction = np.array([side * np.cos(np.pi / 6), 0, -np.sin(np.pi / 6)])
        pivot = np.array([side * SLIDER / 2, 0, 1])
        middle, tip = pivot + LENGTH / 2 * direction, pivot + LENGTH * direction
        arm = vi.Body.box(
            "arm", size=(WIDTH, WIDTH, LENGTH), mass=shaft.mass, position=middle, quat_wxyz=pointing(direction)
        )
        bodies.append(vi.Body.composite(f"{name} arm", [arm, (BALL, tip)]))
        joints.append(vi.Revolute(f"{name} pivot", "shaft", f"{name} arm", point=pivot, axis=(0, side, 0)))
        ends = {"point_a": middle, "point_b": pivot - np.array([0, 0, LENGTH / 2])}
        forces.append(
            vi.Spring(f"{name} spring", f"{name} arm", "slider", **ends, stiffness=stiffness, damping=damping)
        )
    start = {"rates": {"bearing": rate}}
    return vi.Mechanism("governor", bodies, joints, forces=forces, start=start)


EXPECTED = {
    "bodies": 4,
    "rows": 20,
    "mobility": 4,
    "redundant": 0,
    "loops": 0,
    "dt": 1e-3,
    "order": [{"parameters": {"stiffness": 0.0, "damping": 0.0}}],
}
