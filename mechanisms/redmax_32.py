"""Scene 32 of the reference implementation of REDMAX: a four-bar linkage that swings while its crank turns as given."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import HINGE, Scene, four_bar


def build() -> vi.Mechanism:
    """A base of 10 cm swings about its middle, at (0, 0, 10) cm, upside down; crank 4, coupler 14 and rocker 12 cm,
    hinged about y. The crank turns at 4 pi rad/s against the base, all else starts from rest.

    Zero of the coordinates: base and crank along x, coupler and rocker above.
    """
    scene = Scene("redmax 32")
    four_bar(scene, HINGE, at=(0, 0, 10), q=np.pi)
    scene.close(1, (5, 0, 0), 4, (-6, 0, 0))
    scene.forces.append(vi.PrescribedMotion("drive", joint="joint 2", rate=4 * np.pi))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.005,
    "duration": 1.0,
    "baumgarte": 20.0,
    "energy": 4641.916204153846,
    "differs": "The reference's crank has its rate from the end of the first step on, here from the start. The gap of "
    "the loop, a millimetre at this step, is closed in axes of the world, here in those of the base, which turns.",
}
