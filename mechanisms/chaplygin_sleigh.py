"""Chaplygin's sleigh: a plate on a plane, on a knife edge behind its centre of mass."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive


def build(arm: Positive = 0.2, speed: float = 1.0, turning: float = 2.0, mass: Positive = 1.0) -> vi.Mechanism:
    """A plate of 0.6 x 0.3 x 0.05 m in the x-y plane, whose edge lies along x at the origin.

    Zero of the coordinates: the pose at the start ("plane": displacements along x and y, m, and the angle, rad).

    Parameters
    ----------
    arm : float, m
        From the edge to the centre of mass, forward.
    speed : float, m/s
        Of the edge along itself at the start.
    turning : float, rad/s
        Angular velocity at the start.
    mass : float, kg
        Of the plate.
    """
    plate = vi.Body.box("sleigh", size=(0.6, 0.3, 0.05), mass=mass, position=(arm, 0.0, 0.0))
    plane = vi.Planar("plane", "world", "sleigh", axis=(0, 0, 1))
    edge = vi.KnifeEdge("edge", "sleigh", point=(0, 0, 0), direction=(1, 0, 0))
    start = {"velocity": {"sleigh": (speed, arm * turning, 0.0)}, "angular_velocity": {"sleigh": (0.0, 0.0, turning)}}
    return vi.Mechanism("chaplygin sleigh", [plate], [plane], forces=[edge], start=start)


def speeds(t, arm, speed, turning, mass, inertia):
    """Speed of the edge, m/s, and angular velocity, rad/s, at times ``t`` (T,), in closed form (arm > 0).

    v' = a w^2, w' = -a v w / k^2 with k^2 = a^2 + I / m, so that v = V tanh, w = (V / k) / cosh of (V a / k^2) t + c.
    """
    square = arm**2 + inertia / mass
    largest = np.sqrt(speed**2 + square * turning**2)
    phase = largest * arm / square * np.asarray(t) + np.arctanh(speed / largest)
    return largest * np.tanh(phase), np.sign(turning) * largest / np.sqrt(square) / np.cosh(phase)


EXPECTED = {
    "bodies": 1,
    "rows": 3,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"arm": 0.1, "speed": -0.5, "turning": 3.0}],
}
