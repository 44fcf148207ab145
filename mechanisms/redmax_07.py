"""Scene 7 of the reference implementation of REDMAX: three bars, each angle half of the one before."""

import varint as vi
from varint.mechanisms._redmax import Scene


def build() -> vi.Mechanism:
    """Three bars of 10 x 1 x 1 cm end to end along x, hinged about y, released level. Each angle is half of the one
    before.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 7")
    scene.chain(3)
    for number in (1, 2):
        ends = {"joint_a": f"joint {number}", "joint_b": f"joint {number + 1}"}
        scene.forces.append(vi.Equality(f"equality {number}", **ends, factor=0.5))
    return scene.mechanism()


EXPECTED = {"dt": 0.02, "duration": 2.0, "energy": 42645.15414209897}
