"""A floating chain of links, wriggling without gravity."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link

JOINTS = ("universal", "revolute")


def build(n: int = 10, joint: str = "universal") -> vi.Mechanism:
    """Links of 0.1 x 0.1 x 1 m and 1 kg along x, tied to nothing; the first at rest, all joints turning.

    Zero of the coordinates: the pose at the start, straight along x.

    Parameters
    ----------
    n : int
        Number of links.
    joint : str
        "universal" (about y and z) or "revolute" (about y and z in turn).
    """
    if joint not in JOINTS:
        raise vi.MechanismError(f"joint of snake must be one of {JOINTS}, got {joint!r}")
    bodies = [link(f"link {i}", (i - 1.0, 0, 0), (i, 0, 0)) for i in range(1, n + 1)]
    joints, rates = [], {}
    for i in range(1, n):
        name, ends, point = f"joint {i}", (f"link {i}", f"link {i + 1}"), (i, 0, 0)
        if joint == "universal":
            joints.append(vi.Universal(name, *ends, point=point, axis=(0, 1, 0), axis_b=(0, 0, 1)))
            rates[name] = (np.sin(i), np.cos(i))
        else:
            joints.append(vi.Revolute(name, *ends, point=point, axis=(0, 1, 0) if i % 2 else (0, 0, 1)))
            rates[name] = np.sin(i)
    return vi.Mechanism(f"{n}-link snake", bodies, joints, gravity=(0, 0, 0), start={"rates": rates})


EXPECTED = {
    "bodies": 10,
    "rows": 36,
    "mobility": 24,
    "redundant": 0,
    "loops": 0,
    "dt": 0.01,
    "variants": [{"n": 4, "joint": "revolute"}],
    "impossible": [{"joint": "fixed"}],
    "order": [{"parameters": {"n": 3}, "speed": 1.0}],
}
