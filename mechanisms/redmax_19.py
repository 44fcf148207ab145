"""Scene 19 of the reference implementation of REDMAX: a bar on a hinge and a slide."""

from functools import partial

import varint as vi
from varint.mechanisms._redmax import CM, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A bar of 1 x 1 x 10 cm stands on a hinge about x, 0.1 rad from upright, which slides along x, at 1 cm/s at
    the start.

    Zero of the coordinates: the bar upright.
    """
    scene = Scene("redmax 19")
    parts = [{"type": kind, "axis": (1, 0, 0)} for kind in ("Revolute", "Prismatic")]
    joint = partial(vi.Composite, parts=parts)
    scene.add(cuboid(1, 1, 10), pose((0, 0, 5)), joint, q=(0.1, 0.0), rate=(0.0, 1 * CM))
    return scene.mechanism()


EXPECTED = {"dt": 0.02, "duration": 2.0, "energy": 918.5086593280603}
