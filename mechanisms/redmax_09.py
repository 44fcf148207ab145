"""Scene 9 of the reference implementation of REDMAX: three bars, the first turned as prescribed."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene


def _angle(t):
    return 1.5 * np.pi / (1 + np.exp(7 - 2 * t))


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about y, without gravity. The first turns by 3 pi / 2
    in some 7 s, along 1 / (1 + exp(-2 t + 7)).

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 9", gravity=(0, 0, 0))
    scene.chain(3, q=(_angle(0.0),))
    scene.forces.append(vi.PrescribedMotion("drive", joint="joint 1", position=_angle))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.02,
    "duration": 10.0,
    "energy": 199570.93004318041,
    "differs": "The reference starts 0.0043 rad from the course and returns at 5 1/s times the distance at the end "
    "of the step, an error of the order of the step; here the joint is on its course.",
}
