"""An eccentric cam that lifts a follower against a spring, and throws it off above a speed."""

import numpy as np

import varint as vi
from varint.mechanisms._links import ACROSS, hinge
from varint.mechanisms._sizes import NotNegative, Positive

RADIUS, WIDTH = 0.03, 0.02  # m, of the cam
PLATE = np.array([0.06, 0.03, 0.01])  # m


def build(
    eccentricity: Positive = 0.01,
    rate: float = 30.0,
    mass: Positive = 0.2,
    stiffness: Positive = 500.0,
    compression: NotNegative = 0.01,
) -> vi.Mechanism:
    """A disc of 0.03 m that turns at a prescribed rate about a point off its middle, under a flat follower on a slide.

    The lift is the eccentricity times the sine of the angle of the cam. The spring holds the follower down at the top
    up to a rate of the cam that follows from its stiffness; a faster cam throws it off.

    Zero of the coordinates: the pose at the start, with the middle of the disc on x ("cam pivot", rad, from x towards
    z; "guide", m, upwards).

    Parameters
    ----------
    eccentricity : float, m
        Of the middle of the disc from its pivot.
    rate : float, rad/s
        Of the cam, prescribed.
    mass : float, kg
        Of the follower.
    stiffness : float, N/m
        Of the spring above the follower.
    compression : float, m
        Of the spring at the start.
    """
    if eccentricity >= RADIUS:
        raise vi.MechanismError(f"the pivot must be inside of the cam of {RADIUS:g} m, not {eccentricity:g} m off")
    round_ = [vi.CapsuleShape((0, 0, -0.5 * WIDTH), (0, 0, 0.5 * WIDTH), RADIUS)]
    cam = vi.Body.cylinder("cam", RADIUS, WIDTH, 0.1, position=(eccentricity, 0, 0), quat_wxyz=ACROSS, collision=round_)
    middle = np.array([0.0, 0.0, RADIUS + 0.5 * PLATE[2]])
    follower = vi.Body.box("follower", PLATE, mass, position=middle, collision=True)
    joints = [
        hinge("cam pivot", "world", "cam", np.zeros(3)),
        vi.Prismatic("guide", "world", "follower", point=middle, axis=(0, 0, 1)),
    ]
    forces = [
        vi.PrescribedMotion("drive", joint="cam pivot", rate=rate),
        vi.TorsionSpring("spring", joint="guide", stiffness=stiffness, rest_angle=-compression),
        vi.Contact("contact", "follower", "cam"),
    ]
    start = {"rates": {"cam pivot": rate, "guide": eccentricity * rate}}
    return vi.Mechanism("cam and follower", [cam, follower], joints, forces=forces, start=start)


def normal_force(angle, rate, eccentricity=0.01, mass=0.2, stiffness=500.0, compression=0.01, gravity=9.81):
    """Of the cam on the follower at angles of the cam, N, as long as they touch: m (g + y'') + k (y + compression)."""
    lift = eccentricity * np.sin(angle)
    return mass * (gravity - lift * rate**2) + stiffness * (lift + compression)


def floating_rate(eccentricity=0.01, mass=0.2, stiffness=500.0, compression=0.01, gravity=9.81):
    """Rate of the cam above which the follower leaves it, rad/s: the force at the top is zero."""
    return np.sqrt((gravity + stiffness * (eccentricity + compression) / mass) / eccentricity)


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "variants": [{"rate": 90.0}],
    "impossible": [{"eccentricity": 0.04}],
}
