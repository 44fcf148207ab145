"""A leg of the Minitaur quadruped: a symmetric five-bar on two coaxial hips."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, meet, polar

UPPER, LOWER, WIDTH = 0.1, 0.2, 0.02  # m


def build(opening: float = np.pi / 2, rate: float = 3.0) -> vi.Mechanism:
    """Links of 1 kg/m hung from the origin.

    As the leg swings its knees pass each other, each time through a singular pose: it is stretched and its lower
    links coincide.

    Zero of the coordinates: the pose at the start, with the upper links opened by ``opening`` from hanging.

    Parameters
    ----------
    opening : float, rad
        Of each upper link from hanging at the start.
    rate : float, rad/s
        At which the right hip opens at the start.
    """
    bodies, joints = leg("", "world", np.zeros(3), opening)
    return vi.Mechanism("Minitaur's leg", bodies, joints, start={"rates": {"left hip": 0.0, "right hip": rate}})


def leg(prefix: str, bearer: str, hip, opening: float):
    """Bodies and joints of a leg on ``bearer`` at ``hip`` (3,); ``prefix`` goes before their names."""
    left, right = (hip + polar(UPPER, -np.pi / 2 + side * opening) for side in (-1, 1))
    toe = meet(right, left, LOWER, LOWER)
    bodies = [
        link(f"{prefix}left upper", hip, left, WIDTH),
        link(f"{prefix}right upper", hip, right, WIDTH),
        link(f"{prefix}left lower", left, toe, WIDTH),
        link(f"{prefix}right lower", right, toe, WIDTH),
    ]
    joints = [
        hinge(f"{prefix}left hip", bearer, f"{prefix}left upper", hip),
        hinge(f"{prefix}right hip", bearer, f"{prefix}right upper", hip),
        hinge(f"{prefix}left knee", f"{prefix}left upper", f"{prefix}left lower", left),
        hinge(f"{prefix}right knee", f"{prefix}right upper", f"{prefix}right lower", right),
        hinge(f"{prefix}toe", f"{prefix}left lower", f"{prefix}right lower", toe),
    ]
    return bodies, joints


def hip_angles(foot, opening: float = np.pi / 2) -> np.ndarray:
    """Coordinates (..., 2) of the left and right hip that put the toe at ``foot`` (..., 2), x and z from the hips, m.

    The knees are outside; ``opening``: of the reference configuration, rad. Raises MechanismError out of reach.
    """
    x, z = np.moveaxis(np.asarray(foot, dtype=float), -1, 0)
    reach = np.hypot(x, z)
    if np.any(abs(reach - LOWER) > UPPER):
        raise vi.MechanismError(f"the toe reaches {LOWER - UPPER:g} to {LOWER + UPPER:g} m, not {reach.tolist()} m")
    swing = np.arctan2(x, -z)  # from hanging
    spread = np.arccos((reach**2 + UPPER**2 - LOWER**2) / (2 * reach * UPPER)) - opening
    return np.stack([swing - spread, swing + spread], axis=-1)


EXPECTED = {
    "bodies": 4,
    "rows": 25,
    "mobility": 2,
    "redundant": 3,
    "loops": 1,
    "dt": 0.005,
    "variants": [{"opening": 2.0, "rate": -1.0}],
    "order": [{"duration": 0.1, "speed": 0.1}],
}
