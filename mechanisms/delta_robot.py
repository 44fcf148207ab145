"""A delta robot without drives: three arms and parallelograms keep its platform level."""

import numpy as np

import varint as vi
from varint.mechanisms._links import meet
from varint.mechanisms._sizes import NotNegative, Positive

RODS = ("spherical", "universal")


def build(
    base: NotNegative = 0.6,
    platform: Positive = 0.1,
    arm: Positive = 0.4,
    rod: Positive = 0.8,
    width: NotNegative = 0.2,
    position=(0.15, 0.1, -0.9),
    rods: str = "spherical",
) -> vi.Mechanism:
    """Arms of 2 kg/m on hinges to the ground; from each hang two rods of 0.5 kg/m that bear a platform of 0.5 kg.

    At the platform all joints are spherical.

    Zero of the coordinates: the pose at the start, with the platform at ``position``.

    Parameters
    ----------
    base : float, m
        Radius of the circle of the hinges.
    platform : float, m
        Radius of the circle of the rods' ends.
    arm : float, m
        Length of the arms.
    rod : float, m
        Length of the rods.
    width : float, m
        Between the two rods of an arm.
    position : (3,) floats, m
        Of the platform at the start.
    rods : str
        Their joints at the arm: "spherical", which leaves them free to spin about themselves, or "universal".
    """
    if rods not in RODS:
        raise vi.MechanismError(f"rods of delta_robot must be one of {RODS}, got {rods!r}")
    position = np.asarray(position, dtype=float)
    bodies = [vi.Body.cylinder("platform", platform, 0.02, 0.5, position=position)]
    joints = []
    for i in range(3):
        radial = np.array([np.cos(2 * np.pi * i / 3), np.sin(2 * np.pi * i / 3), 0.0])
        tangent = np.cross((0, 0, 1), radial)
        hinge, elbow = base * radial, elbow_of(base - platform, arm, rod, position, radial) + platform * radial
        bodies.append(vi.Body.rod(f"arm {i + 1}", hinge, elbow, mass=2 * arm, radius=0.03))
        joints.append(vi.Revolute(f"hinge {i + 1}", "world", f"arm {i + 1}", point=hinge, axis=tangent))
        for side, which in ((-0.5, "right"), (0.5, "left")):
            name = f"{which} rod {i + 1}"
            top, bottom = (place + side * width * tangent for place in (elbow, position + platform * radial))
            bodies.append(vi.Body.rod(name, top, bottom, mass=0.5 * rod, radius=0.01))
            if rods == "universal":
                second = np.cross(tangent, bottom - top)
                joint = vi.Universal(f"top {name}", f"arm {i + 1}", name, point=top, axis=tangent, axis_b=second)
            else:
                joint = vi.Spherical(f"top {name}", f"arm {i + 1}", name, point=top)
            joints += [joint, vi.Spherical(f"bottom {name}", name, "platform", point=bottom)]
    return vi.Mechanism("delta robot", bodies, joints)


def elbow_of(radius, arm, rod, position, radial):
    """Place (3,), m, of the outer elbow of the arm on the hinge at ``radius`` along ``radial`` (3,).

    Both shifted inwards by the platform's radius, so that its rod ends at ``position`` (3,).
    """
    aside = position @ np.cross((0, 0, 1), radial)
    if abs(aside) >= rod:
        raise vi.MechanismError(f"rods of {rod:g} m do not reach {aside:g} m aside")
    hinge, end = np.array([radius, 0.0, 0.0]), np.array([position @ radial, 0.0, position[2]])
    x, _, z = meet(hinge, end, arm, np.sqrt(rod**2 - aside**2))
    return x * radial + (0, 0, z)


EXPECTED = {
    "bodies": 10,
    "rows": 51,
    "mobility": 9,
    "redundant": 0,
    "loops": 5,
    "dt": 0.01,
    "order": [{"parameters": {"rods": "universal"}, "duration": 0.12, "speed": 0.3, "slow": True}],
}
