"""Scene 11 of the reference implementation of REDMAX: three bars on damped torsion springs."""

import varint as vi
from varint.mechanisms._redmax import CM, DYN, Scene


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about y, without gravity. Springs of 10^4 dyn cm and
    dampers of 10^3 dyn cm s in the hinges; the first starts at 1 rad/s.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 11", gravity=(0, 0, 0))
    scene.chain(3)
    for number in (1, 2, 3):
        torsion = {"stiffness": 1e4 * DYN * CM, "damping": 1e3 * DYN * CM, "rest_angle": 0.0}
        scene.forces.append(vi.TorsionSpring(f"spring {number}", joint=f"joint {number}", **torsion))
    scene.start["rates"]["joint 1"] = 1.0
    return scene.mechanism()


EXPECTED = {"dt": 0.02, "duration": 5.0, "energy": 2659.721889423424}
