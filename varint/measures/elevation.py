"""ELEVATION: the angle of a direction of b above a plane of a, rad: the second of three Euler angles.

    g = asin s,    s = u . R w,    R = A^T B

u, w: unit vectors. The gradient is that of s (axis.py) over cos g; it does not exist at +-pi / 2, where g turns back.
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import dot, rotate, rotate_back, vector
from varint.measures.axis import axis, axis_numbers, curve_axis
from varint.measures.base import Measure, Numbers, register

LEAST = 1e-12  # of the square of cos g


@njit
def _slope(s):
    """Return the derivative of g by s: 1 / cos g."""
    return 1.0 / math.sqrt(max(LEAST, 1.0 - s * s))


@njit
def elevation(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    s = axis(plan, ws, m, x_a, A, x_b, B, G_a, G_b)
    slope = _slope(s)
    for k in range(6):
        G_a[k] *= slope
        G_b[k] *= slope
    return math.asin(min(max(s, -1.0), 1.0))


@njit
def curve_elevation(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py. The slope changes by s slope^3 ds.
    """
    s = axis(plan, ws, m, x_a, A, x_b, B, out_a, out_b)
    slope, ds = _slope(s), 0.0
    for k in range(3, 6):
        ds += out_a[k] * motions[0][k] + out_b[k] * motions[1][k]
    grown = s * slope**3 * ds
    a, b = (out_a[3], out_a[4], out_a[5]), (out_b[3], out_b[4], out_b[5])
    curve_axis(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)
    for k in range(3):
        out_a[3 + k] = slope * out_a[3 + k] + grown * a[k]
        out_b[3 + k] = slope * out_b[3 + k] + grown * b[k]


@njit
def elevation_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by``; return the one along ``motions`` (6,) of either body.

    See measures/base.py: derivatives of slope ds + factor g, with s slope^2 slope ds by s.
    """
    s = dot(vector(plan.measures.u[m]), rotate_back(A, rotate(B, vector(plan.measures.w[m]))))
    slope = _slope(s)
    ds = axis_numbers(plan, ws, m, x_a, A, x_b, B, motions, 0.0, 0.0, by)
    axis_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor + s * slope * slope * ds, weight * slope, by)
    return slope * ds


@dataclass(frozen=True, eq=False)
class Elevation(Measure):
    """The angle whose sine is ``direction_a`` of a times ``direction_b`` of b (3,), unit vectors, world, reference."""

    direction_a: np.ndarray
    direction_b: np.ndarray

    kind = "elevation"
    rare = True
    angular = True
    anchored = False

    def numbers(self, A, x_a, B, x_b):
        return Numbers(u=A.T @ self.direction_a, w=B.T @ self.direction_b)


register("elevation", elevation, curve_elevation, elevation_numbers, Elevation)
