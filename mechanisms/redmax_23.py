"""Scene 23 of the reference implementation of REDMAX: four bars joined by springs without a length."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, DYN, Scene


def build() -> vi.Mechanism:
    """Four bars of 10 x 1 x 1 cm end to end, hinged about y, the first hanging, the others at pi / 16; released at
    rest. Springs of 100 dyn/cm without a length join each bar, 1 cm before its centre, to the end of the next one.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 23")
    scene.chain(4, q=(np.pi / 2, *3 * [np.pi / 16]))
    for number in (1, 2, 3):
        ends = scene.between(number, (-1, 0, 0), number + 1, (5, 0, 0))
        scene.forces.append(vi.Spring(f"spring {number}", **ends, stiffness=100 * DYN / CM, rest_length=0.0))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 2.0, "energy": 2125.1442936080966}
