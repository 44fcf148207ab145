"""RIM: height of the lowest point of a wheel above a plane, m.

    g = n . (c + rho) - c_0

n, c and rho: see rolling.py. Its gradient is that of ROLLING with u = n, since rho is at right angles to the rim.
"""

from dataclasses import dataclass

from varint.base.numba import njit
from varint.mathematics.vectors import dot, vector
from varint.measures.base import register
from varint.measures.rolling import Wheel, axis_of, curve_wheel, lever_of, wheel


@njit
def rim(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    n = vector(plan.measures.u[m])
    height = wheel(plan, ws, m, n, x_a, A, x_b, B, G_a, G_b)
    return height + dot(n, lever_of(plan, m, n, axis_of(plan, m, A, B)))


@njit
def curve_rim(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    curve_wheel(plan, ws, m, vector(plan.measures.u[m]), x_a, A, x_b, B, motions, (out_a, out_b))


@dataclass(frozen=True, eq=False)
class Rim(Wheel):
    """The height of the lowest point, ``direction`` being the ``normal``."""

    kind = "rim"


register("rim", rim, curve_rim, None, Rim)
