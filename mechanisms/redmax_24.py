"""Scene 24 of the reference implementation of REDMAX: two bars below a fixed one, held by a spring and damper."""

import numpy as np

import varint as vi
from varint.mechanisms._redmax import CM, DYN, Scene, cuboid, pose


def build() -> vi.Mechanism:
    """A bar of 10 x 1 x 1 cm, fixed along x; a second hangs from its end on a hinge about y, a third is level
    again; released at rest. Between the first and the second a spring of 10^6 dyn with a damper of 10^3 dyn s, both
    by strain.

    Zero of the coordinates: the bars in line along x.
    """
    scene = Scene("redmax 24")
    bar, centre, end = cuboid(10, 1, 1), pose((5, 0, 0)), pose((10, 0, 0))
    scene.add(bar, centre, vi.Fixed)
    scene.add(bar, centre, at=end, q=np.pi / 2)
    scene.add(bar, centre, at=end, q=-np.pi / 2)
    length = CM * np.sqrt(6.5**2 + 0.5**2 + 5.5**2)  # at the start
    ends = scene.between(1, (-2, 0, -0.5), 2, (1, 0.5, -0.5))
    law = {"stiffness": 1e6 * DYN / length, "damping": 1e3 * DYN / length, "rest_length": length}
    scene.forces.append(vi.Spring("spring", **ends, **law))
    return scene.mechanism()


EXPECTED = {
    "dt": 0.01,
    "duration": 2.0,
    "energy": -18398.292633809768,
    "differs": "In the reference the damper pushes where it should pull, the turning of the force has no stiffness, "
    "and the energy of the spring is not divided by its length.",
}
