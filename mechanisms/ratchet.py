"""A ratchet: a wheel with saw teeth that turns one way, and is held by its pawl the other."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, polar, prism
from varint.mechanisms._sizes import NotNegative

ROOT, TIP, WIDTH = 0.04, 0.05, 0.01  # m
PAWL, NOSE = 0.06, 0.002  # m, length of the pawl and radius of its nose


def build(teeth: int = 12, rate: float = 15.0, load: NotNegative = 0.02, friction: NotNegative = 0.1) -> vi.Mechanism:
    """A wheel of 0.05 m at the origin with a constant torque, as of a weight on a rope, and a pawl that lies on it.

    It starts against the torque, comes to rest, turns back by less than a tooth, and is held.

    Zero of the coordinates: the pose at the start, the nose of the pawl above a tooth ("wheel" and "pawl", rad, from x
    towards z).

    Parameters
    ----------
    teeth : int
        Number of teeth, 6 to 30.
    rate : float, rad/s
        Of the wheel at the start.
    load : float, N m
        Torque on the wheel, which the pawl has to hold.
    friction : float, 1
        Coefficient of the pawl on the teeth.
    """
    if not 6 <= teeth <= 30:
        raise vi.MechanismError(f"teeth must be 6 to 30, got {teeth}")
    pitch = 2.0 * np.pi / teeth
    edges = 0.5 * np.pi + pitch * (np.arange(teeth) + 0.3)
    saw = [prism([np.zeros(3), polar(TIP, a), polar(ROOT, a + pitch)], WIDTH) for a in edges]
    wheel = vi.Body("wheel", mass=0.3, inertia=np.diag([2e-4, 3e-4, 2e-4]), collision=saw)
    nose = np.array([0.0, 0.0, TIP + 2.0 * NOSE])
    pivot = nose + (PAWL, 0.0, 0.0)
    middle = 0.5 * (nose + pivot)
    arm = vi.CapsuleShape(nose - middle, pivot - middle, NOSE)
    pawl = vi.Body("pawl", mass=0.02, inertia=np.diag([1e-7, 6e-6, 6e-6]), position=middle, collision=[arm])
    joints = [hinge("wheel", "world", "wheel", np.zeros(3)), hinge("pawl", "world", "pawl", pivot)]
    forces = [vi.Motor("load", joint="wheel", effort=-load), vi.Contact("catch", "pawl", "wheel", friction=friction)]
    return vi.Mechanism("ratchet", [wheel, pawl], joints, forces=forces, start={"rates": {"wheel": rate}})


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "variants": [{"teeth": 20, "load": 0.04}],
    "impossible": [{"teeth": 4}],
}
