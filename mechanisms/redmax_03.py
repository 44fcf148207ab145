"""Scene 3 of the reference implementation of REDMAX: two bars on ball joints."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Two bars of 1 x 1 x 10 cm hang end to end on ball joints, both turned by pi / 8 about x; the first starts at
    a rate of 2 rad/s about z.

    Zero of the coordinates: the bars hanging.
    """
    scene = Scene("redmax 3")
    tilt = (np.pi / 8, 0, 0)
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), vi.Spherical, q=tilt, rate=(0, 0, 2))
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)), vi.Spherical, at=pose((0, 0, -10)), q=tilt)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 3.0, "energy": 7788.80556035431}
