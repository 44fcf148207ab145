"""A double pendulum with a tendon that wraps around a cylinder at the second hinge."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive

UPPER = 0.3  # rad from hanging, of the upper rod at the start


def build(radius: Positive = 0.2, stiffness: Positive = 20.0, angle: float = 0.8) -> vi.Mechanism:
    """Two uniform rods of 1 m and 1 kg on hinges along y, and an elastic tendon from the ground to the lower rod.

    The tendon passes a cylinder on the upper rod on its +x side, and meets and leaves it as the rods swing. Its smooth
    radius, with a smoothing of a twentieth of ``radius``, makes that conservative.

    Zero of the coordinates: the pose at the start, with the upper rod at 0.3 rad from hanging and the lower one turned
    by ``angle`` from that.

    Parameters
    ----------
    radius : float, m
        Of the cylinder about the second hinge, less than 0.25 m.
    stiffness : float, N/m
        Of the tendon, which is slack below 0.9 m.
    angle : float, rad
        Of the second hinge at the start.
    """
    if radius >= 0.25:
        raise vi.MechanismError(f"a cylinder of radius {radius:g} m would hold the tendon's ends: at most 0.25 m")
    hinge = _turned(UPPER, 0.0, -1.0)
    bodies = [
        vi.Body.rod("upper", np.zeros(3), hinge, mass=1.0),
        vi.Body.rod("lower", hinge, hinge + _turned(UPPER + angle, 0.0, -1.0), mass=1.0),
    ]
    axis = np.array([0.0, 1.0, 0.0])
    joints = [
        vi.Revolute("joint 1", "world", "upper", point=np.zeros(3), axis=axis),
        vi.Revolute("joint 2", "upper", "lower", point=hinge, axis=axis),
    ]
    surface = vi.CylinderSurface(hinge, axis, radius, side=hinge + _turned(UPPER, 1.0, 0.0))
    end = hinge + _turned(UPPER + angle, 0.25, -0.4) + 0.05 * axis
    path = [vi.At("world", [0.3, 0.0, 0.2]), vi.Around("upper", surface), vi.At("lower", end)]
    tendon = vi.Tendon("tendon", path=path, stiffness=stiffness, rest_length=0.9, smoothing=0.05 * radius)
    return vi.Mechanism("wrapped_double_pendulum", bodies=bodies, joints=joints, forces=[tendon])


def _turned(angle: float, x: float, z: float) -> np.ndarray:
    """The vector (x, 0, z) turned about +y."""
    return np.array([x * np.cos(angle) + z * np.sin(angle), 0.0, z * np.cos(angle) - x * np.sin(angle)])


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "order": [],  # the independent reference has no surfaces: test_wraps.py has the orders
}
