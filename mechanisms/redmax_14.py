"""Scene 14 of the reference implementation of REDMAX: three bars on universal joints."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import ORIGIN, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Three bars of 1 x 1 x 10 cm hang end to end on universal joints about x and y. The first and third lean by pi
    / 8 about x, the second about y; released at rest.

    Zero of the coordinates: the bars hanging.
    """
    scene = Scene("redmax 14")
    joint = partial(vi.Universal, axis=(1, 0, 0), axis_b=(0, 1, 0))
    for number in range(3):
        at, tilt = pose((0, 0, -10) if number else ORIGIN), (0, np.pi / 8) if number == 1 else (np.pi / 8, 0)
        scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), joint, at=at, q=tilt)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 9679.336542312747}
