"""A cart on a straight track with a pole hinged to it, and a motor that pushes the cart."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, polar
from varint.mechanisms._sizes import Positive


def build(effort=0.0, angle: float = 1.0, mass: Positive = 1.0, length: Positive = 1.0) -> vi.Mechanism:
    """A cart on x and a pole of 1 kg/m in the x-z plane, let go at rest with the pole at an angle.

    Zero of the coordinates: the pole hangs ("pivot", rad, from x towards z) and the cart is at x = 0 ("track", its x,
    m).

    Parameters
    ----------
    effort : float or function, N
        Of the motor along the track: a number, one a node or a function of time and state (`vi.Motor`).
    angle : float, rad
        Of the pole from hanging at the start.
    mass : float, kg
        Of the cart.
    length : float, m
        Of the pole.
    """
    origin = np.zeros(3)
    bodies = [
        vi.Body.box("cart", size=(0.4, 0.2, 0.2), mass=mass, position=origin),
        link("pole", origin, polar(length, -np.pi / 2), width=0.05),
    ]
    joints = [
        vi.Prismatic("track", "world", "cart", point=origin, axis=(1, 0, 0)),
        hinge("pivot", "cart", "pole", origin),
    ]
    forces = [vi.Motor("motor", joint="track", effort=effort)]
    return vi.Mechanism("cart-pole", bodies, joints, forces=forces, start={"coordinates": {"pivot": angle}})


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "order": [{"exact_first_order_start": True}],
}
