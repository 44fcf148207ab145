"""Scene 22 of the reference implementation of REDMAX: a bar that runs over a spline surface, between two others."""

from functools import partial
from itertools import product

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A bar of 10 cm hangs from a hinge about x, at pi / 8. A second runs below its end over a bowl of 4 x 4
    control values, from the middle of it; a third hangs on the second on a hinge about y, at 45 degrees. Released
    at rest.

    Zero of the coordinates: the second bar at (0.5, 0.5) of the surface, the others along it and hanging.
    """
    scene = Scene("redmax 22")
    controls = np.zeros((4, 4, 6))  # the second coordinate runs along x
    for (j, x), (i, y) in product(enumerate(np.linspace(-15, 15, 4)), repeat=2):
        tilt = np.pi / 60 * x
        controls[i, j] = CM * x, CM * y, CM * 0.05 * (x * x + y * y), tilt, tilt, 0.0
    middle = (0.5, 0.5)
    zero = vi.SplineSurface.pose(controls, middle)
    surface = partial(vi.SplineSurface, controls=controls, at=middle)
    down = pose((0, 0, -5))
    scene.add(cuboid(1, 1, 10), down, partial(vi.Revolute, axis=(1, 0, 0)), q=np.pi / 8)
    scene.add(cuboid(1, 1, 10), zero @ down, surface, at=pose((0, 0, -14)))
    joint = partial(vi.Revolute, axis=zero[:3, 1])
    scene.add(cuboid(1, 1, 10), down, joint, at=zero @ pose((0, 0, -10)), q=np.pi / 4)
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 2154.974057139989}
