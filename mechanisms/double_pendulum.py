"""Two links on hinges or balls."""

import numpy as np

import varint as vi


def build(joint: str = "revolute", angle: float = np.pi / 4) -> vi.Mechanism:
    """`n_pendulum` with two links, released at rest.

    Zero of the coordinates: the pose at the start, straight and turned by ``angle``; hanging is at -``angle`` of
    "joint 1".

    Parameters
    ----------
    joint : str
        "revolute" (axes along y) or "spherical".
    angle : float, rad
        About +y from hanging, at the start.
    """
    return vi.mechanisms.n_pendulum(2, joint=joint, angle=angle)


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"joint": "spherical"}],
}
