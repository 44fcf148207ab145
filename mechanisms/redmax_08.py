"""Scene 8 of the reference implementation of REDMAX: a loop of six bars, two angles coupled, with a bar below it."""

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A beam of 10 cm, fixed; below its right end two bars of 10 cm, a level beam to the left, and two bars up to
    its left end; a bar of 10 cm below the middle of the lower beam starts at 10 rad/s. The angle of the upper left
    bar is half of that of the lower right one.

    Zero of the coordinates: as drawn: bars upright, beams level.
    """
    scene = Scene("redmax 8")
    bar, beam, down, up = cuboid(1, 1, 10), cuboid(10, 1, 1), pose((0, 0, -5)), pose((0, 0, 5))
    top = scene.add(beam, joint=vi.Fixed)
    scene.add(bar, down, at=pose((5, 0, 0)))
    scene.add(bar, down, at=pose((0, 0, -10)))
    lower = scene.add(beam, pose((-5, 0, 0)), at=pose((0, 0, -10)))
    scene.add(bar, up, at=pose((-10, 0, 0)))
    last = scene.add(bar, up, at=pose((0, 0, 10)))
    scene.add(bar, down, parent=lower, at=pose((-5, 0, 0)), rate=10.0)
    scene.close(top, (-5, 0, 0), last, (0, 0, 5))
    scene.forces.append(vi.Equality("equality", joint_a="joint 3", joint_b="joint 6", factor=0.5))
    return scene.mechanism()


EXPECTED = {"dt": 0.02, "duration": 2.0, "energy": 14677.43487483256}
