"""A chain of three links whose both ends hang from the world, released at rest (VI Fig. 4b)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link, meet, polar
from varint.mechanisms._sizes import NotNegative

JOINTS = ("revolute", "spherical")


def build(joint: str = "revolute", span: NotNegative = 1.5, angle: float = np.pi / 4) -> vi.Mechanism:
    """Three links of 1 m and 1 kg from the origin to (span, 0, 0), released at rest.

    Zero of the coordinates: the pose at the start, with the first link at ``angle``.

    Parameters
    ----------
    joint : str
        "revolute" (axes along y) or "spherical".
    span : float, m
        Distance of both ends.
    angle : float, rad
        Of the first link from hanging towards x at the start.
    """
    if joint not in JOINTS:
        raise vi.MechanismError(f"joint of three_link_loop must be one of {JOINTS}, got {joint!r}")
    start, end = np.zeros(3), polar(span, 0.0)
    first = polar(1.0, angle - np.pi / 2)
    points = [start, first, meet(end, first, 1.0, 1.0), end]
    bodies = [link(f"link {i}", points[i - 1], points[i]) for i in range(1, 4)]
    names = ["world", "link 1", "link 2", "link 3", "world"]
    joints = []
    for i, point in enumerate(points, start=1):
        ends = (f"joint {i}", names[i - 1], names[i])
        if joint == "revolute":
            joints.append(vi.Revolute(*ends, point=point, axis=(0, 1, 0)))
        else:
            joints.append(vi.Spherical(*ends, point=point))
    return vi.Mechanism("three-link loop", bodies, joints)


EXPECTED = {
    "bodies": 3,
    "rows": 20,
    "mobility": 1,
    "redundant": 3,
    "loops": 1,
    "dt": 0.01,
    "variants": [{"joint": "spherical"}],
    "impossible": [{"joint": "fixed"}, {"span": 4.0}],
}
