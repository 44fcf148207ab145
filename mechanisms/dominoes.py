"""A row of dominoes, of which the first is pushed over."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import NotNegative, Positive

DOMINO = np.array([0.0075, 0.024, 0.048])  # m


def build(
    n: int = 6, spacing: Positive = 0.02, friction: NotNegative = 0.3, rough: NotNegative = 0.8, rate: float = 3.0
) -> vi.Mechanism:
    """Dominoes of 7.5 x 24 x 48 mm and 10 g on a floor, in a row along x.

    Zero of the coordinates: all upright ("free 1" .. "free n": displacements along x, y and z, m, and rotation vector).

    Parameters
    ----------
    n : int
        Number of dominoes.
    spacing : float, m
        From the face of each to the next.
    friction : float, none
        Coefficient between dominoes.
    rough : float, none
        Coefficient of the floor.
    rate : float, rad/s
        Of the first domino at the start, about its lower edge in front.
    """
    if n < 1:
        raise vi.MechanismError(f"n must be at least 1, got {n}")
    if spacing >= DOMINO[2]:
        raise vi.MechanismError(f"spacing of {spacing:g} m: a domino of {DOMINO[2]:g} m would not reach the next")
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


EXPECTED = {
    "bodies": 6,
    "rows": 0,
    "mobility": 36,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "duration": 0.8,
    "variants": [{"n": 3, "spacing": 0.01}],
    "impossible": [{"n": 0}, {"spacing": 0.05}],
}
