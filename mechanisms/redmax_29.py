"""Scene 29 of the reference implementation of REDMAX: two bars that slide out of each other with friction."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cuboid, pose

GUIDE = 5 * CM  # length, and height in the plane of the load


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm along a line that falls by 60 degrees, each sliding on the one before; released at
    rest. Guides of 5 x 0.5 x 5 cm with a coefficient of friction of 0.8.

    Zero of the coordinates: the bars end to end.
    """
    scene = Scene("redmax 29")
    line = np.array([np.cos(np.pi / 3), 0.0, -np.sin(np.pi / 3)])
    slide, lean = partial(vi.Prismatic, axis=line), pose(turned=(0, np.pi / 3, 0))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), slide, at=lean)
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), slide, at=pose((10, 0, 0)))
    for body in (1, 2):
        bar = {"coefficient": 0.8, "radius": 0.5 * GUIDE, "length": GUIDE}
        scene.forces.append(vi.JointCoulombFriction(f"friction {body}", joint=f"joint {body}", **bar))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 1.0,
    "energy": -256391.50659695637,
    "differs": "As scene 27: here the pressures are the same, and what is left are its projections, stopped at 1e-3.",
}
