"""Scene 18 of the reference implementation of REDMAX: a cube thrown up."""

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cuboid


def build() -> vi.Mechanism:
    """A cube of 1 cm starts at 3 cm/s along z, turning at (0.2, 0.4, 0.6) rad/s, under 1 cm/s^2.

    Zero of the coordinates: the start.
    """
    scene = Scene("redmax 18", gravity=(0, 0, -1))
    scene.add(cuboid(1, 1, 1), joint=vi.Free, rate=(0, 0, 3 * CM, 0.2, 0.4, 0.6))
    return scene.mechanism()


EXPECTED = {"dt": 0.01, "duration": 7.0, "energy": 4.511666666666882}
