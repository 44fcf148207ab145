"""Bricard's linkage: six hinges along edges of a cube, five rods and the ground (IFToMM A04)."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
AXES = np.eye(3)[[1, 2, 0, 1, 2, 0]]  # of the hinge at each corner


def build() -> vi.Mechanism:
    """Rods of 1 x 0.1 x 0.1 m and 1 kg, released at rest; gravity along -y.

    Each hinge is square to its two rods. Six hinges in a loop leave six bodies no freedom; this one moves, thanks to
    its dimensions alone.

    Zero of the coordinates: the pose at the start, with the rods along edges of a cube.
    """
    bodies = [link(f"rod {i}", CORNERS[i - 1], CORNERS[i]) for i in range(1, 6)]
    ends = ["world", *(body.name for body in bodies), "world"]
    joints = [
        vi.Revolute(f"hinge {i + 1}", ends[i], ends[i + 1], point=CORNERS[i], axis=AXES[i]) for i in range(len(CORNERS))
    ]
    return vi.Mechanism("Bricard's linkage", bodies, joints, gravity=(0, -9.81, 0))


EXPECTED = {
    "bodies": 5,
    "rows": 30,
    "mobility": 1,
    "redundant": 1,
    "loops": 1,
    "dt": 0.01,
    "period": 4.9917115137,
    "order": [{"duration": 0.35}],
}
