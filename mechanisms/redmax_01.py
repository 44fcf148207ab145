"""Scene 1 of the reference implementation of REDMAX: three bars on hinges about z, y and z."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import ORIGIN, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about z, y and z. The last two hinges are at 90
    degrees; released at rest.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 1")
    for number, (axis, angle) in enumerate((((0, 0, 1), 0.0), ((0, 1, 0), np.pi / 2), ((0, 0, 1), np.pi / 2))):
        at = pose((10, 0, 0) if number else ORIGIN)
        scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), partial(vi.Revolute, axis=axis), at=at, q=angle)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": -9423.259402373402}
