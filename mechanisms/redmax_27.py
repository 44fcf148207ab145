"""Scene 27 of the reference implementation of REDMAX: two bars on hinges with friction, in a plane that leans."""

from functools import partial

import varint as vi
from varint.mechanisms._redmax import CM, Scene


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm end to end along x, on hinges across a plane that leans by 45 degrees; released
    level. Pins of 0.5 cm radius and 1 cm length with a coefficient of friction of 0.6.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 27")
    scene.chain(2, joint=partial(vi.Revolute, axis=(0, -1, 1)))
    for body in (1, 2):
        pin = {"coefficient": 0.6, "radius": 0.5 * CM, "length": 1 * CM}
        scene.forces.append(vi.JointCoulombFriction(f"friction {body}", joint=f"joint {body}", **pin))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 1.0,
    "energy": -137371.1285153437,
    "differs": "Friction of the reference: four directions of pressure around a pin and boxes for discs, reactions "
    "without the change of J, projections stopped at 1e-3; here Coulomb's law on a worn-in pin.",
}
