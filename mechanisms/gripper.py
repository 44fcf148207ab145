"""A gripper whose two fingers hold a cube by friction."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import NotNegative, Positive

CUBE, HEIGHT = 0.04, 0.2  # m
FINGER = np.array([0.01, 0.03, 0.06])  # m


def build(
    force: NotNegative = 10.0, friction: NotNegative = 0.5, mass: Positive = 0.5, speed: float = 0.1
) -> vi.Mechanism:
    """Two fingers on slides of a hand press on a cube of 0.04 m, and the hand lifts it.

    Friction of both fingers holds at most 2 ``friction`` ``force``: what weighs more slides down.

    Zero of the coordinates: the pose at the start, where the fingers touch the cube ("lift", m, upwards; "left" and
    "right", m, along x).

    Parameters
    ----------
    force : float, N
        Normal force of each finger on the cube.
    friction : float, 1
        Coefficient of friction between each finger and the cube.
    mass : float, kg
        Mass of the cube.
    speed : float, m/s
        Prescribed speed of the hand, upwards.
    """
    off = np.array([0.5 * (CUBE + FINGER[0]), 0.0, 0.0])
    at = np.array([0.0, 0.0, HEIGHT])
    palm = at + (0.0, 0.0, 0.5 * FINGER[2] + 0.01)
    bodies = [
        vi.Body.box("hand", (0.12, 0.03, 0.02), 1.0, position=palm),
        vi.Body.box("left finger", FINGER, 0.1, position=at - off, collision=True),
        vi.Body.box("right finger", FINGER, 0.1, position=at + off, collision=True),
        vi.Body.box("cube", (CUBE, CUBE, CUBE), mass, position=at, collision=True),
    ]
    joints = [
        vi.Prismatic("lift", "world", "hand", point=palm, axis=(0, 0, 1)),
        vi.Prismatic("left", "hand", "left finger", point=at - off, axis=(1, 0, 0)),
        vi.Prismatic("right", "hand", "right finger", point=at + off, axis=(1, 0, 0)),
        vi.Free("free", "world", "cube"),
    ]
    forces = [
        vi.PrescribedMotion("hoist", joint="lift", rate=speed),
        vi.Motor("left motor", joint="left", effort=force),
        vi.Motor("right motor", joint="right", effort=-force),
        vi.Contact("left grip", "cube", "left finger", friction=friction),
        vi.Contact("right grip", "cube", "right finger", friction=friction),
    ]
    start = {"rates": {"lift": speed}, "velocity": {"cube": (0, 0, speed)}}
    return vi.Mechanism("gripper", bodies, joints, forces=forces, start=start)


EXPECTED = {
    "bodies": 4,
    "rows": 15,
    "mobility": 9,
    "redundant": 0,
    "loops": 0,
    "dt": 0.005,
    "variants": [{"mass": 0.2, "friction": 0.8}, {"speed": -0.05}],
}
