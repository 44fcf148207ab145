"""LENGTH: the distance between a point of a and a point of b, m.

g = |d|,    d = x_b + B w - x_a - A u
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


@njit
def length(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py; zero at zero."""
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    d = sub(add(sub(vector(x_b), vector(x_a)), rotate(B, w)), rotate(A, u))
    g = math.sqrt(dot(d, d))
    n = scale(1.0 / g if g > 0.0 else 0.0, d)
    write(G_a, scale(-1.0, n), cross(rotate_back(A, n), u))
    write(G_b, n, cross(w, rotate_back(B, n)))
    return g


@njit
def curve_length(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py. At zero: the change of the separation vector.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = sub(add(sub(vector(x_b), vector(x_a)), rotate(B, w)), rotate(A, u))
    dd = add(sub(vector(motions[1]), vector(motions[0])), sub(rotate(B, cross(turn_b, w)), rotate(A, cross(turn_a, u))))
    g = math.sqrt(dot(d, d))
    n, dn = d, dd
    if g > 0.0:
        n = scale(1.0 / g, d)
        dn = scale(1.0 / g, sub(dd, scale(dot(n, dd), n)))
    write(out_a, scale(-1.0, dn), cross(sub(rotate_back(A, dn), cross(turn_a, rotate_back(A, n))), u))
    write(out_b, dn, cross(w, sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))))


@njit
def length_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by``; return the one along ``motions`` (6,) of either body.

    See measures/base.py. At zero: derivatives of the separation vector.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = sub(add(sub(vector(x_b), vector(x_a)), rotate(B, w)), rotate(A, u))
    dd = add(sub(vector(motions[1]), vector(motions[0])), sub(rotate(B, cross(turn_b, w)), rotate(A, cross(turn_a, u))))
    g = math.sqrt(dot(d, d))
    n, dn = d, dd
    if g > 0.0:
        n = scale(1.0 / g, d)
        dn = add(scale(1.0 / g, sub(dd, scale(dot(n, dd), n))), scale(factor, n))
    add_to(by.u[m], -weight, sub(rotate_back(A, dn), cross(turn_a, rotate_back(A, n))))
    add_to(by.w[m], weight, sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n))))
    return dot(n, dd)


@dataclass(frozen=True, eq=False)
class Length(Measure):
    """The distance between ``point_a`` of a and ``point_b`` of b (3,), world, reference, m."""

    point_a: np.ndarray
    point_b: np.ndarray

    kind = "length"
    radial = True
    pointing = True
    bends = True

    def numbers(self, A, x_a, B, x_b):
        return Numbers(u=A.T @ (self.point_a - x_a), w=B.T @ (self.point_b - x_b))


register("length", length, curve_length, length_numbers, Length)
