"""Scene 31 of the reference implementation of REDMAX: two bars with a ball at the end, which meets the ground."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, Scene, pose, sphere


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm, hinged about y, the first at 45 degrees, the second level, and a ball of 1 cm at
    its end, welded on. The ground is 15 cm below. Coefficients of friction: 0.1 in the hinges, on pins of 1 cm
    radius and length, and 0.2 on the ground.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 31")
    scene.chain(2, q=(np.pi / 4, -np.pi / 4))
    scene.add(sphere(1.0), joint=vi.Fixed, at=pose((10, 0, 0)))
    for number in (1, 2):
        pin = {"coefficient": 0.1, "radius": 1 * CM, "length": 1 * CM}
        scene.forces.append(vi.JointCoulombFriction(f"friction {number}", joint=f"joint {number}", **pin))
    ground = {"radius": 1 * CM, "ground": (0, 0, -15 * CM), "friction": 0.2}
    scene.forces.append(vi.HardContact("ground", body="body 3", **ground))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 2.0,
    "baumgarte": 10.0,
    "energy": -90558.13460019592,
    "differs": "As scene 27; the ground acts only when the ball is in it.",
}
