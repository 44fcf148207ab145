"""Sarrus' linkage: two chains of three hinges lead a platform along a straight line."""

import numpy as np

import varint as vi
from varint.mechanisms._links import link
from varint.mechanisms._sizes import Positive


def build(short: Positive = 0.8, long: Positive = 1.0, drop: Positive = 1.3) -> vi.Mechanism:
    """A platform of 1 kg hangs below the ground on two chains of two links of 1 kg/m, released at rest.

    The platform's fall ends where the short chain is straight; its knee swings through. Of two equal chains each
    could choose its side there.

    Zero of the coordinates: the pose at the start, with the platform ``drop`` below the ground.

    Parameters
    ----------
    short : float, m
        Length of both links of the chain with hinges along y.
    long : float, m
        Length of both links of the chain with hinges along x.
    drop : float, m
        Of the platform below the ground at the start.
    """
    if not 0 < drop < 2 * min(short, long):
        raise vi.MechanismError(f"links of {short:g} and {long:g} m do not let a platform hang {drop:g} m below")
    bodies = [vi.Body.box("platform", size=(0.4, 0.4, 0.1), mass=1.0, position=(0, 0, -drop))]
    joints = []
    for name, length, outward, axis in (("short", short, (1, 0, 0), (0, 1, 0)), ("long", long, (0, 1, 0), (1, 0, 0))):
        top = 0.2 * np.array(outward)
        bottom = top - (0, 0, drop)
        knee = 0.5 * (top + bottom) + np.sqrt(length**2 - 0.25 * drop**2) * np.array(outward)
        upper, lower = f"upper {name}", f"lower {name}"
        bodies += [link(upper, top, knee), link(lower, knee, bottom)]
        joints += [
            vi.Revolute(f"top {name}", "world", upper, point=top, axis=axis),
            vi.Revolute(f"knee {name}", upper, lower, point=knee, axis=axis),
            vi.Revolute(f"bottom {name}", lower, "platform", point=bottom, axis=axis),
        ]
    return vi.Mechanism("Sarrus' linkage", bodies, joints)


EXPECTED = {
    "bodies": 5,
    "rows": 30,
    "mobility": 1,
    "redundant": 1,
    "loops": 1,
    "dt": 0.01,
    "order": [{"parameters": {"drop": 1.5}, "duration": 0.1, "slow": True}],
}
