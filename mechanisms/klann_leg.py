"""A leg of the Klann linkage: crank, two rockers, a bent rod and a bent leg."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, welded

# US patent 6,260,862, table 1, the leg fully extended; a unit is a metre here
SHAFT, UPPER_PIVOT, LOWER_PIVOT, PIN, ELBOW, KNEE, HIP, FOOT = (
    np.array([x, 0.0, z])
    for x, z in (
        (1.599, 0.750),
        (1.366, 1.366),
        (1.009, 0.574),
        (1.331, 0.750),
        (0.741, 0.750),
        (0.232, 0.866),
        (0.866, 1.500),
        (0.000, 0.000),
    )
)
WIDTH = 0.05


def build(rate: float = 4 * np.pi) -> vi.Mechanism:
    """Links of 1 kg/m in the x-z plane.

    Zero of the coordinates: the pose at the start, with the leg fully extended and the crank along -x from "shaft".

    Parameters
    ----------
    rate : float, rad/s
        Of the crank at the start.
    """
    bodies = [
        link("crank", SHAFT, PIN, WIDTH),
        welded("rod", PIN, ELBOW, KNEE, width=WIDTH),
        link("lower rocker", LOWER_PIVOT, ELBOW, WIDTH),
        link("upper rocker", UPPER_PIVOT, HIP, WIDTH),
        welded("leg", HIP, KNEE, FOOT, width=WIDTH),
    ]
    joints = [
        hinge("shaft", "world", "crank", SHAFT),
        hinge("crank pin", "crank", "rod", PIN),
        hinge("lower pivot", "world", "lower rocker", LOWER_PIVOT),
        hinge("elbow", "lower rocker", "rod", ELBOW),
        hinge("upper pivot", "world", "upper rocker", UPPER_PIVOT),
        hinge("hip", "upper rocker", "leg", HIP),
        hinge("knee", "rod", "leg", KNEE),
    ]
    return vi.Mechanism("Klann's leg", bodies, joints, start={"rates": {"shaft": rate}})


EXPECTED = {
    "bodies": 5,
    "rows": 35,
    "mobility": 1,
    "redundant": 6,
    "loops": 2,
    "dt": 0.002,
    "order": [{"duration": 0.03}],
}
