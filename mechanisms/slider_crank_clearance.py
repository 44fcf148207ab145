"""A slider-crank whose wrist pin has clearance in its hole."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge
from varint.mechanisms._sizes import NotNegative, Positive

PIN = 0.01  # m, radius


def build(
    clearance: Positive = 1e-3,
    rate: float = 150.0,
    friction: NotNegative = 0.0,
    crank: Positive = 0.153,
    rod: Positive = 0.306,
) -> vi.Mechanism:
    """Crank, rod and slider in the x-z plane; the pin of the slider touches the hole of the rod from inside.

    The crank turns at a prescribed rate, without gravity. The pin knocks from one side of the hole to the other where
    the force on the slider turns round.

    Zero of the coordinates: the pose at the start, stretched, with the pin in the middle of its hole ("crank pivot" and
    "crank pin", rad, from x towards z; "guide", m, along x).

    Parameters
    ----------
    clearance : float, m
        Radius of the hole less that of the pin.
    rate : float, rad/s
        Of the crank, prescribed.
    friction : float, 1
        Coefficient of the pin in its hole.
    crank : float, m
        Length of the crank.
    rod : float, m
        Length of the rod, more than that of the crank.
    """
    if rod <= crank:
        raise vi.MechanismError(f"the rod, {rod:g} m, must be longer than the crank, {crank:g} m")
    hole = vi.HollowCylinderShape((0.5 * rod, -0.1, 0), (0.5 * rod, 0.1, 0), PIN + clearance)
    bodies = [
        vi.Body.box("crank", (crank, 0.02, 0.02), 0.5, position=(0.5 * crank, 0, 0)),
        vi.Body.box("rod", (rod, 0.02, 0.02), 0.3, position=(crank + 0.5 * rod, 0, 0), collision=[hole]),
        vi.Body.sphere("slider", 0.03, 0.4, position=(crank + rod, 0, 0), collision=[vi.SphereShape(PIN)]),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", (0, 0, 0)),
        hinge("crank pin", "crank", "rod", (crank, 0, 0)),
        vi.Prismatic("guide", "world", "slider", point=(crank + rod, 0, 0), axis=(1, 0, 0)),
    ]
    forces = [
        vi.PrescribedMotion("drive", joint="crank pivot", rate=rate),
        vi.Contact("pin", "slider", "rod", friction=friction),
    ]
    start = {"rates": {"crank pivot": rate, "crank pin": -rate * (1.0 + crank / rod)}}
    return vi.Mechanism("slider-crank with clearance", bodies, joints, (0, 0, 0), forces=forces, start=start)


def farthest(clearance=1e-3, crank=0.153, rod=0.306):
    """How far the slider can be from where it were without clearance, m: with the pin at the end of its hole along the
    rod, and the crank square to x."""
    return np.sqrt(rod**2 - crank**2) - np.sqrt((rod - clearance) ** 2 - crank**2)


EXPECTED = {
    "bodies": 3,
    "rows": 15,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 1e-4,
    "duration": 0.2,
    "variants": [{"clearance": 5e-4, "friction": 0.1, "rate": 60.0}],
    "impossible": [{"rod": 0.1}],
}
