"""Scene 5 of the reference implementation of REDMAX: three bars driven by torques that change twice."""

import varint as vi
from varint.mechanisms._redmax import CM, DYN, Scene

TORQUE = 100 * DYN * CM  # N m


def _first(t):
    return 0.0 if t < 6.0 else TORQUE


def _second(t):
    return 0.0 if t < 3.0 else TORQUE if t < 6.0 else -TORQUE


def _third(t):
    return TORQUE if t < 3.0 else -TORQUE if t < 6.0 else 0.0


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about y, without gravity. Torques in the hinges,
    in 100 dyn cm: 0, 0, 1 until 3 s, 0, 1, -1 until 6 s, then 1, -1, 0.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 5", gravity=(0, 0, 0))
    scene.chain(3)
    for number, torque in enumerate((_first, _second, _third), start=1):
        scene.forces.append(vi.Motor(f"torque {number}", joint=f"joint {number}", effort=torque))
    return scene.mechanism()


EXPECTED = {"dt": 0.05, "duration": 10.0, "energy": 170.59711830349056}
