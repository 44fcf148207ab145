"""A planar four-bar linkage whose coupler is an elastic beam."""

import numpy as np

import varint as vi
from varint.mechanisms._links import NORMAL, hinge, link, meet, polar
from varint.mechanisms._sizes import Positive

CRANK, COUPLER, ROCKER, GROUND, ANGLE = 0.4, 1.0, 0.8, 1.0, np.pi / 3  # m, rad, of the crank-rocker of four_bar


def build(elements: int = 6, thickness: Positive = 0.01, rate: float = 2 * np.pi) -> vi.Mechanism:
    """Crank 0.4 m and rocker 0.8 m of 1 kg/m in the x-z plane; the coupler is a strip of steel, 1 m long and 30 mm wide.

    The crank turns at the origin, the rocker at (1, 0, 0); the coupler's ends are hinged to both.

    Zero of the coordinates: the pose at the start, with the crank 60 degrees from x towards z.

    Parameters
    ----------
    elements : int
        Of the coupler, from 1.
    thickness : float, m
        Of the strip, in the plane.
    rate : float, rad/s
        Of the crank at the start.
    """
    origin, pivot, crank_pin = np.zeros(3), polar(GROUND, 0.0), polar(CRANK, ANGLE)
    rocker_pin = meet(crank_pin, pivot, COUPLER, ROCKER)
    section = vi.Section.rectangle(0.03, thickness, E=2.1e11, nu=0.3, density=7850.0)
    coupler = vi.beam(
        "coupler", None, None, point_a=crank_pin, point_b=rocker_pin, elements=elements, section=section,
        normal=np.cross(NORMAL, rocker_pin - crank_pin),
    )  # fmt: skip
    bodies = [link("crank", origin, crank_pin), *coupler.bodies, link("rocker", pivot, rocker_pin)]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("crank pin", "crank", "coupler 0", crank_pin),
        hinge("rocker pin", f"coupler {elements}", "rocker", rocker_pin),
        hinge("rocker pivot", "world", "rocker", pivot),
        *coupler.joints,
    ]
    start = {"rates": _rigid_rates(rate, crank_pin, rocker_pin, pivot)}
    return vi.Mechanism("flexible four-bar", bodies, joints, start=start, forces=coupler.forces)


def _rigid_rates(rate: float, crank_pin: np.ndarray, rocker_pin: np.ndarray, pivot: np.ndarray) -> dict[str, float]:
    """Rates of the joints, rad/s, with which the coupler moves as if it were rigid."""
    across = [np.array([-arm[2], arm[0]]) for arm in (crank_pin, rocker_pin - crank_pin, rocker_pin - pivot)]
    coupler, rocker = np.linalg.solve(np.column_stack([across[1], -across[2]]), -rate * across[0])
    return {"crank pivot": rate, "crank pin": coupler - rate, "rocker pin": rocker - coupler, "rocker pivot": rocker}


EXPECTED = {
    "bodies": 9,
    "rows": 20,
    "mobility": 34,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "variants": [{"elements": 2, "rate": -4.0}],
    "impossible": [{"thickness": -0.01}, {"elements": 0}],
}
