"""The Peaucellier-Lipkin inversor: its tip moves on an exact straight line."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, meet, polar
from varint.mechanisms._sizes import Positive


def build(arm: Positive = 1.0, side: Positive = 0.7, crank: Positive = 0.3, angle: float = 1.0) -> vi.Mechanism:
    """Two arms hung from the origin, a rhombus between their ends, a crank on its upper corner; 1 kg/m.

    Released at rest. The crank turns ``crank`` below the origin, so its pin moves on a circle through the origin. The
    rhombus keeps the product of the distances of pin and tip from the origin at arm^2 - side^2, which makes a line of
    that circle: the tip stays (arm^2 - side^2) / (2 crank) below the origin. Where pin and tip meet, as they do not by
    default, the rhombus is in a singular pose.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``.

    Parameters
    ----------
    arm : float, m
        Length of the arms.
    side : float, m
        Of the rhombus.
    crank : float, m
        Length of the crank, and depth of its pivot below the origin.
    angle : float, rad
        Of the crank from hanging towards x at the start.
    """
    origin, pivot = np.zeros(3), polar(crank, -np.pi / 2)
    pin = pivot + polar(crank, angle - np.pi / 2)
    left, right = meet(pin, origin, side, arm), meet(origin, pin, arm, side)
    tip = polar(line_depth(arm, side, crank) / np.cos(angle / 2), (angle - np.pi) / 2)
    bodies = [
        link("crank", pivot, pin),
        link("left arm", origin, left),
        link("right arm", origin, right),
        link("upper left", pin, left),
        link("upper right", pin, right),
        link("lower left", left, tip),
        link("lower right", right, tip),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", pivot),
        hinge("left pivot", "world", "left arm", origin),
        hinge("right pivot", "world", "right arm", origin),
        hinge("crank pin left", "crank", "upper left", pin),
        hinge("crank pin right", "crank", "upper right", pin),
        hinge("left upper", "left arm", "upper left", left),
        hinge("left lower", "left arm", "lower left", left),
        hinge("right upper", "right arm", "upper right", right),
        hinge("right lower", "right arm", "lower right", right),
        hinge("tip", "lower left", "lower right", tip),
    ]
    return vi.Mechanism("Peaucellier-Lipkin inversor", bodies, joints)


def line_depth(arm: float, side: float, crank: float) -> float:
    """Depth of the tip's line below the origin, m."""
    return (arm**2 - side**2) / (2 * crank)


EXPECTED = {
    "bodies": 7,
    "rows": 50,
    "mobility": 1,
    "redundant": 9,
    "loops": 3,
    "dt": 0.01,
    "variants": [{"arm": 0.8, "side": 0.3, "crank": 0.4, "angle": -0.5}],
    "impossible": [{"angle": 3.0}],
    "order": [{"duration": 0.4, "slow": True}],
}
