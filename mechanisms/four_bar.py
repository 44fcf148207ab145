"""A planar four-bar linkage: crank, coupler and rocker on the ground."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, meet, polar
from varint.mechanisms._sizes import NotNegative, Positive

# crank, coupler, rocker, ground, m. Grashof: the shortest link turns all round against the others if it and the
# longest are together shorter than the other two; at equal sums the linkage can fall flat
CASES = {
    "crank-rocker": (0.4, 1.0, 0.8, 1.0),
    "double-crank": (0.9, 0.8, 1.0, 0.4),
    "double-rocker": (0.8, 0.4, 1.0, 0.9),
    "change-point": (0.4, 1.0, 0.4, 1.0),
    "triple-rocker": (0.8, 0.7, 0.9, 1.2),
}


def build(
    case: str = "crank-rocker",
    crank: Positive | None = None,
    coupler: Positive | None = None,
    rocker: Positive | None = None,
    ground: NotNegative | None = None,
    angle: float = np.pi / 3,
    rate: float = 2 * np.pi,
) -> vi.Mechanism:
    """Links of 1 kg/m in the x-z plane, hinged about y; by default crank 0.4, coupler 1, rocker 0.8, ground 1 m.

    The crank turns at the origin, the rocker at (ground, 0, 0). The rocker's end is above the line from the crank pin
    to the rocker's pivot.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``: "crank pivot" counts from there, from
    x towards z.

    Parameters
    ----------
    case : str
        Gives the lengths of crank, coupler, rocker and ground that are not given, m: "crank-rocker" 0.4, 1, 0.8, 1;
        "double-crank" 0.9, 0.8, 1, 0.4; "double-rocker" 0.8, 0.4, 1, 0.9; "change-point" 0.4, 1, 0.4, 1;
        "triple-rocker" 0.8, 0.7, 0.9, 1.2.
    crank : float, m
        Length; of the case where not given.
    coupler : float, m
        Length; of the case where not given.
    rocker : float, m
        Length; of the case where not given.
    ground : float, m
        Distance of the pivots; of the case where not given.
    angle : float, rad
        Of the crank from x towards z at the start.
    rate : float, rad/s
        Of the crank at the start.
    """
    if case not in CASES:
        raise vi.MechanismError(f"case of four_bar must be one of {tuple(CASES)}, got {case!r}")
    given = zip((crank, coupler, rocker, ground), CASES[case], strict=True)
    crank, coupler, rocker, ground = (default if length is None else length for length, default in given)
    origin, pivot, crank_pin = np.zeros(3), polar(ground, 0.0), polar(crank, angle)
    rocker_pin = meet(crank_pin, pivot, coupler, rocker)
    bodies = [
        link("crank", origin, crank_pin),
        link("coupler", crank_pin, rocker_pin),
        link("rocker", pivot, rocker_pin),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("crank pin", "crank", "coupler", crank_pin),
        hinge("rocker pin", "coupler", "rocker", rocker_pin),
        hinge("rocker pivot", "world", "rocker", pivot),
    ]
    return vi.Mechanism("four-bar", bodies, joints, start={"rates": {"crank pivot": rate}})


EXPECTED = {
    "bodies": 3,
    "rows": 20,
    "mobility": 1,
    "redundant": 3,
    "loops": 1,
    "dt": 0.01,
    "variants": [{"case": "double-crank", "ground": 0.3, "rate": -4.0}],
    "impossible": [{"ground": 3.0}, {"case": "crank"}],
}
