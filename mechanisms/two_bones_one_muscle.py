"""Two bones on hinges, and a muscle whose mass is spread along the line between them."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive


def build(muscle: Positive = 1.0, angle: float = -0.5) -> vi.Mechanism:
    """Rods of 1 m and 1 kg in the plane of x and z, released at rest, the first one level along +x.

    The muscle leads from 0.25 m along the first rod to 0.75 m along the second, 0.1 m beside both; its mass acts by
    three particles, which is exact (docs/muscle_inertia.md).

    Zero of the coordinates: the pose at the start.

    Parameters
    ----------
    muscle : float, kg
        Mass of the muscle.
    angle : float, rad
        Of the second rod against the first at the start, about -y.
    """
    along, across = np.array([np.cos(angle), 0.0, np.sin(angle)]), np.array([-np.sin(angle), 0.0, np.cos(angle)])
    elbow = np.array([1.0, 0.0, 0.0])
    ends = [(np.zeros(3), elbow), (elbow, elbow + along)]
    bones = [vi.Body.rod(f"bone {k + 1}", *end, mass=1.0, radius=0.03) for k, end in enumerate(ends)]
    hinges = [
        vi.Revolute("shoulder", "world", "bone 1", point=(0, 0, 0), axis=(0, -1, 0)),
        vi.Revolute("elbow", "bone 1", "bone 2", point=elbow, axis=(0, -1, 0)),
    ]
    insertion = elbow + 0.75 * along + 0.1 * across
    mass = vi.straight_muscle_mass("muscle", "bone 1", "bone 2", point_a=(0.25, 0, 0.1), point_b=insertion, mass=muscle)
    bodies, joints = [*bones, *mass.bodies], [*hinges, *mass.joints]
    return vi.Mechanism("two bones, one muscle", bodies, joints, forces=mass.forces)


EXPECTED = {
    "bodies": 5,
    "rows": 25,
    "mobility": 2,
    "redundant": 0,
    "loops": 2,
    "dt": 0.005,
}
