"""A spatial slider-crank: a crank about x, a rod on a ball, a slider on a line past the crank.

Dimensions, masses and start are those of the IFToMM benchmark "spatial rigid slider-crank mechanism", after Haug,
Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), section 12.2.
"""

import numpy as np

import varint as vi
from varint.mechanisms._links import pointing

CRANK, ROD = 0.08, 0.3  # m
PIVOT = np.array([0.0, 0.1, 0.12])
WRISTS = ("universal", "spherical")


def build(angle: float = 0.0, rate: float = 6.0, wrist: str = "universal") -> vi.Mechanism:
    """Crank of 0.12 kg, balanced at its pivot; rod of 0.5 kg; slider of 2 kg on the x axis.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``: "crank pivot" counts from there, from
    z towards -y, and "slide" from the slider's place there, along x.

    Parameters
    ----------
    angle : float, rad
        Of the crank from z towards -y at the start.
    rate : float, rad/s
        Of the crank at the start.
    wrist : str
        The joint at the slider: "universal" (about x, then across the rod), or "spherical", which leaves the rod free
        to spin about itself.
    """
    if wrist not in WRISTS:
        raise vi.MechanismError(f"wrist of spatial_slider_crank must be one of {WRISTS}, got {wrist!r}")
    up = np.array([0.0, -np.sin(angle), np.cos(angle)])
    pin = PIVOT + CRANK * up
    end = np.array([np.sqrt(ROD**2 - pin @ pin), 0.0, 0.0])
    bodies = [
        vi.Body("crank", mass=0.12, inertia=1e-5 * np.diag([10, 10, 1]), position=PIVOT, quat_wxyz=pointing(up)),
        vi.Body(
            "rod",
            mass=0.5,
            inertia=1e-4 * np.diag([40, 40, 4]),
            position=0.5 * (pin + end),
            quat_wxyz=pointing(end - pin),
        ),
        vi.Body("slider", mass=2.0, inertia=1e-4 * np.eye(3), position=end),
    ]
    line = (1, 0, 0)
    if wrist == "universal":  # which would let a rod along the line spin; this one never lies along it
        wrist_joint = vi.Universal("wrist", "slider", "rod", point=end, axis=line, axis_b=np.cross(line, end - pin))
    else:
        wrist_joint = vi.Spherical("wrist", "slider", "rod", point=end)
    joints = [
        vi.Revolute("crank pivot", "world", "crank", point=PIVOT, axis=line),
        vi.Spherical("crank pin", "crank", "rod", point=pin),
        wrist_joint,
        vi.Prismatic("slide", "world", "slider", point=end, axis=line),
    ]
    return vi.Mechanism("spatial slider-crank", bodies, joints, start={"rates": {"crank pivot": rate}})


EXPECTED = {
    "bodies": 3,
    "rows": 17,
    "mobility": 1,
    "redundant": 0,
    "loops": 1,
    "dt": 0.005,
    "order": [{"parameters": {"angle": 1.0}, "duration": 0.15, "speed": 0.1}],
}
