"""Scene 25 of the reference implementation of REDMAX: a bar and a cylinder, welded into one body."""

import numpy as np
from scipy.spatial.transform import Rotation

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, cylinder, pose


def build() -> vi.Mechanism:
    """A bar of 1 x 1 x 10 cm hangs from a hinge about y; a cylinder of 1 cm radius and 10 cm along x begins at its
    end. One body, released at rest.

    Zero of the coordinates: the bar hanging.
    """
    scene = Scene("redmax 25")
    bar, rod = pose((0, 0, -5)), pose((5, 0, -10), (0, np.pi / 2, 0))
    scene.add(cuboid(1, 1, 10), bar)
    across = Rotation.from_matrix(rod[:3, :3]).as_quat(scalar_first=True)
    cross = cylinder(1.0, 10.0)("rod", position=rod[:3, 3], quat_wxyz=across)
    scene.bodies = [vi.Body.composite("body 1", [scene.bodies[0], cross])]
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 1261.6057602036726}
