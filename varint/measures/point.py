"""POINT: how far a point of b is along a direction of a, m.

    g = u . (p + R w) - c,    p = A^T (x_b - x_a), R = A^T B

u a unit vector of a, w the point of b, c the place of the zero.
"""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


@njit
def point(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    n = rotate(A, u)
    d = add(sub(vector(x_b), vector(x_a)), rotate(B, w))
    write(G_a, scale(-1.0, n), cross(u, rotate_back(A, d)))
    write(G_b, n, cross(w, rotate_back(B, n)))
    return dot(n, d) - plan.measures.c[m]


@njit
def curve_point(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    n, dn = rotate(A, u), rotate(A, cross(turn_a, u))
    d = add(sub(vector(x_b), vector(x_a)), rotate(B, w))
    dd = add(sub(vector(motions[1]), vector(motions[0])), rotate(B, cross(turn_b, w)))
    lever = sub(rotate_back(A, dd), cross(turn_a, rotate_back(A, d)))
    facing = sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))
    write(out_a, scale(-1.0, dn), cross(u, lever))
    write(out_b, dn, cross(w, facing))


@njit
def point_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by.u``, ``by.w``, ``by.c``; return the one along ``motions``.

    ``motions`` (6,), of either body: see measures/base.py.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    n, dn = rotate(A, u), rotate(A, cross(turn_a, u))
    d = add(sub(vector(x_b), vector(x_a)), rotate(B, w))
    dd = add(sub(vector(motions[1]), vector(motions[0])), rotate(B, cross(turn_b, w)))
    lever = sub(rotate_back(A, dd), cross(turn_a, rotate_back(A, d)))
    facing = sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))
    add_to(by.u[m], weight, add(lever, scale(factor, rotate_back(A, d))))
    add_to(by.w[m], weight, add(facing, scale(factor, rotate_back(B, n))))
    by.c[m] -= weight * factor
    return dot(u, lever)


register("point", point, curve_point, point_numbers)


@dataclass(frozen=True)
class Along:
    """A row of a joint: the anchors do not part along axis ``axis`` of frame a."""

    axis: int

    kind = "point"

    @property
    def kept_axes(self) -> tuple[int, ...]:
        """Return the axis of frame a along which it lets nothing slide."""
        return (self.axis,)

    def gap(self, frame, apart) -> float:
        """Return the violation, m, if anchors are ``apart`` (3,), world, and both frames have axes ``frame`` (3, 3)."""
        return float(frame[:, self.axis] @ apart)

    def numbers(self, frame_a, anchor_a, frame_b, anchor_b) -> Numbers:
        """Return the numbers for frames (3, 3) and anchors (3,) of the joint in axes of its bodies."""
        u = frame_a[:, self.axis]
        return Numbers(u=u, w=anchor_b, c=float(u @ anchor_a))


@dataclass(frozen=True, eq=False)
class Displacement(Measure):
    """Displacement of ``point_b`` of b from ``point_a`` of a, along ``direction``, fixed to a; world, reference, m."""

    direction: np.ndarray
    point_b: np.ndarray
    point_a: np.ndarray

    kind = "point"

    def numbers(self, A, x_a, B, x_b):
        offset = float(self.direction @ (self.point_a - x_a))
        return Numbers(u=A.T @ self.direction, w=B.T @ (self.point_b - x_b), c=offset)
