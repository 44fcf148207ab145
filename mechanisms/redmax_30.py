"""Scene 30 of the reference implementation of REDMAX: a four-bar linkage with friction in its pins."""

import varint as vi
from varint.mechanisms._redmax import CM, Scene, four_bar


def build() -> vi.Mechanism:
    """A base of 10 cm along x, fixed; crank 4, coupler 14 and rocker 12 cm, hinged about y; released at rest. Pins
    of 0.5 cm radius and length with a coefficient of friction of 0.3.

    Zero of the coordinates: the start, with the crank on the base.
    """
    scene = Scene("redmax 30")
    four_bar(scene, vi.Fixed)
    scene.joints.append(vi.Revolute("joint 5", "body 4", "body 1", point=scene.point(1, (5, 0, 0)), axis=(0, 1, 0)))
    for number in range(2, 6):
        pin = {"coefficient": 0.3, "radius": 0.5 * CM, "length": 0.5 * CM}
        scene.forces.append(vi.JointCoulombFriction(f"friction {number}", joint=f"joint {number}", **pin))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.005,
    "duration": 1.0,
    "baumgarte": 200.0,
    "energy": -14581.150852604054,
    "differs": "As scene 27.",
}
