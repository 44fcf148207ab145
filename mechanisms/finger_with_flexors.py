"""A finger of three bones, with both flexors and elastic joints."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import NotNegative, Positive

DENSITY, RADIUS = 5000.0, 0.006  # kg/m^3, as in the dissertation on inertial musculotendons, and m
ENDS = (0.0, 0.045, 0.071, 0.091)  # m along x, of the bones
NAMES = ("proximal", "middle", "distal")
PALMAR = {  # m along x, and above the joints: points of the flexors by bone, the forearm before them
    "deep flexor": (("world", -0.05, -0.011), ("world", -0.008, -0.010), ("proximal", 0.010, -0.010),
                    ("proximal", 0.038, -0.009), ("middle", 0.052, -0.009), ("middle", 0.066, -0.007),
                    ("distal", 0.076, -0.007)),
    "superficial flexor": (("world", -0.05, -0.013), ("world", -0.008, -0.012), ("proximal", 0.010, -0.012),
                           ("proximal", 0.038, -0.010), ("middle", 0.053, -0.007)),
}  # fmt: skip
DAMPING = 5e-4  # N m s, of each joint
FLEXOR = {"max_force": 40.0, "optimal_length": 0.05}


def build(
    deep: float = 0.2, superficial: float = 0.2, mass: NotNegative = 0.0, stiffness: Positive = 0.1
) -> vi.Mechanism:
    """A finger along +x, straight at the start and at rest; both flexors then bend it downwards.

    The flexors run under the joints through points of the bones, as the sheaths of a finger lead them: the deep one to
    the last bone, the superficial one to the middle bone. Joints are elastic.

    Zero of the coordinates: the pose at the start, with the finger straight; flexion is positive.

    Parameters
    ----------
    deep : float, 1
        Activation of the deep flexor, 0 to 1.
    superficial : float, 1
        Activation of the other, 0 to 1.
    mass : float, kg
        Of each flexor, spread along its path; 0.2 in the study of the dissertation.
    stiffness : float, N m/rad
        Of each joint, against flexion and extension.
    """
    bones = [
        vi.Body.rod(name, (a, 0, 0), (b, 0, 0), mass=DENSITY * np.pi * RADIUS**2 * (b - a), radius=RADIUS)
        for name, a, b in zip(NAMES, ENDS[:-1], ENDS[1:], strict=True)
    ]
    joints = [
        vi.Revolute(f"{name} joint", before, name, point=(x, 0, 0), axis=(0, 1, 0))
        for name, before, x in zip(NAMES, ("world", *NAMES[:-1]), ENDS[:-1], strict=True)
    ]
    forces = []
    for (name, points), activation in zip(PALMAR.items(), (deep, superficial), strict=True):
        path = _path(points)
        slack = float(np.linalg.norm(np.diff([at.point for at in path], axis=0), axis=1).sum()) - 0.05
        forces.append(
            vi.Musculotendon(
                name, path=path, excitation=activation, activation_times=None, slack_length=slack, mass=mass, **FLEXOR
            )
        )
    forces += [
        vi.TorsionSpring(f"{joint.name} spring", joint=joint.name, stiffness=stiffness, damping=DAMPING)
        for joint in joints
    ]
    return vi.Mechanism("finger_with_flexors", bones, joints, forces=forces)


def _path(points):
    return [vi.At(body, (x, 0.0, z)) for body, x, z in points]


EXPECTED = {
    "bodies": 3,
    "rows": 15,
    "mobility": 3,
    "redundant": 0,
    "loops": 0,
    "dt": 0.0005,
    "variants": [{"mass": 0.2}, {"deep": 0.4, "superficial": 0.0}],
}
