"""A scissor lift: crossed bars, a platform on top, a pin and a slider above and below."""

import numpy as np

import varint as vi
from varint.mechanisms._links import hinge, link
from varint.mechanisms._sizes import Positive


def build(
    k: int = 3, length: Positive = 1.0, angle: float = 0.3, rate: float = 0.06, gravity=(0, 0, 0)
) -> vi.Mechanism:
    """Stages of two bars of 1 kg/m, sliders of 1 kg and a platform of 10 kg.

    The platform is k length sin(angle) above the ground. The lift has no drive yet that could hold it, so there is no
    gravity unless asked for; it rises until the bars are upright, a singular pose.

    Zero of the coordinates: the pose at the start, with the bars at ``angle`` from level.

    Parameters
    ----------
    k : int
        Number of stages, 1 or more.
    length : float, m
        Of the bars.
    angle : float, rad
        Of the bars from level at the start.
    rate : float, rad/s
        Of that angle at the start.
    gravity : (3,) floats, m/s^2
        In the world's axes.
    """
    if k < 1:
        raise vi.MechanismError(f"k of scissor_lift must be 1 or more, got {k}")
    reach, rise = length * np.cos(angle), length * np.sin(angle)
    left, right = (np.array([[x, 0.0, i * rise] for i in range(k + 1)]) for x in (0.0, reach))
    middle = 0.5 * np.array([length, 0.0, 0.0])
    bodies = [
        vi.Body.box("lower slider", size=(0.1, 0.1, 0.1), mass=1.0, position=right[0]),
        vi.Body.box("platform", size=(length, length, 0.1), mass=10.0, position=left[k] + middle),
        vi.Body.box("upper slider", size=(0.1, 0.1, 0.1), mass=1.0, position=right[k]),
    ]
    joints = [
        hinge("lower pin", "world", "rising 1", left[0]),
        vi.Prismatic("lower slide", "world", "lower slider", axis=(1, 0, 0)),
        hinge("lower slider pin", "lower slider", "falling 1", right[0]),
    ]
    for i in range(1, k + 1):
        rising, falling = f"rising {i}", f"falling {i}"
        bodies += [link(rising, left[i - 1], right[i]), link(falling, right[i - 1], left[i])]
        joints.append(hinge(f"middle {i}", rising, falling, 0.5 * (left[i - 1] + right[i])))
        if i < k:
            joints.append(hinge(f"left {i}", falling, f"rising {i + 1}", left[i]))
            joints.append(hinge(f"right {i}", rising, f"falling {i + 1}", right[i]))
    joints += [
        hinge("upper pin", f"falling {k}", "platform", left[k]),
        hinge("upper slider pin", f"rising {k}", "upper slider", right[k]),
        vi.Prismatic("upper slide", "platform", "upper slider", axis=(1, 0, 0)),
    ]
    start = {"rates": {"lower pin": rate}}
    return vi.Mechanism(f"scissor lift of {k} stages", bodies, joints, gravity=gravity, start=start)


# k + 1 loops in one plane: 3 of the 5 rows that close each are redundant
EXPECTED = {
    "bodies": 9,
    "rows": 65,
    "mobility": 1,
    "redundant": 12,
    "loops": 4,
    "dt": 0.01,
    "variants": [{"k": 2, "length": 0.7, "angle": 0.7, "rate": 0.5, "gravity": (0, 0, -9.81)}],
    "impossible": [{"k": 0}],
    "order": [{"parameters": {"k": 1, "angle": 0.8, "gravity": (0, 0, -9.81)}}],
}
