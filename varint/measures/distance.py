"""DISTANCE: by how much two points are not c apart, m, without the square root of a length.

g = (|d|^2 - c^2) / (2 c),    d = x_b + B w - x_a - A u
"""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


@njit
def distance(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    u, w, c = vector(plan.measures.u[m]), vector(plan.measures.w[m]), plan.measures.c[m]
    d = sub(add(vector(x_b), rotate(B, w)), add(vector(x_a), rotate(A, u)))
    n = scale(1.0 / c, d)
    write(G_a, scale(-1.0, n), cross(rotate_back(A, n), u))
    write(G_b, n, cross(w, rotate_back(B, n)))
    return 0.5 * c * (dot(n, n) - 1.0)


@njit
def curve_distance(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    u, w, c = vector(plan.measures.u[m]), vector(plan.measures.w[m]), plan.measures.c[m]
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = sub(add(vector(x_b), rotate(B, w)), add(vector(x_a), rotate(A, u)))
    dd = add(sub(vector(motions[1]), vector(motions[0])), sub(rotate(B, cross(turn_b, w)), rotate(A, cross(turn_a, u))))
    n, dn = scale(1.0 / c, d), scale(1.0 / c, dd)
    write(out_a, scale(-1.0, dn), cross(sub(rotate_back(A, dn), cross(turn_a, rotate_back(A, n))), u))
    write(out_b, dn, cross(w, sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))))


@njit
def distance_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by.u``, ``by.w``, ``by.c``; return the one along ``motions``.

    ``motions`` (6,), of either body: see measures/base.py.
    """
    u, w, c = vector(plan.measures.u[m]), vector(plan.measures.w[m]), plan.measures.c[m]
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = sub(add(vector(x_b), rotate(B, w)), add(vector(x_a), rotate(A, u)))
    dd = add(sub(vector(motions[1]), vector(motions[0])), sub(rotate(B, cross(turn_b, w)), rotate(A, cross(turn_a, u))))
    n, dn = scale(1.0 / c, d), add(scale(1.0 / c, dd), scale(factor / c, d))
    add_to(by.u[m], -weight, sub(rotate_back(A, dn), cross(turn_a, rotate_back(A, n))))
    add_to(by.w[m], weight, sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n))))
    by.c[m] -= weight * (dot(n, dd) / c + 0.5 * factor * (dot(n, n) + 1.0))
    return dot(n, dd)


class _Facts(Measure):
    kind = "distance"
    pointing = True
    bends = True


register("distance", distance, curve_distance, distance_numbers, _Facts)


@dataclass(frozen=True)
class Distance:
    """A row of a joint: the anchors stay ``length`` apart, m."""

    length: float

    kind = "distance"

    def gap(self, frame, apart) -> float:
        """Return the violation, m, if anchors are ``apart`` (3,), world, and both frames have axes ``frame`` (3, 3)."""
        return float(np.linalg.norm(apart)) - self.length

    def numbers(self, frame_a, anchor_a, frame_b, anchor_b) -> Numbers:
        """Return the numbers for frames (3, 3) and anchors (3,) of the joint in axes of its bodies."""
        return Numbers(u=anchor_a, w=anchor_b, c=self.length)
