"""A slider-crank with a flexible connecting rod, a beam of steel."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge
from varint.mechanisms._sizes import Positive


def build(elements: int = 4, thickness: Positive = 0.008, rate: float = 50.0) -> vi.Mechanism:
    """A crank of 0.15 m, a connecting rod of steel of 0.3 m, 8 mm wide, and a slider of 75.552 g on x, in x-z.

    The lengths and masses are those of Simeon's example; there the crank is driven at 150 rad/s. All starts in a line,
    with the velocities of a rigid rod, without gravity.

    Zero of the coordinates: the pose at the start: "crank pivot" counts from there, from x towards z; "slide" from
    there, m; "rod k": displacement and rotation of node k of the rod relative to node k - 1, m and rad.

    Parameters
    ----------
    elements : int
        Of the rod.
    thickness : float, m
        Of the rod in the plane.
    rate : float, rad/s
        Of the crank at the start.
    """
    origin, pin, wrist = np.zeros(3), np.array([0.15, 0, 0]), np.array([0.45, 0, 0])
    section = vi.Section.rectangle(0.008, thickness, E=2e11, nu=0.3, density=7870.0)
    rod = vi.beam("rod", None, None, point_a=pin, point_b=wrist, elements=elements, section=section, normal=(0, 0, 1))
    bodies = [
        vi.Body.rod("crank", origin, pin, mass=0.36),
        *rod.bodies,
        vi.Body.box("slider", (0.02, 0.02, 0.02), mass=0.075552, position=wrist),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("crank pin", "crank", "rod 0", pin),
        *rod.joints,
        hinge("wrist pin", f"rod {elements}", "slider", wrist),
        vi.Prismatic("slide", "world", "slider", axis=(1, 0, 0)),
    ]
    start = {"rates": {"crank pivot": rate}}
    return vi.Mechanism("flexible slider-crank", bodies, joints, gravity=(0, 0, 0), start=start, forces=rod.forces)


EXPECTED = {
    "bodies": 7,
    "rows": 20,
    "mobility": 22,
    "redundant": 0,
    "loops": 1,
    "dt": 2e-4,
    "duration": 0.4,
    "variants": [{"elements": 2, "thickness": 0.012, "rate": -30.0}],
    "impossible": [{"elements": 0}],
}
