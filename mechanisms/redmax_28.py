"""Scene 28 of the reference implementation of REDMAX: two bars on balls with friction."""

import varint as vi
from varint.mechanisms._redmax import CM, Scene


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm end to end along x, on balls of 1 cm radius with a coefficient of friction of 5;
    released level.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 28")
    scene.chain(2, joint=vi.Spherical)
    for body in (1, 2):
        ball = {"coefficient": 5.0, "radius": 1 * CM}
        scene.forces.append(vi.JointCoulombFriction(f"friction {body}", joint=f"joint {body}", **ball))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 1.0,
    "energy": -184565.94591256976,
    "differs": "As scene 27, with six points on a ball.",
}
