"""A planar slider-crank: crank, connecting rod and a slider on x."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, polar
from varint.mechanisms._sizes import Positive


def build(
    crank: Positive = 0.3, rod: Positive = 1.0, angle: float = np.pi / 3, rate: float = 2 * np.pi
) -> vi.Mechanism:
    """Crank and connecting rod of 1 kg/m in the x-z plane, a slider of 1 kg on x.

    The crank turns at the origin, by default all round.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``: "crank pivot" counts from there, from
    x towards z; but "slide" is the slider's x, m, zero at the origin.

    Parameters
    ----------
    crank : float, m
        Length of the crank.
    rod : float, m
        Length of the connecting rod.
    angle : float, rad
        Of the crank from x towards z at the start.
    rate : float, rad/s
        Of the crank at the start.
    """
    height = crank * np.sin(angle)
    if rod <= abs(height):
        raise vi.MechanismError(f"a rod of {rod:g} m does not reach the slider from a crank pin {abs(height):g} m off")
    origin, crank_pin = np.zeros(3), polar(crank, angle)
    wrist = polar(crank * np.cos(angle) + np.sqrt(rod**2 - height**2), 0.0)
    bodies = [
        link("crank", origin, crank_pin),
        link("rod", crank_pin, wrist),
        vi.Body.box("slider", size=(0.2, 0.1, 0.1), mass=1.0, position=wrist),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("crank pin", "crank", "rod", crank_pin),
        hinge("wrist pin", "rod", "slider", wrist),
        vi.Prismatic("slide", "world", "slider", point=origin, point_b=wrist, axis=(1, 0, 0)),
    ]
    return vi.Mechanism("slider-crank", bodies, joints, start={"rates": {"crank pivot": rate}})


EXPECTED = {
    "bodies": 3,
    "rows": 20,
    "mobility": 1,
    "redundant": 3,
    "loops": 1,
    "dt": 0.01,
    "variants": [{"crank": 0.2, "rod": 0.5, "angle": 3.0, "rate": -4.0}],
    "impossible": [{"crank": 2.0}],
}
