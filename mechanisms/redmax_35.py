"""Scene 35 of the reference implementation of REDMAX: two bars that float in a plane."""

from functools import partial

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm in the x-y plane, joined by a hinge, under 1 cm/s^2 along -y. The first turns at 1
    rad/s, the second at the opposite rate against it.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 35", gravity=(0, -1, 0))
    normal = {"axis": (0, 0, 1)}
    scene.add(cuboid(10, 1, 1), joint=partial(vi.Planar, **normal), rate=(0.0, 0.0, 1.0))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), partial(vi.Revolute, **normal), at=pose((5, 0, 0)), rate=-1.0)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 10.0, "energy": 166.92324517569386}
