"""WRAP: the length of a line from a point of a third body around a surface of b to a point of a, m.

Two measures make up a line from body A around a surface of S to body C: one of (A, S), one of (C, S). Both have the
length L(p, q) of wrapping.py, of both points in axes of the surface, and each the gradient by its own point:

    p = B^T (x_a + A u - x_b) - w,    G_a = (f, u x A^T f),    G_b = -(f, (p + w) x dL/dp),    f = B dL/dp

Their sum has the whole gradient. One of them has the value L, the other the value zero. The curvature of either
depends on the motion of the third body as well, which `kernels.measures` keeps in ``ws.efforts.third``.
"""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, rotate, rotate_back, scale, sub, vector, write
from varint.mathematics.wrapping import wrapped_change, wrapped_length
from varint.measures.base import Measure, Numbers, register

LEADS, CLOSES, FOLLOWS = 0.0, 1.0, 2.0  # a has the first point and the value; the last and the value; the last alone


@njit
def surface_of(plan, m):
    """Return the axis, and (radius, mode, smoothing, side) of measure m."""
    rest = plan.measures.rest[m]
    return vector(rest[0]), (plan.measures.c[m], rest[2, 1], rest[2, 0], vector(rest[1]))


@njit
def seen_from(plan, m, position, rotation, i, b, at):
    """Return the point ``at`` of body i in axes of body b, m, from the centre of the surface.

    ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    shift = sub(add(vector(position[i]), rotate(rotation[i], at)), vector(position[b]))
    return sub(rotate_back(rotation[b], shift), vector(plan.measures.w[m]))


@njit
def wrap(plan, ws, m, position, rotation, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py.

    ``position`` (nb + 1, 3), m, world, and ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    first, c = plan.measures.first[m], plan.measures.third[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    u, w, part = vector(plan.measures.u[m]), vector(plan.measures.w[m]), plan.measures.rest[m, 2, 2]
    axis, surface = surface_of(plan, m)
    end = seen_from(plan, m, position, rotation, a, b, u)
    other = seen_from(plan, m, position, rotation, c, b, vector(plan.measures.v[m]))
    if part == LEADS:
        value, g, _ = wrapped_length(end, other, axis, surface)
    else:
        value, _, g = wrapped_length(other, end, axis, surface)
    f = rotate(rotation[b], g)
    write(G_a, f, cross(u, rotate_back(rotation[a], f)))
    write(G_b, scale(-1.0, f), scale(-1.0, cross(add(end, w), g)))
    return 0.0 if part == FOLLOWS else value


@njit
def _moved(R, B, at, motion, seen, of_surface):
    """Return the change of a point ``at`` of a body in axes of b, where it is ``seen`` from the centre of b.

    ``motion`` (6,) of the body; ``of_surface`` (6,), that of b: translation, m, world, then a rotation vector, body
    axes.
    """
    moved = add(vector(motion), rotate(R, cross(vector(motion[3:]), at)))
    return sub(rotate_back(B, sub(moved, vector(of_surface))), cross(vector(of_surface[3:]), seen))


@njit
def curve_wrap(plan, ws, m, position, rotation, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py; the motion of the third body is ``ws.efforts.third``. ``position`` (nb + 1, 3), m, world, and
    ``rotation`` (nb + 1, 3, 3): poses of all bodies.
    """
    first, c = plan.measures.first[m], plan.measures.third[m]
    a, b = plan.measures.body[m, first], plan.measures.body[m, 1 - first]
    A, B, C = rotation[a], rotation[b], rotation[c]
    u, v, w = vector(plan.measures.u[m]), vector(plan.measures.v[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    axis, surface = surface_of(plan, m)
    end = seen_from(plan, m, position, rotation, a, b, u)
    other = seen_from(plan, m, position, rotation, c, b, v)
    down = _moved(A, B, u, motions[0], add(end, w), motions[1])
    dother = _moved(C, B, v, ws.efforts.third, add(other, w), motions[1])
    if plan.measures.rest[m, 2, 2] == LEADS:
        _, g, _ = wrapped_length(end, other, axis, surface)
        dg, _ = wrapped_change(end, other, down, dother, axis, surface)
    else:
        _, _, g = wrapped_length(other, end, axis, surface)
        _, dg = wrapped_change(other, end, dother, down, axis, surface)
    f, df = rotate(B, g), rotate(B, add(dg, cross(turn_b, g)))
    lever = cross(u, sub(rotate_back(A, df), cross(turn_a, rotate_back(A, f))))
    facing = add(cross(down, g), cross(add(end, w), dg))
    write(out_a, df, lever)
    write(out_b, scale(-1.0, df), scale(-1.0, facing))


@dataclass(frozen=True, eq=False)
class Wrap(Measure):
    """The line from ``third_point`` of body ``third`` around a surface of b to ``point`` of a; world, reference, m.

    Attributes
    ----------
    centre, axis, side : (3,)
        Vectors of the surface: ``axis`` zero for a sphere; ``side`` from the centre, at right angles to the axis.
    radius, smoothing : float
        m
    mode : float
        0 without a side, 1 with a side outside the radius, 2 with one inside it.
    part : float
        0 if ``point`` is the first of the line, 1 if the last of a measure with the value, 2 of one without it.
    """

    point: np.ndarray
    third: str
    third_point: np.ndarray
    centre: np.ndarray
    axis: np.ndarray
    side: np.ndarray
    radius: float
    smoothing: float
    mode: float
    part: float

    kind = "wrap"
    rare = True
    bends = True
    of_three = True

    @property
    def follows(self):
        return self.part == FOLLOWS

    @property
    def at_third(self):
        return self.third, self.third_point

    def numbers(self, A, x_a, B, x_b):
        rest = np.array([B.T @ self.axis, B.T @ self.side, [self.smoothing, self.mode, self.part]])
        return Numbers(u=A.T @ (self.point - x_a), w=B.T @ (self.centre - x_b), c=self.radius, rest=rest)


register("wrap", wrap, curve_wrap, None, Wrap)
