"""A net that hangs between two carts, and draws them together: particles and springs."""

import varint as vi
from varint.mechanisms._sizes import Positive


def build(cells: int = 6, length: Positive = 0.8, width: Positive = 0.4, mass: Positive = 1.0) -> vi.Mechanism:
    """A net of 0.5 kg/m^2 whose ends are held by carts on a track along x.

    Its threads pull with 200 N/m a cell, its diagonals with 20 N/m. It starts level and at rest, and falls.

    Zero of the coordinates: the pose at the start: "left track" and "right track" count from there, along x, m.

    Parameters
    ----------
    cells : int
        Of the net along its length, from 2; half as many across, rounded up.
    length : float, m
        Of the net, along x.
    width : float, m
        Of the net, along y.
    mass : float, kg
        Of each cart.
    """
    if cells < 2:
        raise vi.MechanismError(f"the net needs 2 cells at least, got {cells}")
    across = (cells + 1) // 2
    ends = {"left": (-0.5 * length, 0, 0), "right": (0.5 * length, 0, 0)}
    bodies = [vi.Body.box(name, (0.1, width, 0.06), mass, position=point) for name, point in ends.items()]
    tracks = [vi.Prismatic(f"{name} track", "world", name, point=point, axis=(1, 0, 0)) for name, point in ends.items()]
    row = range(across + 1)
    net = vi.ParticleNet.cloth(
        "net", (length, width), (cells, across), mass=0.5 * length * width, stiffness=(200.0, 20.0, 0.0), damping=1e-3,
        attach={"left": list(row), "right": [cells * len(row) + j for j in row]},
    )  # fmt: skip
    return vi.Mechanism("net between carts", bodies, tracks, forces=[net])


EXPECTED = {
    "bodies": 2,
    "rows": 10,
    "mobility": 2,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "duration": 1.0,
    "variants": [{"cells": 3, "length": 0.5, "width": 0.5, "mass": 2.0}],
    "impossible": [{"cells": 1}],
}
