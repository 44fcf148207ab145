"""A box in free flight that spins about its middle axis and keeps turning over."""

import numpy as np
from scipy.special import ellipk

import varint as vi

SPIN, PERTURBATION = 10.0, 0.1


def build(spin: float = SPIN, perturbation: float = PERTURBATION) -> vi.Mechanism:
    """A box of 0.4 x 0.2 x 0.1 m and 1 kg without gravity, spinning about its edges.

    Zero of the coordinates: the pose at the start, with the box at the origin and its edges along the axes.

    Parameters
    ----------
    spin : float, rad/s
        About y, the middle axis, at the start.
    perturbation : float, rad/s
        About x, the longest edge, at the start.
    """
    box = vi.Body.box("box", size=(0.4, 0.2, 0.1), mass=1.0)
    start = {"angular_velocity": {"box": (perturbation, spin, 0.0)}}
    return vi.Mechanism("free body", [box], [vi.Free("free", "world", "box")], gravity=(0, 0, 0), start=start)


def period(moments, angular_velocity) -> float:
    """Period (s) of the body's angular velocity (3,) in torque-free motion; ``moments`` (3,) ascending, kg m^2.

    Jacobi's solution (Landau and Lifshitz, Mechanics, section 37): the middle component changes sign
    twice a period.
    """
    a, b, c = moments
    energy = moments @ angular_velocity**2  # twice the kinetic energy
    square = (moments**2) @ angular_velocity**2
    if square < energy * b:  # closed about the axis of the smallest moment: the roles of a and c swap
        a, c = c, a
    rate2 = (c - b) * (square - energy * a) / (a * b * c)
    parameter = (b - a) * (energy * c - square) / ((c - b) * (square - energy * a))
    return float(4 * ellipk(parameter) / np.sqrt(rate2))


EXPECTED = {
    "bodies": 1,
    "rows": 0,
    "mobility": 6,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "period": period(np.array([0.05, 0.17, 0.20]) / 12, np.array([PERTURBATION, SPIN, 0.0])),
    "variants": [{"spin": 3.0, "perturbation": 1.0}],
    "order": [{"duration": 1.0, "speed": 3.0}],
}
