"""A ring of links hung from one joint, released at rest (VI Fig. 5b)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link

JOINTS = ("revolute", "spherical")


def build(n: int = 6, joint: str = "revolute", angle: float = 0.3) -> vi.Mechanism:
    """Links of 0.1 x 0.1 x 1 m and 1 kg, a regular polygon in the x-z plane with one corner at the origin.

    Zero of the coordinates: the pose at the start, turned by ``angle``.

    Parameters
    ----------
    n : int
        Number of links, 3 or more.
    joint : str
        "revolute" (axes along y) or "spherical", of all corners and of the suspension.
    angle : float, rad
        Of the centre of the ring about +y from below the origin at the start.
    """
    if joint not in JOINTS:
        raise vi.MechanismError(f"joint of ring must be one of {JOINTS}, got {joint!r}")
    if n < 3:
        raise vi.MechanismError(f"n of ring must be 3 or more, got {n}")
    radius, turns = 0.5 / np.sin(np.pi / n), angle + 2 * np.pi * np.arange(n + 1) / n
    centre = radius * np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    points = centre + radius * np.stack([np.sin(turns), 0 * turns, np.cos(turns)], axis=1)
    bodies = [link(f"link {i}", points[i - 1], points[i]) for i in range(1, n + 1)]
    names = ["world", *(body.name for body in bodies)]
    joints = []
    for i in range(1, n + 2):
        ends = (names[i - 1], names[i] if i <= n else names[1])
        if joint == "revolute":
            joints.append(vi.Revolute(f"joint {i}", *ends, point=points[i - 1], axis=(0, 1, 0)))
        else:
            joints.append(vi.Spherical(f"joint {i}", *ends, point=points[i - 1]))
    return vi.Mechanism(f"ring of {n} links", bodies, joints)


# planar: 3 n - 2 (n + 1) = n - 2 freedoms, 3 of the 5 (n + 1) rows are redundant
EXPECTED = {
    "bodies": 6,
    "rows": 35,
    "mobility": 4,
    "redundant": 3,
    "loops": 1,
    "dt": 0.002,
    "variants": [{"n": 5, "joint": "spherical"}, {"n": 3}],
    "impossible": [{"joint": "fixed"}, {"n": 2}],
}
