"""Scene 2 of the reference implementation of REDMAX: a cross bar below a post, with a bar below each of its ends."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import HINGE, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A post of 10 cm hangs from (0, 0, 15) cm on a hinge about x, a cross bar of 20 cm below it on one about z,
    bars of 10 cm below its ends on hinges about x and y, both at 45 degrees; released at rest.

    Zero of the coordinates: post and bars hanging, the cross bar along y.
    """
    scene = Scene("redmax 2")
    down, about_x, about_z = (
        pose((0, 0, -5)),
        partial(vi.Revolute, axis=(1, 0, 0)),
        partial(vi.Revolute, axis=(0, 0, 1)),
    )
    scene.add(cuboid(1, 1, 10), down, about_x, at=pose((0, 0, 15)))
    cross = scene.add(cuboid(1, 20, 1), joint=about_z, at=pose((0, 0, -10)))
    scene.add(cuboid(1, 1, 10), down, about_x, cross, pose((0, -10, 0)), q=np.pi / 4)
    scene.add(cuboid(1, 1, 10), down, HINGE, cross, pose((0, 10, 0)), q=np.pi / 4)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": -1123.9825362491047}
