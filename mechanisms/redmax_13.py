"""Scene 13 of the reference implementation of REDMAX: four bars in a zigzag, the last moved as prescribed."""

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, move_last, pose


def build() -> vi.Mechanism:
    """A bar of 10 cm hangs from a hinge about y, then a level one, an upright one and a level one, hinged end to
    end. The last turns about its centre by -4 rad in 4 s, then back while it moves along -x by 8 cm, until 8 s.

    Zero of the coordinates: as drawn: bars upright and level.
    """
    scene = Scene("redmax 13")
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=pose((0, 0, -10)))
    scene.add(cuboid(1, 1, 10), pose((0, 0, 5)), at=pose((10, 0, 0)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=pose((0, 0, 10)))
    move_last(scene)
    return scene.mechanism()


EXPECTED = {
    "dt": 0.05,
    "duration": 10.0,
    "energy": -765.6565884021354,
    "differs": "The reference prescribes velocities alone, and the body drifts from its course; here it is on it.",
}
