"""A thin disc that rolls on a plane in a steady circle, leaning inwards."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive

THICKNESS = 0.02  # m, of the body; the plane is touched by a circle in its middle


def build(lean: float = 0.3, turning: float = 2.0, radius: Positive = 0.3, mass: Positive = 1.0) -> vi.Mechanism:
    """A disc 0.02 m thick that touches the x-y plane at the origin, rolling along x, with its axis in the y-z plane.

    Zero of the coordinates: the pose at the start ("free": displacements along x, y and z, m, and rotation vector).

    Parameters
    ----------
    lean : float, rad
        Of the disc from the vertical; between -pi / 2 and pi / 2, not zero.
    turning : float, rad/s
        Angular velocity about the vertical at which the disc goes round its circle.
    radius : float, m
        Of the disc.
    mass : float, kg
        Of the disc.
    """
    if not 0.0 < abs(lean) < 0.5 * np.pi or turning == 0.0:
        raise vi.MechanismError(f"no steady circle of a disc that leans {lean:g} rad and turns at {turning:g} rad/s")
    axis = np.array([0.0, np.cos(lean), np.sin(lean)])
    half = 0.5 * (lean - 0.5 * np.pi)
    centre = (0.0, -radius * np.sin(lean), radius * np.cos(lean))
    quat = (np.cos(half), np.sin(half), 0.0, 0.0)
    disc = vi.Body.cylinder("disc", radius, THICKNESS, mass, position=centre, quat_wxyz=quat)
    spin = steady_spin(lean, turning, radius, mass, disc.inertia)
    upward = np.array([0.0, -np.sin(lean), np.cos(lean)])
    omega = turning * np.cos(lean) * upward + spin * axis  # world
    local = np.array([0.0, omega @ [0.0, np.sin(lean), -np.cos(lean)], spin])
    start = {"velocity": {"disc": (radius * spin, 0.0, 0.0)}, "angular_velocity": {"disc": local}}
    wheel = vi.RollingWheel("wheel", "disc", radius=radius, axis=axis)
    return vi.Mechanism("rolling disc", [disc], [vi.Free("free", "world", "disc")], forces=[wheel], start=start)


def steady_spin(lean, turning, radius, mass, inertia, gravity=9.81):
    """Angular velocity about the axis of the disc, rad/s.

    The balance of moments is (C + m r^2) spin Omega cos(lean) = (A Omega^2 cos(lean) - m g r) sin(lean).
    A, C: moments of ``inertia`` (3, 3) across and along the axis, z of the body. The centre of mass moves at r spin on
    a circle of the radius r |spin / Omega|.
    """
    across, along = inertia[0, 0], inertia[2, 2]
    tilt = (across * turning**2 * np.cos(lean) - mass * gravity * radius) * np.sin(lean)
    return tilt / ((along + mass * radius**2) * turning * np.cos(lean))


EXPECTED = {
    "bodies": 1,
    "rows": 0,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "variants": [{"lean": -0.5, "turning": 3.0}],
    "impossible": [{"lean": 0.0}, {"lean": 2.0}, {"turning": 0.0}],
}
