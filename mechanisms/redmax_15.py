"""Scene 15 of the reference implementation of REDMAX: a loop with a slide, and a bar below it."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A beam of 22 cm, fixed; from its left end hangs a bar of 10 cm, in whose lower end a beam of 22 cm slides
    along x; a bar from its right end meets the right end of the upper beam. A bar below its middle starts at 135
    degrees; released at rest.

    Zero of the coordinates: as drawn: bars hanging or standing, beams level.
    """
    scene = Scene("redmax 15")
    bar, beam = cuboid(1, 1, 10), cuboid(22, 1, 1)
    top = scene.add(beam, joint=vi.Fixed)
    scene.add(bar, pose((0, 0, -5)), at=pose((-11, 0, 0)))
    slide = scene.add(beam, pose((11, 0, 0)), partial(vi.Prismatic, axis=(1, 0, 0)), at=pose((0, 0, -10)))
    right = scene.add(bar, pose((0, 0, 5)), parent=slide, at=pose((22, 0, 0)))
    scene.add(bar, pose((0, 0, -5)), parent=slide, at=pose((11, 0, 0)), q=3 * np.pi / 4)
    scene.close(top, (11, 0, 0), right, (0, 0, 5))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": -17427.856197251604}
