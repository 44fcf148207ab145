"""A quadruped in free fall: a spinning trunk with four closed legs that move."""

import numpy as np

import varint as vi

HIPS = {"front left": (0.2, 0.12), "front right": (0.2, -0.12), "rear left": (-0.2, 0.12), "rear right": (-0.2, -0.12)}


def build(
    legs: int = 4, spin=(0.2, 3.0, 1.0), opening: float = np.pi / 2, rate: float = 1.0, gravity=(0, 0, 0)
) -> vi.Mechanism:
    """A trunk of 0.4 x 0.2 x 0.1 m and 5 kg, tied to nothing, with up to four legs as `minitaur_leg`.

    Relative to the centre of mass free fall is the same without gravity: by default there is none.

    Zero of the coordinates: the pose at the start, with the upper links opened by ``opening`` from hanging.

    Parameters
    ----------
    legs : int
        Number of legs, 1 to 4.
    spin : (3,) floats, rad/s
        Angular velocity of the trunk at the start, in its own axes.
    opening : float, rad
        Of the upper links from hanging at the start.
    rate : float, rad/s
        At which the first leg opens at the start; the others do so at other rates.
    gravity : (3,) floats, m/s^2
        In the world's axes.
    """
    if not 1 <= legs <= len(HIPS):
        raise vi.MechanismError(f"legs of minitaur must be 1 to {len(HIPS)}, got {legs}")
    bodies, joints, rates = [vi.Body.box("trunk", size=(0.4, 0.2, 0.1), mass=5.0)], [], {}
    leg = vi.mechanisms.module("minitaur_leg").leg
    for i, (name, (x, y)) in enumerate(list(HIPS.items())[:legs]):
        leg_bodies, leg_joints = leg(f"{name} ", "trunk", np.array([x, y, 0.0]), opening)
        bodies += leg_bodies
        joints += leg_joints
        rates |= {f"{name} left hip": -rate * (1 + 0.2 * i), f"{name} right hip": rate * (1 - 0.1 * i)}
    start = {"angular_velocity": {"trunk": spin}, "rates": rates}
    return vi.Mechanism("Minitaur", bodies, joints, gravity=gravity, start=start)


# 6 of the trunk and 2 a leg
EXPECTED = {
    "bodies": 17,
    "rows": 100,
    "mobility": 14,
    "redundant": 12,
    "loops": 4,
    "dt": 0.01,
    "variants": [{"legs": 2, "spin": (1.0, 0.0, 0.0), "opening": 2.0, "gravity": (0, 0, -9.81)}],
    "impossible": [{"legs": 5}],
    "order": [{"parameters": {"legs": 1}, "duration": 0.15, "speed": 0.5}],
}
