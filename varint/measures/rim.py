"""RIM: height of the lowest point of a wheel above a plane, m.

    g = n . (c + rho) - c_0

n, c and rho: see rolling.py. Its gradient is that of ROLLING with u = n, since rho is at right angles to the rim.
"""

from dataclasses import dataclass

from varint._numba import njit
from varint.algebra.vectors import add, dot, rotate, rotate_back, sub, vector
from varint.measures.base import register
from varint.measures.rolling import Wheel, axis_of, curve_rolling, lever_of, rolling


@njit
def rim(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Value and gradient, see measures/base.py."""
    rolling(plan, ws, m, x_a, A, x_b, B, G_a, G_b)
    to_centre = add(sub(vector(x_b), vector(x_a)), rotate(B, vector(plan.measures.w[m])))
    lowest = add(rotate_back(A, to_centre), lever_of(plan, m, axis_of(plan, m, A, B)))
    return dot(vector(plan.measures.u[m]), lowest) - plan.measures.c[m]


@njit
def curve_rim(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Change of the gradient, see measures/base.py."""
    curve_rolling(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)


@dataclass(frozen=True, eq=False)
class Rim(Wheel):
    """The height of the lowest point, ``direction`` being the ``normal``."""

    kind = "rim"


register("rim", rim, curve_rim, None, Rim)
