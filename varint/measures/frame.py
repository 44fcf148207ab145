"""FRAME: a coordinate of a frame of b seen from one of a: a POINT's, plus a part of the rotation vector.

g = u . (p + R w) - c + v . rho,    rho: see rotation.py, along which laws count turns
"""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import vector
from varint.measures.base import Measure, Numbers, register
from varint.measures.point import curve_point, point, point_numbers
from varint.measures.rotation import rotation_numbers, turning, turning_change


@njit
def frame(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    value = point(plan, ws, m, x_a, A, x_b, B, G_a, G_b)
    turned, near, far = turning(plan, ws, m, A, B)
    for k in range(3):
        G_a[3 + k] -= near[k]
        G_b[3 + k] += far[k]
    return value + turned


@njit
def curve_frame(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    curve_point(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)
    dnear, dfar = turning_change(plan, ws, m, A, B, vector(motions[0][3:]), vector(motions[1][3:]))
    for k in range(3):
        out_a[3 + k] -= dnear[k]
        out_b[3 + k] += dfar[k]


@njit
def frame_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by``; return the one along ``motions`` (6,) of either body.

    See measures/base.py.
    """
    along = point_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by)
    return along + rotation_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by)


@dataclass(frozen=True, eq=False)
class FrameCoordinate(Measure):
    """``direction`` . the shift of ``point_b`` of b from ``point_a`` of a, plus ``rotation`` . the rotation vector of b
    since the reference, in axes of a (3,); world, reference."""

    direction: np.ndarray
    rotation: np.ndarray
    point_b: np.ndarray
    point_a: np.ndarray

    kind = "frame"
    rare = True
    followed = True

    def numbers(self, A, x_a, B, x_b):
        u, w = A.T @ self.direction, B.T @ (self.point_b - x_b)
        c = float(self.direction @ (self.point_a - x_a))
        return Numbers(u=u, v=A.T @ self.rotation, w=w, c=c, rest=A.T @ B)


register("frame", frame, curve_frame, frame_numbers, FrameCoordinate)
