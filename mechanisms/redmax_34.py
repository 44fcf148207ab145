"""Scene 34 of the reference implementation of REDMAX: two gears on a post, with a bar on each."""

from functools import partial

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cuboid, cylinder, pose

# In the source a surface of 0.1 g/cm^3. Of it only the moment about the axle counts: 0.88859 g cm^2, with which the
# published energy comes out
GEAR = partial(vi.Body.cylinder, radius=1.8 * CM, length=0.46 * CM, mass=0.8885943099494072e-7 * 2 / (1.8 * CM) ** 2)


def build() -> vi.Mechanism:
    """A post of 6 cm, fixed; two axles across it, 4 cm apart, each with a gear and a bar, of 7 cm and out of
    balance above, of 5 cm and balanced below. The gears turn each other the other way. Released with the bars
    level.

    Zero of the coordinates: the bars level.
    """
    scene = Scene("redmax 34")
    across, axis = pose(turned=(np.pi / 2, 0, 0)), partial(vi.Revolute, axis=(0, -1, 0))
    scene.add(cuboid(1, 1, 6), joint=vi.Fixed, at=pose(turned=(0, 0, np.pi)))
    above = scene.add(cylinder(0.2, 3.5), across, axis, parent=1, at=pose((0, -0.25, 2)))
    scene.add(GEAR, across, vi.Fixed, above, pose((0, -0.35, 0)))
    below = scene.add(cylinder(0.2, 3.0), across, axis, parent=1, at=pose((0, -0.5, -2)))
    scene.add(GEAR, across, vi.Fixed, below, pose((0, -0.1, 0)))
    scene.add(cuboid(5, 0.25, 0.25), pose((0, 1.5, 0)), vi.Fixed, below)
    scene.add(cuboid(7, 0.25, 0.25), pose((2, 1.75, 0)), vi.Fixed, above)
    scene.forces.append(vi.Equality("gears", joint_a=f"joint {above}", joint_b=f"joint {below}", factor=-1.0))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 1.0, "energy": -39.53388482253479}
