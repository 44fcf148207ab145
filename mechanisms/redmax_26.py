"""Scene 26 of the reference implementation of REDMAX: two blocks."""

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Two blocks of 1 x 2 x 3 cm, one below the other, hinged about y at the left upper edge; released at rest.

    Zero of the coordinates: the blocks upright.
    """
    scene = Scene("redmax 26")
    scene.add(cuboid(1, 2, 3), pose((0.5, 0, -1.5)))
    scene.add(cuboid(1, 2, 3), pose((0.5, 0, -1.5)), at=pose((0, 0, -3)))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 1.0, "energy": 59.882088715568216}
