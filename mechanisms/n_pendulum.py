"""A chain of boxes hung from the origin, released at rest."""

import numpy as np

import varint as vi

JOINTS = ("revolute", "spherical")


def build(n: int = 3, joint: str = "revolute", angle: float = np.pi / 4) -> vi.Mechanism:
    """Boxes of 0.1 x 0.1 x 1 m and 1 kg, straight, turned about +y from hanging, released at rest.

    Zero of the coordinates: the pose at the start, straight and turned by ``angle``; hanging is at -``angle`` of
    "joint 1".

    Parameters
    ----------
    n : int
        Number of boxes.
    joint : str
        "revolute" (axes along y) or "spherical".
    angle : float, rad
        About +y from hanging, at the start.
    """
    if joint not in JOINTS:
        raise vi.MechanismError(f"joint of n_pendulum must be one of {JOINTS}, got {joint!r}")
    along = np.array([-np.sin(angle), 0.0, -np.cos(angle)])
    quat = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    bodies = [
        vi.Body.box(f"link {i}", size=(0.1, 0.1, 1.0), mass=1.0, position=(i - 0.5) * along, quat_wxyz=quat)
        for i in range(1, n + 1)
    ]
    joints = []
    for i in range(1, n + 1):
        ends = ("world" if i == 1 else f"link {i - 1}", f"link {i}")
        if joint == "revolute":
            joints.append(vi.Revolute(f"joint {i}", *ends, point=(i - 1) * along, axis=(0, 1, 0)))
        else:
            joints.append(vi.Spherical(f"joint {i}", *ends, point=(i - 1) * along))
    return vi.Mechanism(f"{n}-link pendulum", bodies, joints)


EXPECTED = {
    "bodies": 3,
    "rows": 15,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"n": 5, "joint": "spherical"}],
    "impossible": [{"joint": "fixed"}],
    "order": [{"parameters": {"n": 3}}, {"parameters": {"n": 2, "joint": "spherical"}}],
}
