"""Scene 21 of the reference implementation of REDMAX: a bar that runs along a spline, between two others."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A bar of 10 cm hangs from a hinge about y. A second runs around its end along a closed spline of four frames,
    20 x 4 cm; a third hangs on the second at 15 pi / 16. Released at rest.

    Zero of the coordinates: the second bar at the start of the spline, the third in line with it.
    """
    scene = Scene("redmax 21")
    corners = (((-10, 0, 0), np.pi), ((0, 0, -2), np.pi / 2), ((10, 0, 0), 0.0), ((0, 0, 2), -np.pi / 2))
    track = np.array([pose(shift, (0, angle, 0)) for shift, angle in corners])
    zero = vi.SplineCurve.pose(track, 0.0)
    scene.add(cuboid(1, 1, 10), pose((0, 0, -5)))
    scene.add(cuboid(10, 1, 1), zero @ pose((5, 0, 0)), partial(vi.SplineCurve, frames=track), at=pose((0, 0, -10)))
    scene.add(cuboid(10, 1, 1), pose((5, 0, 0)), at=zero @ pose((10, 0, 0)), q=15 * np.pi / 16)
    return scene.mechanism()


EXPECTED = {"dt": 0.005, "duration": 2.0, "energy": -30627.847981409726}
