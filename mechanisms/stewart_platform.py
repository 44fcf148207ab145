"""A Gough-Stewart platform: six legs that stretch, without actuators, coasting in weightlessness."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link
from varint.mechanisms._sizes import NotNegative, Positive

LEGS = ("universal", "spherical")
CYLINDER = 0.7  # share of a leg's length, and of the piston's


def build(
    base: Positive = 1.0,
    platform: Positive = 0.6,
    height: NotNegative = 1.2,
    spread: float = 0.25,
    legs: str = "universal",
) -> vi.Mechanism:
    """Legs of two bodies of 1 kg/m from the ground to a disk of 5 kg, which starts with a slow twist.

    On both circles the joints come in pairs; the pairs of the base stand below the gaps of the platform's. At the
    platform all joints are spherical. No gravity: nothing would hold the platform up.

    Zero of the coordinates: the pose at the start, with the platform level at ``height``; "leg" 1 to 6, m, are zero
    at their lengths there.

    Parameters
    ----------
    base : float, m
        Radius of the circle of joints on the ground.
    platform : float, m
        Radius of the circle of joints on the platform.
    height : float, m
        Of the platform at the start.
    spread : float, rad
        Of the joints of a pair of the base to each side of its direction.
    legs : str
        Their joints at the base: "universal", or "spherical", which leaves each leg free to spin about itself.
    """
    if legs not in LEGS:
        raise vi.MechanismError(f"legs of stewart_platform must be one of {LEGS}, got {legs!r}")
    centre = np.array([0.0, 0.0, height])
    bodies = [vi.Body.cylinder("platform", platform, 0.05, 5.0, position=centre)]
    joints = []
    for i, (foot, head) in enumerate(feet_and_heads(base, platform, spread), start=1):
        head = head + centre
        along = head - foot
        cylinder, piston = f"cylinder {i}", f"piston {i}"
        bodies += [
            link(cylinder, foot, foot + CYLINDER * along, width=0.06),
            link(piston, head - CYLINDER * along, head, width=0.04),
        ]
        if legs == "universal":
            tangent = np.cross((0, 0, 1), foot)  # a leg along it could spin
            joints.append(
                vi.Universal(f"foot {i}", "world", cylinder, point=foot, axis=tangent, axis_b=np.cross(tangent, along))
            )
        else:
            joints.append(vi.Spherical(f"foot {i}", "world", cylinder, point=foot))
        joints.append(vi.Prismatic(f"leg {i}", cylinder, piston, point=foot, axis=along))
        joints.append(vi.Spherical(f"head {i}", piston, "platform", point=head))
    start = {"velocity": {"platform": (0.03, 0.0, 0.06)}, "angular_velocity": {"platform": (0.05, 0.03, 0.08)}}
    return vi.Mechanism("Gough-Stewart platform", bodies, joints, gravity=(0, 0, 0), start=start)


def feet_and_heads(base: float, platform: float, spread: float) -> np.ndarray:
    """Joints (6, 2, 3), m, of each leg: on the ground, and on the platform seen from its centre."""

    def on_circle(radius, turn):
        return radius * np.array([np.cos(turn), np.sin(turn), 0.0])

    return np.array(
        [
            (on_circle(base, pair + side * spread), on_circle(platform, pair + side * (np.pi / 3 - spread)))
            for pair in 2 * np.pi / 3 * np.arange(3)
            for side in (-1, 1)
        ]
    )


EXPECTED = {
    "bodies": 13,
    "rows": 72,
    "mobility": 6,
    "redundant": 0,
    "loops": 5,
    "dt": 0.01,
    "order": [{"speed": 1.2, "slow": True}],
}
