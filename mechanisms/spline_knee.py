"""A leg whose knee rolls and slides as it bends, with a muscle in front of it and one behind."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive

THIGH, SHANK = 0.42, 0.40  # m
UPWARD = (0.0, -2.34e-3, -6.14e-3, -1.02e-3, 7.6e-4)  # m, by powers of the flexion, rad
FORWARD = (0.0, 1.28e-2, -1.77e-3, -1.94e-3, 3.8e-5)
GROOVE = 0.02  # m, radius of the surface of the thigh that the muscle in front passes over
FRONT = {"max_force": 2000.0, "optimal_length": 0.11, "slack_length": 0.34}
BACK = {"max_force": 1500.0, "optimal_length": 0.12, "slack_length": 0.36}
LIGAMENTS, RELAXED = 30.0, 0.5  # N m/rad, rad of flexion
ACROSS = (0, 1, 0)


def build(front: float = 0.05, back: float = 0.02, flexion: float = 1.0, smoothing: Positive = 0.0005) -> vi.Mechanism:
    """A thigh of 8 kg on a hip hinge, and a shank of 4 kg that shifts along the thigh as the knee turns.

    The shift follows polynomials of the flexion: 9 mm forward and 9 mm down within the first radian, of the size that
    tables of the human knee have. The muscle in front leads from the pelvis over a surface at the end of the thigh, the
    one behind straight from the pelvis, both to the shank. Ligaments are a spring of the flexion.

    Zero of the coordinates: the leg hanging straight; the start is at rest with the knee bent ("hip": rad, backward;
    "knee": shift of the shank upward and forward, m, and flexion, rad).

    Parameters
    ----------
    front : float, 1
        Activation of the muscle in front, 0 to 1.
    back : float, 1
        Activation of the one behind, 0 to 1.
    flexion : float, rad
        Of the knee at the start, 0 to 1.8.
    smoothing : float, m
        Of the path over the surface.
    """
    if not 0.0 <= flexion <= 1.8:
        raise vi.MechanismError(f"flexion of a spline_knee must be from 0 to 1.8 rad, got {flexion:g}")
    knee = np.array([0.0, 0.0, -THIGH])
    bodies = [
        vi.Body.rod("thigh", np.zeros(3), knee, mass=8.0, radius=0.06),
        vi.Body.rod("shank", knee, knee - [0.0, 0.0, SHANK], mass=4.0, radius=0.04),
    ]
    joints = [
        vi.Revolute("hip", "world", "thigh", point=np.zeros(3), axis=ACROSS),
        vi.Planar("knee", "thigh", "shank", point=knee, axis=ACROSS),
    ]
    follow = [("knee", 2), ("knee", 0), ("knee", 1)]
    rolling = vi.CoordinateMap("rolling", coordinates=follow, polynomials=[UPWARD, FORWARD])
    groove = vi.CylinderSurface(knee, ACROSS, GROOVE, side=knee + [0.1, 0.0, 0.0])
    before = [vi.At("world", (0.06, 0, -0.02)), vi.Around("thigh", groove), vi.At("shank", knee + [0.035, 0, -0.06])]
    behind = [vi.At("world", (-0.07, 0, 0.02)), vi.At("shank", knee + [-0.03, 0, -0.05])]
    ligaments = vi.TorsionSpring("ligaments", joint="knee", coordinate=2, stiffness=LIGAMENTS, rest_angle=RELAXED)
    at_once = {"activation_times": None}
    muscles = [
        vi.Musculotendon("front", path=before, excitation=front, smoothing=smoothing, **FRONT, **at_once),
        vi.Musculotendon("back", path=behind, excitation=back, **BACK, **at_once),
    ]
    start = {"coordinates": {"hip": 0.0, "knee": (*shift(flexion), flexion)}}
    return vi.Mechanism("spline_knee", bodies, joints, forces=[rolling, *muscles, ligaments], start=start)


def shift(flexion):
    """Shift of the shank upward and forward, m, at a flexion, rad."""
    return tuple(np.polynomial.Polynomial(c)(flexion) for c in (UPWARD, FORWARD))


EXPECTED = {
    "bodies": 2,
    "rows": 8,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "variants": [{"front": 0.0, "back": 0.0, "flexion": 1.5}],
    "impossible": [{"flexion": 2.5}],
}
