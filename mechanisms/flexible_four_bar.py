"""A planar crank-rocker with a flexible coupler, a beam of plastic."""

import numpy as np

import varint as vi
from varint.mechanisms._links import NORMAL, hinge, link, meet, polar
from varint.mechanisms._sizes import Positive


def build(
    elements: int = 4,
    thickness: Positive = 0.01,
    E: Positive = 2.5e9,
    nu: float = 0.4,
    density: Positive = 1200.0,
    rate: float = 2 * np.pi,
) -> vi.Mechanism:
    """Crank 0.4 m and rocker 0.8 m of 1 kg/m on a ground of 1 m, and a coupler of plastic, 1 m long and 30 mm wide.

    It moves in the x-z plane, and starts undeformed and with the velocities of a rigid coupler.

    Zero of the coordinates: the pose at the start, with the crank at 60 degrees: "crank pivot" counts from there, from
    x towards z; "coupler k": displacement and rotation of node k of the coupler relative to node k - 1, m and rad.

    Parameters
    ----------
    elements : int
        Of the coupler.
    thickness : float, m
        Of the coupler in the plane.
    E : float, Pa
        Of the coupler.
    nu : float, 1
        Of the coupler.
    density : float, kg/m^3
        Of the coupler.
    rate : float, rad/s
        Of the crank at the start.
    """
    origin, pivot, crank_pin = np.zeros(3), polar(1.0, 0.0), polar(0.4, np.pi / 3)
    rocker_pin = meet(crank_pin, pivot, 1.0, 0.8)
    section = vi.Section.rectangle(0.03, thickness, E=E, nu=nu, density=density)
    coupler = vi.beam(
        "coupler", None, None, point_a=crank_pin, point_b=rocker_pin, elements=elements, section=section,
        normal=np.cross(NORMAL, rocker_pin - crank_pin),
    )  # fmt: skip
    bodies = [link("crank", origin, crank_pin), *coupler.bodies, link("rocker", pivot, rocker_pin)]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("crank pin", "crank", "coupler 0", crank_pin),
        *coupler.joints,
        hinge("rocker pin", f"coupler {elements}", "rocker", rocker_pin),
        hinge("rocker pivot", "world", "rocker", pivot),
    ]
    start = {"rates": {"crank pivot": rate}}
    return vi.Mechanism("flexible four-bar", bodies, joints, start=start, forces=coupler.forces)


EXPECTED = {
    "bodies": 7,
    "rows": 20,
    "mobility": 22,
    "redundant": 0,
    "loops": 1,
    "dt": 0.001,
    "duration": 2.0,
    "variants": [{"elements": 2, "thickness": 0.02, "rate": -3.0}],
    "impossible": [{"elements": 0}],
}
