"""A leg of Theo Jansen's walking machines: eleven bars driven by a crank that turns all round."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link, meet, polar, welded

# Jansen's proportions, in his letters; a unit is a centimetre here
A, B, C, D, E, F, G = 0.380, 0.415, 0.393, 0.401, 0.558, 0.394, 0.367
H, I, J, K, L, M = 0.657, 0.490, 0.500, 0.619, 0.078, 0.150
WIDTH = 0.02


def build(angle: float = 0.0, rate: float = 4 * np.pi) -> vi.Mechanism:
    """Bars of 1 kg/m; the crank turns at the origin, the two triangles are rigid.

    Zero of the coordinates: the pose at the start, with the crank at ``angle``: "crank pivot" counts from there, from
    x towards z.

    Parameters
    ----------
    angle : float, rad
        Of the crank from x towards z at the start.
    rate : float, rad/s
        Of the crank at the start.
    """
    origin, pivot, pin = np.zeros(3), np.array([-A, 0.0, -L]), polar(M, angle)
    top, knee = meet(pivot, pin, B, J), meet(pin, pivot, K, C)
    back = meet(pivot, top, D, E)
    ankle = meet(knee, back, G, F)
    foot = meet(knee, ankle, I, H)
    bodies = [
        link("crank", origin, pin, WIDTH),
        link("upper rod", pin, top, WIDTH),
        link("lower rod", pin, knee, WIDTH),
        welded("upper triangle", pivot, top, back, pivot, width=WIDTH),
        link("rocker", pivot, knee, WIDTH),
        link("back rod", back, ankle, WIDTH),
        welded("lower triangle", knee, ankle, foot, knee, width=WIDTH),
    ]
    joints = [
        hinge("crank pivot", "world", "crank", origin),
        hinge("upper crank pin", "crank", "upper rod", pin),
        hinge("lower crank pin", "crank", "lower rod", pin),
        hinge("upper pivot", "world", "upper triangle", pivot),
        hinge("lower pivot", "world", "rocker", pivot),
        hinge("top", "upper rod", "upper triangle", top),
        hinge("back", "upper triangle", "back rod", back),
        hinge("ankle", "back rod", "lower triangle", ankle),
        hinge("knee", "lower rod", "rocker", knee),
        hinge("lower knee", "rocker", "lower triangle", knee),
    ]
    return vi.Mechanism("Jansen's leg", bodies, joints, start={"rates": {"crank pivot": rate}})


EXPECTED = {
    "bodies": 7,
    "rows": 50,
    "mobility": 1,
    "redundant": 9,
    "loops": 3,
    "dt": 0.01,
    "variants": [{"angle": 2.0, "rate": -10.0}],
    "order": [{"duration": 0.15}],
}
