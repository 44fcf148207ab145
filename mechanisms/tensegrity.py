"""A tensegrity prism: struts that do not touch each other, held by cables alone."""

import numpy as np

import varint as vi
from varint.mechanisms._sizes import Positive


def build(
    n: int = 3, radius: Positive = 0.3, height: Positive = 0.5, tension: Positive = 20.0, rate: float = 1.0
) -> vi.Mechanism:
    """Struts of 0.2 kg on ball joints on the ground, cables between their tops and from each top to the next foot.

    Without weight it stands in the one twist at which all cables can be in tension. It starts in that shape, turning,
    and swings and sags about it.

    Zero of the coordinates: the pose at the start: "foot k" is the turn of strut k from there.

    Parameters
    ----------
    n : int
        Number of struts, from 3.
    radius : float, m
        Of the circles through the feet and through the tops.
    height : float, m
        Of the tops over the feet.
    tension : float, N
        Of the cables between the tops without weight; the stiffness of all cables is 20 tension / radius.
    rate : float, rad/s
        At which each strut turns about the vertical through its foot at the start.
    """
    if n < 3:
        raise vi.MechanismError(f"a prism needs 3 struts at least, got {n}")
    part = np.pi / n
    feet, tops = (
        np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, z)])
        for angle, z in ((2 * part * np.arange(n), 0.0), (2 * part * np.arange(n) + part + np.pi / 2, height))
    )
    struts = [vi.Body.rod(f"strut {k}", feet[k], tops[k], mass=0.2, radius=0.01) for k in range(n)]
    joints = [vi.Spherical(f"foot {k}", "world", f"strut {k}", point=feet[k]) for k in range(n)]
    stiffness = 20.0 * tension / radius
    side = 2 * radius * np.sin(part)

    # balance of a top in its level plane: the force over the length of a cable that rises, and of a strut with the
    # other sign, is 2 sin(pi / n) times that of a cable between tops
    pull = 2 * np.sin(part) * tension / side
    cables = []
    for k in range(n):
        after = (k + 1) % n
        rise = float(np.linalg.norm(feet[after] - tops[k]))
        for name, body, end, length, force in (
            ("top", f"strut {after}", tops[after], side, tension),
            ("rise", "world", feet[after], rise, pull * rise),
        ):
            cables.append(
                vi.Cable(
                    f"{name} {k}", f"strut {k}", body, point_a=tops[k], point_b=end, stiffness=stiffness,
                    rest_length=length - force / stiffness,
                )
            )  # fmt: skip
    turning = {f"foot {k}": (0.0, 0.0, rate) for k in range(n)}
    return vi.Mechanism("tensegrity", struts, joints, forces=cables, start={"rates": turning})


EXPECTED = {
    "bodies": 3,
    "rows": 9,
    "mobility": 9,
    "redundant": 0,
    "loops": 0,
    "dt": 0.002,
    "variants": [{"n": 4, "radius": 0.2, "height": 0.4, "tension": 50.0, "rate": -1.0}],
    "impossible": [{"n": 2}],
}
