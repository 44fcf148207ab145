"""A quadruped that is dropped on a floor, and bounces on the springs of its hips."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import NotNegative

OPENING = np.pi / 2  # rad, of the upper links from hanging at the reference


def build(
    drop: NotNegative = 0.05, stiffness: NotNegative = 10.0, damping: NotNegative = 0.02, friction: NotNegative = 0.8
) -> vi.Mechanism:
    """The quadruped of `minitaur` with a spring at each hip, above a floor.

    Zero of the coordinates: the pose at the start, with the upper links level.

    Parameters
    ----------
    drop : float, m
        Height of the toes above the floor at the start.
    stiffness : float, N m/rad
        Of the spring at each hip, at rest in the pose of the start.
    damping : float, N m s/rad
        Of these springs.
    friction : float, 1
        Coefficient of the toes.
    """
    flying = vi.mechanisms.minitaur(opening=OPENING)
    toes = {joint.body_a: joint.point for joint in flying.joints if joint.name.endswith("toe")}
    hips = [joint.name for joint in flying.joints if joint.name.endswith("hip")]
    low = {"ground": (0, 0, min(point[2] for point in toes.values()) - drop), "friction": friction}
    forces = [vi.TorsionSpring(f"{hip} spring", joint=hip, stiffness=stiffness, damping=damping) for hip in hips]
    forces += [vi.HardContact(f"{body} on floor", body, points=[toe], **low) for body, toe in toes.items()]
    return vi.Mechanism("Minitaur on a floor", flying.bodies, flying.joints, forces=forces)


EXPECTED = {
    "bodies": 17,
    "rows": 100,
    "mobility": 14,
    "redundant": 12,
    "loops": 4,
    "dt": 0.002,
    "duration": 2.0,
    "variants": [{"drop": 0.0}],
}
