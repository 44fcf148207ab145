"""EDGE: the velocity of a point of b across a direction of b, in a plane of a, a row of rates: it has no value.

    gradient . velocities = s . c',    s = n x d / |n x d|,    d = R d_b,    R = A^T B

c' the velocity of the point w seen from a, n the normal of the plane, fixed to a, d_b the direction of b along which
the point may move. The value is zero at every pose; the change of the gradient is not symmetric, see rolling.py.

Numbers: u = n (axes of a), v = 0, w (axes of b), rest = (d_b, 0, 0).
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register

UPRIGHT = 1e-12  # of |n x d|: of an edge along the normal, which has no side


@njit
def _along(plan, m, A, B):
    """Return d (3,), axes of a."""
    return rotate_back(A, rotate(B, vector(plan.measures.rest[m, 0])))


@njit
def _across(plan, m, d):
    """Return s (3,), axes of a, and |n x d|."""
    side = cross(vector(plan.measures.u[m]), d)
    length = max(UPRIGHT, math.sqrt(dot(side, side)))
    return scale(1.0 / length, side), length


@njit
def edge_directions(plan, m, A, B):
    """Return the directions s and zero, and d: see measures/base.py."""
    d = _along(plan, m, A, B)
    return _across(plan, m, d)[0], (0.0, 0.0, 0.0), d


@njit
def edge_pulled(plan, m, d, moved, turned):
    """Return the gradient of s . moved by rotations: see measures/base.py."""
    s, length = _across(plan, m, d)
    across = sub(moved, scale(dot(s, moved), s))
    return scale(1.0 / length, cross(d, cross(across, vector(plan.measures.u[m]))))


@njit
def _side_change(plan, m, d, dd):
    s, length = _across(plan, m, d)
    change = cross(vector(plan.measures.u[m]), dd)
    return scale(1.0 / length, sub(change, scale(dot(s, change), s)))


@njit
def edge(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return zero and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    w, s = vector(plan.measures.w[m]), _across(plan, m, _along(plan, m, A, B))[0]
    n = rotate(A, s)
    d = add(sub(vector(x_b), vector(x_a)), rotate(B, w))
    write(G_a, scale(-1.0, n), cross(s, rotate_back(A, d)))
    write(G_b, n, cross(w, rotate_back(B, n)))
    return 0.0


@njit
def curve_edge(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    w, turn_a, turn_b = vector(plan.measures.w[m]), vector(motions[0][3:]), vector(motions[1][3:])
    along = _along(plan, m, A, B)
    turn = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    s, ds = _across(plan, m, along)[0], _side_change(plan, m, along, cross(turn, along))
    n, dn = rotate(A, s), rotate(A, add(cross(turn_a, s), ds))
    d = add(sub(vector(x_b), vector(x_a)), rotate(B, w))
    dd = add(sub(vector(motions[1]), vector(motions[0])), rotate(B, cross(turn_b, w)))
    lever = sub(rotate_back(A, dd), cross(turn_a, rotate_back(A, d)))
    facing = sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))
    write(out_a, scale(-1.0, dn), add(cross(s, lever), cross(ds, rotate_back(A, d))))
    write(out_b, dn, cross(w, facing))


@dataclass(frozen=True, eq=False)
class Edge(Measure):
    """The velocity of ``point`` of b across ``direction`` of b, in the plane of a with ``normal``; world, reference."""

    point: np.ndarray
    direction: np.ndarray
    normal: np.ndarray

    kind = "edge"
    of_rates = True
    stiffening = False

    def numbers(self, A, x_a, B, x_b):
        rest = np.array([B.T @ self.direction, np.zeros(3), np.zeros(3)])
        return Numbers(u=A.T @ self.normal, w=B.T @ (self.point - x_b), rest=rest)


register("edge", edge, curve_edge, None, Edge, (edge_directions, edge_pulled))
