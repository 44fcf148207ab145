"""A planar four-bar linkage: crank, coupler and rocker on the ground."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link, meet, polar


def build(
    crank: float = 0.4,
    coupler: float = 1.0,
    rocker: float = 0.8,
    ground: float = 1.0,
    angle: float = np.pi / 3,
    rate: float = 2 * np.pi,
) -> vi.Mechanism:
    """Links of those lengths (m) and 1 kg/m in the x-z plane, hinged about y.

    The crank turns at the origin, the rocker at (ground, 0, 0). ``angle``: of the crank from x towards z
    in the reference configuration, rad; ``rate``: its rate at the start, rad/s. The rocker's end is
    above the line from the crank pin to the rocker's pivot.
    By default the crank is the shortest link and can turn all round (Grashof).
    """
    origin, pivot, crank_pin = np.zeros(3), polar(ground, 0.0), polar(crank, angle)
    rocker_pin = meet(crank_pin, pivot, coupler, rocker)
    bodies = [
        link("crank", origin, crank_pin),
        link("coupler", crank_pin, rocker_pin),
        link("rocker", pivot, rocker_pin),
    ]
    axis = (0, -1, 0)  # so that angles count from x towards z
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=origin, axis=axis),
        vi.Revolute("crank pin", "crank", "coupler", point=crank_pin, axis=axis),
        vi.Revolute("rocker pin", "coupler", "rocker", point=rocker_pin, axis=axis),
        vi.Revolute("rocker pivot", "world", "rocker", point=pivot, axis=axis),
    ]
    return vi.Mechanism("four-bar", bodies, joints, start={"rates": {"crank pivot": rate}})


EXPECTED = {"bodies": 3, "rows": 20, "mobility": 1, "loops": 1}
