"""Rhombi of four links hanging one below the other, released at rest: a loop each."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link, polar


def build(m: int = 4, opening: float = np.pi / 2, tilt: float = np.pi / 6) -> vi.Mechanism:
    """Rhombi of links of 0.1 x 0.1 x 1 m and 1 kg on revolute joints about y, the first hung from the origin.

    Released at rest. The upper links of a rhombus both hang from the lower left link of the one above, so that no
    loop needs another.

    Zero of the coordinates: the pose at the start, with each rhombus opened by ``opening``.

    Parameters
    ----------
    m : int
        Number of rhombi.
    opening : float, rad
        Angle at the top corner of each rhombus at the start.
    tilt : float, rad
        Of the whole chain about +y from hanging at the start.
    """
    left, right = (polar(1.0, -np.pi / 2 - tilt + side * opening / 2) for side in (-1, 1))
    bodies, joints = [], []

    def hinge(name, body_a, body_b, point):
        joints.append(vi.Revolute(name, body_a, body_b, point=point, axis=(0, 1, 0)))

    top, bearer = np.zeros(3), "world"
    for i in range(1, m + 1):
        bottom = top + left + right
        upper_left, upper_right = f"upper left {i}", f"upper right {i}"
        lower_left, lower_right = f"lower left {i}", f"lower right {i}"
        bodies += [
            link(upper_left, top, top + left),
            link(upper_right, top, top + right),
            link(lower_left, top + left, bottom),
            link(lower_right, top + right, bottom),
        ]
        hinge(f"top left {i}", bearer, upper_left, top)
        hinge(f"top right {i}", bearer, upper_right, top)
        hinge(f"left {i}", upper_left, lower_left, top + left)
        hinge(f"right {i}", upper_right, lower_right, top + right)
        hinge(f"bottom {i}", lower_left, lower_right, bottom)
        top, bearer = bottom, lower_left
    return vi.Mechanism(f"chain of {m} rhombi", bodies, joints)


# each rhombus opens and turns; its hinges are parallel, so 3 of the 25 rows of its loop are redundant
EXPECTED = {
    "bodies": 16,
    "rows": 100,
    "mobility": 8,
    "redundant": 12,
    "loops": 4,
    "dt": 0.01,
    "variants": [{"m": 2, "opening": 1.0, "tilt": -0.5}],
    "order": [{"parameters": {"m": 1}}],
}
