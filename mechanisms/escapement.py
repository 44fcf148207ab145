"""A clock's pendulum between soft banking stops, and a motor at its pivot for the impulses."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, polar

LENGTH, BOB = 0.25, 0.5  # m, kg
STOP_STIFFNESS, STOP_DAMPING = 500.0, 1.0  # N m/rad, N m s/rad


def build(effort=0.0, bank: float = 0.2, angle: float = 0.15, rate: float = 1.0) -> vi.Mechanism:
    """A rod of 1 kg/m and 0.25 m with a bob of 0.5 kg, hung at the origin, that bounces off stops on both sides.

    Zero of the coordinates: the pendulum hangs ("pivot", rad, from x towards z).

    Parameters
    ----------
    effort : float or function, N m
        Of the motor at the pivot: a number, one a node or a function of time and state (`vi.Motor`).
    bank : float, rad
        Where the stops are, from hanging to both sides.
    angle : float, rad
        From hanging at the start.
    rate : float, rad/s
        Of the pendulum at the start.
    """
    end = polar(LENGTH, -np.pi / 2)
    rod = link("rod", np.zeros(3), end, width=0.01)
    bodies = [vi.Body.composite("pendulum", [rod, vi.Body.sphere("bob", radius=0.03, mass=BOB, position=end)])]
    joints = [hinge("pivot", "world", "pendulum", np.zeros(3))]
    forces = [
        vi.JointStop("bank", joint="pivot", lower=-bank, upper=bank, stiffness=STOP_STIFFNESS, damping=STOP_DAMPING),
        vi.Motor("motor", joint="pivot", effort=effort),
    ]
    start = {"coordinates": {"pivot": angle}, "rates": {"pivot": rate}}
    return vi.Mechanism("escapement", bodies, joints, forces=forces, start=start)


EXPECTED = {
    "bodies": 1,
    "rows": 5,
    "mobility": 1,
    "redundant": 0,
    "loops": 0,
    "dt": 1e-3,
    "order": [{"parameters": {"bank": 3.0}, "exact_first_order_start": True}],
}
