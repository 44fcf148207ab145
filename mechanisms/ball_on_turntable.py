"""A ball that rolls on a turntable: its centre goes round at 2/7 of the table's rate."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive

BALL = 0.5  # kg


def build(rate: float = 2.0, speed: float = 0.2, radius: Positive = 0.1, mass: Positive = 5.0) -> vi.Mechanism:
    """A table of 0.8 m across that a motor turns about z, and a solid ball of 0.5 kg on it.

    Zero of the coordinates: the pose at the start ("axle": the angle of the table, rad; "free": displacements along x,
    y and z, m, and rotation vector, rad, of the ball, which lies at x = 0.2 m).

    Parameters
    ----------
    rate : float, rad/s
        Of the table.
    speed : float, m/s
        Of the ball along y at the start.
    radius : float, m
        Of the ball.
    mass : float, kg
        Of the table.
    """
    table = vi.Body.cylinder("table", 0.4, 0.05, mass, position=(0.0, 0.0, -0.025))
    ball = vi.Body.sphere("ball", radius=radius, mass=BALL, position=(0.2, 0.0, radius))
    joints = [
        vi.Revolute("axle", "world", "table", axis=(0, 0, 1), point=(0, 0, 0)),
        vi.Free("free", "world", "ball"),
    ]
    forces = [
        vi.PrescribedMotion("motor", joint="axle", rate=rate),
        vi.RollingWheel("contact", "ball", radius=radius, other="table"),
    ]
    start = {"rates": {"axle": rate}, "velocity": {"ball": (0.0, speed, 0.0)}}
    return vi.Mechanism("ball on turntable", [table, ball], joints, forces=forces, start=start)


def centre(t, rate, position, velocity):
    """(T, 2) x and y of the ball, m, at times ``t`` (T,): a circle, at 2/7 of the ``rate`` for a solid sphere."""
    rate, velocity = 2.0 / 7.0 * rate, np.asarray(velocity)
    middle = np.asarray(position) + np.array([-velocity[1], velocity[0]]) / rate
    cos, sin = np.cos(rate * np.asarray(t)), np.sin(rate * np.asarray(t))
    return middle + np.moveaxis([[cos, -sin], [sin, cos]], 2, 0) @ (np.asarray(position) - middle)


EXPECTED = {
    "bodies": 2,
    "rows": 5,
    "mobility": 4,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"rate": -3.0, "speed": 0.1}],
}
