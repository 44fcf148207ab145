"""Scene 20 of the reference implementation of REDMAX: five bars, the last moved and the third hinge turned as given."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, move_last, pose


def _angle(t):
    return 0.5 * np.pi * (1 / (1 + np.exp(7 - 1.4 * t)) - 1 / (1 + np.exp(7)))


def build() -> vi.Mechanism:
    """As scene 13 with two level bars in a row: the hinge between them turns by pi / 2 in 10 s along 1 / (1 +
    exp(-1.4 t + 7)). The last bar turns about its centre by -4 rad in 4 s, then back while it moves along -x by 8
    cm, until 8 s.

    Zero of the coordinates: as drawn: bars upright and level.
    """
    scene = Scene("redmax 20")
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=pose((0, 0, -10)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=pose((10, 0, 0)))
    scene.add(cuboid(1, 1, 10), pose((0, 0, 5)), at=pose((10, 0, 0)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=pose((0, 0, 10)))
    move_last(scene)
    scene.forces.append(vi.PrescribedMotion("drive", joint="joint 3", position=_angle))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.05,
    "duration": 10.0,
    "energy": 50368.35870151553,
    "differs": "As scene 13; and the joint is drawn to its course as in scene 9.",
}
