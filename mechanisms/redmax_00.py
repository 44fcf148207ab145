"""Scene 0 of the reference implementation of REDMAX: five bars, every second one welded to the one before."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import HINGE, ORIGIN, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Five bars of 10 x 1 x 1 cm end to end along x, hinged about y to the world and to each other; the second and
    the fourth are welded to the bar before. Each hinge is at 45 degrees; released at rest.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 0")
    for number in range(1, 6):
        hinged = number % 2 == 1
        at = pose((10, 0, 0) if number > 1 else ORIGIN)
        joint = HINGE if hinged else vi.Fixed
        scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), joint, at=at, q=np.pi / 4 if hinged else None)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": -5930.817111883487}
