"""Scene 16 of the reference implementation of REDMAX: a plate that slides in its plane, with two bars below it."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A plate of 10 x 10 x 1 cm slides level without turning. A bar of 10 cm below its left side on a hinge about y
    starts at 90 degrees, one below its front on a hinge about x at 45 degrees; released at rest.

    Zero of the coordinates: the bars hanging.
    """
    scene = Scene("redmax 16")
    scene.add(cuboid(10, 10, 1), joint=partial(vi.PlanarTranslation, axis=(0, 0, 1)))
    about_x = partial(vi.Revolute, axis=(1, 0, 0))
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), parent=1, at=pose((-5, 0, 0)), q=np.pi / 2)
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), about_x, parent=1, at=pose((0, -5, 0)), q=np.pi / 4)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 1027.3404900101377}
