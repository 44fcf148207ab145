"""Parallel four-bars in a row, all rods equal (IFToMM benchmark A02)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge


def build(N: int = 2, speed: float = 1.0) -> vi.Mechanism:
    """Upright rods on the ground, 1 m apart, and level rods between their tops, of 1 m and 1 kg each.

    Where all rods are level they can swing apart: there the linkage has ``N`` + 1 degrees of freedom, everywhere else
    one.

    Zero of the coordinates: the pose at the start, with the uprights along z.

    Parameters
    ----------
    N : int
        Number of level rods, 1 or more; the uprights are one more.
    speed : float, m/s
        Of the tops along x at the start.
    """
    if N < 1:
        raise vi.MechanismError(f"N of n_four_bar must be 1 or more, got {N}")
    bodies, joints = [], []
    for i in range(N + 1):
        bodies.append(_rod(f"upright {i}", (i, 0, 0.5), (0, 0, 1)))
        joints.append(hinge(f"base {i}", "world", f"upright {i}", (i, 0, 0)))
    for i in range(1, N + 1):
        bodies.append(_rod(f"level {i}", (i - 0.5, 0, 1), (1, 0, 0)))
        joints.append(hinge(f"left {i}", f"upright {i - 1}", f"level {i}", (i - 1, 0, 1)))
        joints.append(hinge(f"right {i}", f"level {i}", f"upright {i}", (i, 0, 1)))
    return vi.Mechanism(f"{N}-fold four-bar", bodies, joints, start={"rates": {"base 0": -speed}})


def _rod(name, centre, along):
    # thin, but a body needs a moment about every axis: the one along it does not matter in a plane
    moments = np.where(along, 1e-4, 1 / 12)
    return vi.Body(name, mass=1.0, inertia=np.diag(moments), position=centre)


# the hinges are parallel: 3 of the 5 rows that close a loop are redundant
EXPECTED = {
    "bodies": 5,
    "rows": 35,
    "mobility": 1,
    "redundant": 6,
    "loops": 2,
    "dt": 0.01,
    "variants": [{"N": 3, "speed": -2.0}],
    "impossible": [{"N": 0}],
    "order": [{"parameters": {"N": 1}, "exact_first_order_start": True}],
}
