"""A flexible beam on a hub that spins, free of gravity."""

import varint as vi
from varint.mechanisms._links import hinge
from varint.mechanisms._sizes import Positive


def build(elements: int = 4, length: Positive = 1.0, hub: Positive = 0.5, rate: float = 4.0) -> vi.Mechanism:
    """A beam of 0.1 kg/m, EI 0.05 N m^2 and EA 1000 N, clamped to a hub that turns in the x-z plane.

    It starts straight, along x, with the velocities of a rigid beam, and stretches and bends as it turns.

    Zero of the coordinates: the pose at the start: "pivot" counts from there, from x towards z; "beam k": displacement
    and rotation of node k relative to the node before, m and rad.

    Parameters
    ----------
    elements : int
        Of the beam.
    length : float, m
        Of the beam.
    hub : float, kg
        Mass of the hub, a ball of 0.1 m radius.
    rate : float, rad/s
        Of the hub at the start.
    """
    section = vi.Section(EA=1000.0, GJ=0.04, EI=0.05, kGA=320.0, mass_per_length=0.1)
    parts = vi.beam(
        "beam", "hub", None, point_a=(0.1, 0, 0), point_b=(0.1 + length, 0, 0), elements=elements, section=section,
        normal=(0, 0, 1),
    )  # fmt: skip
    bodies = [vi.Body.sphere("hub", radius=0.1, mass=hub), *parts.bodies]
    joints = [hinge("pivot", "world", "hub", (0, 0, 0)), *parts.joints]
    return vi.Mechanism(
        "spinning beam", bodies, joints, gravity=(0, 0, 0), forces=parts.forces, start={"rates": {"pivot": rate}}
    )


EXPECTED = {
    "bodies": 6,
    "rows": 11,
    "mobility": 25,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "variants": [{"elements": 2, "length": 0.5, "hub": 1.0, "rate": -3.0}],
    "impossible": [{"elements": 0}],
}
