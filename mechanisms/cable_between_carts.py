"""A heavy cable that hangs between two carts, and draws them together."""

import varint as vi
from varint.mechanisms._sizes import Positive


def build(elements: int = 8, length: Positive = 1.0, span: Positive = 0.8, mass: Positive = 1.0) -> vi.Mechanism:
    """A cable of 1 kg/m and EA 2000 N whose ends are held by carts on a track along x, in the x-z plane.

    It starts at rest on an arc, next to a catenary.

    Zero of the coordinates: the pose at the start: "left track" and "right track" count from there, along x, m;
    "cable k": the place of node k along x, y and z from there, m.

    Parameters
    ----------
    elements : int
        Of the cable, from 2.
    length : float, m
        Of the cable without load.
    span : float, m
        Between its ends at the start, less than its length.
    mass : float, kg
        Of each cart.
    """
    if span >= length:
        raise vi.MechanismError(f"the span must be less than the length of the cable, {length:g} m, got {span:g} m")
    section = vi.Section(EA=2000.0, GJ=1.0, EI=1.0, kGA=1.0, mass_per_length=1.0)
    ends = {"left": (-0.5 * span, 0, 0), "right": (0.5 * span, 0, 0)}
    bodies = [vi.Body.box(name, (0.1, 0.06, 0.06), mass, position=point) for name, point in ends.items()]
    tracks = [vi.Prismatic(f"{name} track", "world", name, point=point, axis=(1, 0, 0)) for name, point in ends.items()]
    parts = vi.cable(
        "cable", "left", "right", point_a=ends["left"], point_b=ends["right"], elements=elements, section=section,
        length=length,
    )  # fmt: skip
    return vi.Mechanism("cable between carts", [*bodies, *parts.bodies], [*tracks, *parts.joints], forces=parts.forces)


EXPECTED = {
    "bodies": 11,
    "rows": 43,
    "mobility": 23,
    "redundant": 0,
    "loops": 0,
    "dt": 0.001,
    "duration": 0.5,
    "variants": [{"elements": 4, "length": 0.7, "span": 0.6, "mass": 2.0}],
    "impossible": [{"span": 1.2}, {"elements": 1}],
}
