"""A rope ladder of hinged links, hung by one end or both: many loops that share bodies."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, polar


def build(k: int = 4, closed: bool = False, angle: float = 0.3) -> vi.Mechanism:
    """Two rails of links of 1 kg/m, hinged end to end, and rungs between their joints; released at rest.

    Open: links of some 0.5 m, straight, with a rung at each joint and at the free ends. Closed: the last links are
    hinged to the ground too, the left rail lies on a half circle. Each rung is a tenth shorter than the one before:
    so no cell can fall flat, and no pose has freedoms that the count of hinges does not give.

    Zero of the coordinates: the pose at the start, turned by ``angle``.

    Parameters
    ----------
    k : int
        Number of links of a rail, 1 or more, 4 or more where closed.
    closed : bool
        Whether the last links are hinged to the ground.
    angle : float, rad
        From hanging towards x at the start; where closed, of the half circle.
    """
    least = 4 if closed else 1  # closed with three it cannot move
    if k < least:
        raise vi.MechanismError(f"k of ladder must be {least} or more with closed={closed}, got {k}")
    rails = _bridge(k, angle) if closed else _hanging(k, angle)
    bodies, joints = [], []
    for side, points in zip(("left", "right"), rails, strict=True):
        for i in range(1, k + 1):
            bodies.append(link(f"{side} {i}", points[i - 1], points[i], width=0.05))
            bearer = f"{side} {i - 1}" if i > 1 else "world"
            joints.append(hinge(f"{side} {i}", bearer, f"{side} {i}", points[i - 1]))
        if closed:
            joints.append(hinge(f"{side} end", f"{side} {k}", "world", points[k]))
    for i in range(1, k if closed else k + 1):
        left, right = (points[i] for points in rails)
        bodies.append(link(f"rung {i}", left, right, width=0.05))
        joints.append(hinge(f"rung {i} left", f"left {i}", f"rung {i}", left))
        joints.append(hinge(f"rung {i} right", f"right {i}", f"rung {i}", right))
    return vi.Mechanism(f"ladder of {k} cells", bodies, joints)


def _hanging(k, angle):
    """Points (3,) of the two rails of an open ladder."""
    return [
        [0.5 * i * polar(1.0, angle - np.pi / 2) + side * 0.25 * 0.9**i * polar(1.0, angle) for i in range(k + 1)]
        for side in (-1, 1)
    ]


def _bridge(k, angle):
    """Points (3,) of the two rails of a closed ladder, each hung from two points of the ground."""
    radius = 0.25 / np.sin(np.pi / (2 * k))  # outer links of 0.5 m
    turns = angle + np.pi * (1 + np.arange(k + 1) / k)
    return [
        [polar(radius, turn) for turn in turns],
        [polar(radius - 0.4 * 0.9**i, turn) for i, turn in enumerate(turns)],
    ]


# Planar degrees of freedom, 3 a body less 2 a hinge: 3 (3 k) - 2 (4 k) = k open; closed, with the last rung in the
# ground, 3 (3 k - 1) - 2 (4 k) = k - 3. 3 rows of each of the k, closed k + 1, loops are redundant.
EXPECTED = {
    "bodies": 12,
    "rows": 80,
    "mobility": 4,
    "redundant": 12,
    "loops": 4,
    "dt": 0.005,
    "variants": [{"k": 5, "closed": True, "angle": 0.1}],
    "impossible": [{"k": 0}, {"k": 3, "closed": True}],
    "order": [{"parameters": {"k": 2}, "speed": 0.3}],
}
