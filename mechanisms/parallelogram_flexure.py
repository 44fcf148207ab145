"""A stage on two parallel leaves, which is guided by their bending."""

import varint as vi
from varint.mechanisms._sizes import Positive


def build(elements: int = 4, length: Positive = 0.1, thickness: Positive = 5e-4, mass: Positive = 0.1) -> vi.Mechanism:
    """Two leaves of steel along x, 10 mm wide and 40 mm apart, from the world to a stage, which falls from rest.

    The stage goes along z, next to parallel to itself, and swings about where it hangs by its weight.

    Zero of the coordinates: the pose at the start, undeformed ("leaf k i": displacement and rotation of node i of leaf
    k relative to the node before, m and rad).

    Parameters
    ----------
    elements : int
        Of each leaf.
    length : float, m
        Of the leaves.
    thickness : float, m
        Of the leaves.
    mass : float, kg
        Of the stage.
    """
    leaf = vi.Section.rectangle(0.01, thickness, E=2.07e11, nu=0.3, density=7850.0)
    bodies = [vi.Body.box("stage", (0.02, 0.01, 0.06), mass, position=(length + 0.01, 0, 0.02))]
    joints, forces = [], []
    for k, z in ((1, 0.04), (2, 0.0)):
        parts = vi.beam(
            f"leaf {k}", "world", "stage", point_a=(0, 0, z), point_b=(length, 0, z), elements=elements, section=leaf,
            normal=(0, 0, 1),
        )  # fmt: skip
        bodies, joints, forces = bodies + parts.bodies, joints + parts.joints, forces + parts.forces
    return vi.Mechanism("parallelogram flexure", bodies, joints, forces=forces)


EXPECTED = {
    "bodies": 9,
    "rows": 12,
    "mobility": 42,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "duration": 2.0,
    "variants": [{"elements": 2, "length": 0.08, "thickness": 1e-3, "mass": 0.2}],
    "impossible": [{"elements": 0}],
}
