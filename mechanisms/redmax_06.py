"""Scene 6 of the reference implementation of REDMAX: two bars, the second within hard limits."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import Scene


def build() -> vi.Mechanism:
    """Two bars of 10 x 1 x 1 cm end to end along x, hinged about y, released level. The second hinge stops at 45
    degrees to either side.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 6")
    scene.chain(2)
    scene.forces.append(vi.JointStop("limits", joint="joint 2", lower=-np.pi / 4, upper=np.pi / 4))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 2.0,
    "energy": 36957.444783000275,
    "differs": "The reference lets the bar go on beyond a limit and only then acts, at the upper limit with the "
    "wrong sign; here a step ends at the limit.",
}
