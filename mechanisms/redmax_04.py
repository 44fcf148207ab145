"""Scene 4 of the reference implementation of REDMAX: a parallelogram with a bar below it."""

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """Two bars of 10 cm hang 20 cm apart from a fixed beam, a beam of 20 cm joins their ends, and a bar of 10 cm
    below its right end starts at 5 rad/s. A point on a line closes the loop.

    Zero of the coordinates: as drawn: bars hanging, beams level.
    """
    scene = Scene("redmax 4")
    bar, beam, down = cuboid(1, 1, 10), cuboid(20, 1, 1), pose((0, 0, -5))
    top = scene.add(beam, joint=vi.Fixed)
    left = scene.add(bar, down, parent=top, at=pose((-10, 0, 0)))
    right = scene.add(bar, down, parent=top, at=pose((10, 0, 0)))
    lower = scene.add(beam, pose((10, 0, 0)), parent=left, at=pose((0, 0, -10)))
    scene.add(bar, down, parent=lower, at=pose((10, 0, 0)), rate=5.0)
    scene.close(right, (0, 0, -5), lower, (10, 0, 0))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 3987.201184769629}
