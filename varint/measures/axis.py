"""AXIS: the cosine of the angle between a direction of a and one of b, zero where they are at right angles.

g = u . R w,    R = A^T B
"""

from dataclasses import dataclass

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


class AxisFacts(Measure):
    """Facts of the kind."""

    angular = True
    anchored = False


@njit
def axis(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    n, d = rotate(A, u), rotate(B, w)
    write(G_a, ZERO, cross(u, rotate_back(A, d)))
    write(G_b, ZERO, cross(w, rotate_back(B, n)))
    return dot(n, d)


@njit
def curve_axis(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    n, dn = rotate(A, u), rotate(A, cross(turn_a, u))
    d, dd = rotate(B, w), rotate(B, cross(turn_b, w))
    write(out_a, ZERO, cross(u, sub(rotate_back(A, dd), cross(turn_a, rotate_back(A, d)))))
    write(out_b, ZERO, cross(w, sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))))


@njit
def axis_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by``; return the one along ``motions`` (6,) of either body.

    See measures/base.py.
    """
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    n, dn = rotate(A, u), rotate(A, cross(turn_a, u))
    d, dd = rotate(B, w), rotate(B, cross(turn_b, w))
    lever = sub(rotate_back(A, dd), cross(turn_a, rotate_back(A, d)))
    facing = sub(rotate_back(B, dn), cross(turn_b, rotate_back(B, n)))
    add_to(by.u[m], weight, add(lever, scale(factor, rotate_back(A, d))))
    add_to(by.w[m], weight, add(facing, scale(factor, rotate_back(B, n))))
    return dot(u, lever)


register("axis", axis, curve_axis, axis_numbers, AxisFacts)


@dataclass(frozen=True)
class Square:
    """A row of a joint: axis ``axis_a`` of frame a stays at right angles to axis ``axis_b`` of frame b."""

    axis_a: int
    axis_b: int

    kind = "axis"

    @property
    def kept_axes(self) -> tuple[int, ...]:
        """Return the axes that it keeps at right angles: of frame a, of frame b."""
        return self.axis_a, self.axis_b

    def gap(self, frame, apart) -> float:
        """Return the violation, m, if anchors are ``apart`` (3,), world, and both frames have axes ``frame`` (3, 3)."""
        return 0.0

    def numbers(self, frame_a, anchor_a, frame_b, anchor_b) -> Numbers:
        """Return the numbers for frames (3, 3) and anchors (3,) of the joint in axes of its bodies."""
        return Numbers(u=frame_a[:, self.axis_a], w=frame_b[:, self.axis_b])
