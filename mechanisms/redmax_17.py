"""Scene 17 of the reference implementation of REDMAX: a plate that shifts freely, with two bars below it."""

from functools import partial

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A plate of 10 x 10 x 1 cm shifts without turning, without gravity. A bar of 10 cm below its left side on a
    hinge about y starts at 2 rad/s, one below its front on a hinge about x at 1 rad/s.

    Zero of the coordinates: the bars hanging.
    """
    scene = Scene("redmax 17", gravity=(0, 0, 0))
    scene.add(cuboid(10, 10, 1), joint=vi.Translational)
    about_x = partial(vi.Revolute, axis=(1, 0, 0))
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), parent=1, at=pose((-5, 0, 0)), rate=2.0)
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), about_x, parent=1, at=pose((0, -5, 0)), rate=1.0)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 836.2350063173606}
