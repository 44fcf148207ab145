"""Newton's cradle: elastic balls side by side, of which one is let go."""

import numpy as np
from scipy.special import ellipk

import varint as vi
from varint.mechanisms._links import hinge
from varint.mechanisms._sizes import Positive


def build(
    n: int = 5, raised: int = 1, angle: float = 0.6, length: Positive = 0.3, radius: Positive = 0.02
) -> vi.Mechanism:
    """Steel balls on massless arms of the x-z plane, which touch where they hang.

    As many balls leave on the other side as came, at the speed of those: impacts pass from pair to pair.

    Zero of the coordinates: the balls hang ("pivot 1" .. "pivot n", rad, from x towards z).

    Parameters
    ----------
    n : int
        Number of balls, at least 2.
    raised : int
        Number of balls at the left that are let go together.
    angle : float, rad
        By which these are raised at the start, below pi / 2.
    length : float, m
        From the pivots to the middles of the balls.
    radius : float, m
        Of the balls.
    """
    if not 1 <= raised < n:
        raise vi.MechanismError(f"from 1 to n - 1 balls can be raised, got raised={raised} and n={n}")
    if not 0.0 < angle < 0.5 * np.pi:
        raise vi.MechanismError(f"angle must be above zero and below pi / 2, got {angle:g}")
    places = [np.array([2.0 * radius * k, 0.0, 0.0]) for k in range(n)]
    bodies = [
        vi.Body.sphere(f"ball {k}", radius, density=7800.0, position=at - (0, 0, length), collision=True)
        for k, at in enumerate(places, start=1)
    ]
    joints = [hinge(f"pivot {k}", "world", f"ball {k}", at) for k, at in enumerate(places, start=1)]
    forces = [vi.Contact(f"contact {k}", f"ball {k + 1}", f"ball {k}", restitution=1.0) for k in range(1, n)]
    start = {"coordinates": {f"pivot {k}": -angle for k in range(1, raised + 1)}}
    return vi.Mechanism("Newton's cradle", bodies, joints, forces=forces, start=start)


def period(angle=0.6, length=0.3, radius=0.02, gravity=9.81):
    """From one release to the next, s: half a swing on each side, 4 sqrt(I / (m g l)) K(sin(a / 2))."""
    return 4.0 * np.sqrt((length**2 + 0.4 * radius**2) / (gravity * length)) * ellipk(np.sin(0.5 * angle) ** 2)


EXPECTED = {
    "bodies": 5,
    "rows": 25,
    "mobility": 5,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "period": period(),
    "variants": [{"n": 3, "raised": 2, "angle": 0.3}],
    "impossible": [{"n": 1}, {"raised": 5}, {"angle": 2.0}],
}
