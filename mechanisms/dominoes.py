"""A row of dominoes, of which the first is pushed over."""

import numpy as np
from scipy.integrate import quad

import varint as vi
from varint.mechanisms._sizes import NotNegative, Positive

DOMINO = np.array([0.0075, 0.024, 0.048])  # m


def build(
    n: int = 6, spacing: Positive = 0.044, friction: NotNegative = 0.2, rough: NotNegative = 0.6, rate: float = 3.0
) -> vi.Mechanism:
    """Dominoes of 7.5 x 24 x 48 mm and 10 g on a floor, in a row along x.

    From 0.042 m apart each falls flat behind the next; nearer ones come to lean on each other.

    Zero of the coordinates: the pose at the start, all upright ("free 1" .. "free n": displacements along x, y and z,
    m, and rotation vector).

    Parameters
    ----------
    n : int
        Number of dominoes.
    spacing : float, m
        From the face of each to the next, below 0.048 m.
    friction : float, 1
        Coefficient between dominoes.
    rough : float, 1
        Coefficient of the floor.
    rate : float, rad/s
        Of the first domino at the start, about its lower edge in front.
    """
    if n < 1:
        raise vi.MechanismError(f"n must be at least 1, got {n}")
    if not spacing < DOMINO[2]:
        raise vi.MechanismError(f"spacing must be below {DOMINO[2]:g} m, to hit the next, got {spacing:g} m")
    names = [f"domino {k}" for k in range(1, n + 1)]
    bodies = [
        vi.Body.box(name, DOMINO, 0.01, position=(k * (DOMINO[0] + spacing), 0, 0.5 * DOMINO[2]), collision=True)
        for k, name in enumerate(names)
    ]
    joints = [vi.Free(f"free {k}", "world", name) for k, name in enumerate(names, start=1)]
    forces = [vi.ContactPairs("floor", bodies=names, others=["world"], friction=rough)]
    forces += [vi.Contact(f"hit {k}", names[k], names[k - 1], friction=friction) for k in range(1, n)]
    arm = 0.5 * DOMINO * (-1, 0, 1)
    start = {
        "velocity": {names[0]: rate * np.array([arm[2], 0.0, -arm[0]])},
        "angular_velocity": {names[0]: (0.0, rate, 0.0)},
    }
    return vi.Mechanism("dominoes", bodies, joints, forces=forces, ground=[vi.PlaneShape()], start=start)


def first_hit(spacing=0.044, rate=3.0, gravity=9.81):
    """Time at which the first domino hits the second, s: it turns about its lower edge in front until its upper edge
    is ``spacing`` further on, (J + m r^2) w^2 / 2 + m g z = const."""
    width, height = DOMINO[0], DOMINO[2]
    about = (width**2 + height**2) / 3.0  # over its mass
    end = np.arcsin(spacing / height)
    rise = lambda a: 0.5 * (height * np.cos(a) + width * np.sin(a) - height)  # noqa: E731
    return quad(lambda a: 1.0 / np.sqrt(rate**2 - 2.0 * gravity * rise(a) / about), 0.0, end)[0]


EXPECTED = {
    "bodies": 6,
    "rows": 0,
    "mobility": 36,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "duration": 2.0,
    "variants": [{"n": 3, "spacing": 0.042, "rate": 5.0}, {"n": 3, "spacing": 0.02}],
    "impossible": [{"n": 0}, {"spacing": 0.05}],
}
