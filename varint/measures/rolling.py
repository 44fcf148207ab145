"""ROLLING: a component of the velocity at the contact of a wheel with a plane, a row of rates: no value belongs to it.

    gradient . velocities = u . (c' + omega x rho),    rho = -r k / |k|,    k = n - (n . e) e,    e = R e_b

c the centre w of the wheel, c' its velocity and omega the angular velocity of b, all seen from a, in axes of a;
R = A^T B; n the normal of the plane, fixed to a; u a direction of the plane; e_b the axis of a thin disc, zero for a
sphere; rho from the centre to the lowest point. u . c' is the rate of a POINT. The value is zero at every pose; the
"curvature" is the change of the gradient along a motion, as for any measure, and not symmetric. RIM (rim.py), which is
integrable, is the same with u = n.

Numbers: u, v = n (axes of a), w (axes of b), rest = (e_b, (r, 0, 0), 0).
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.measures.base import Measure, Numbers, register
from varint.measures.point import curve_point, point

FLAT = 1e-12  # of |k|: of a disc that lies on the plane, which has no lowest point


@njit
def _lowest(n, e):
    """Return k / |k| and |k| of a wheel with the axis e on a plane with the normal n."""
    k = sub(n, scale(dot(n, e), e))
    length = max(FLAT, math.sqrt(dot(k, k)))
    return scale(1.0 / length, k), length


@njit
def axis_of(plan, m, A, B):
    """Return the axis of the wheel, axes of a."""
    return rotate_back(A, rotate(B, vector(plan.measures.rest[m, 0])))


@njit
def lever_of(plan, m, n, e):
    """Return rho (3,), m, axes of a, by the normal n and the axis e there."""
    return scale(-plan.measures.rest[m, 1, 0], _lowest(n, e)[0])


@njit
def _lever_change(plan, m, n, e, de):
    """Return the change of rho along the change ``de`` of the axis."""
    k, length = _lowest(n, e)
    dk = scale(-1.0, add(scale(dot(n, de), e), scale(dot(n, e), de)))
    return scale(-plan.measures.rest[m, 1, 0] / length, sub(dk, scale(dot(k, dk), k)))


@njit
def _lever_pulled(plan, m, n, e, y):
    """Return the gradient (3,) of y . rho by rotations of the wheel, axes of a: the transpose of `_lever_change`."""
    k, length = _lowest(n, e)
    across = sub(y, scale(dot(k, y), k))
    g = add(scale(dot(across, e), n), scale(dot(n, e), across))
    return scale(plan.measures.rest[m, 1, 0] / length, cross(e, g))


@njit
def wheel(plan, ws, m, n, x_a, A, x_b, B, G_a, G_b):
    """Return the POINT's value, m, and write the gradient of a row along u at the contact to ``G_a``, ``G_b`` (6,).

    n: normal of the plane, axes of a. See measures/base.py.
    """
    height = point(plan, ws, m, x_a, A, x_b, B, G_a, G_b)
    moment = cross(lever_of(plan, m, n, axis_of(plan, m, A, B)), vector(plan.measures.u[m]))
    far = rotate_back(B, rotate(A, moment))
    for k in range(3):
        G_a[3 + k] -= moment[k]
        G_b[3 + k] += far[k]
    return height


@njit
def curve_wheel(plan, ws, m, n, x_a, A, x_b, B, motions, out):
    """Write the change of the gradient of `wheel` to ``out``, arrays (6,) of both bodies.

    ``motions`` (6,), of either body: see measures/base.py.
    """
    out_a, out_b = out
    curve_point(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)
    u, turn_a, turn_b = vector(plan.measures.u[m]), vector(motions[0][3:]), vector(motions[1][3:])
    e = axis_of(plan, m, A, B)
    turn = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    moment, change = cross(lever_of(plan, m, n, e), u), cross(_lever_change(plan, m, n, e, cross(turn, e)), u)
    far = rotate_back(B, rotate(A, add(cross(turn_a, moment), change)))
    far = sub(far, cross(turn_b, rotate_back(B, rotate(A, moment))))
    for k in range(3):
        out_a[3 + k] -= change[k]
        out_b[3 + k] += far[k]


@njit
def rolling(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return zero and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    wheel(plan, ws, m, vector(plan.measures.v[m]), x_a, A, x_b, B, G_a, G_b)
    return 0.0


@njit
def curve_rolling(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    curve_wheel(plan, ws, m, vector(plan.measures.v[m]), x_a, A, x_b, B, motions, (out_a, out_b))


@njit
def rolling_directions(plan, m, A, B):
    """Return the directions u and rho x u, and the axis: see measures/base.py."""
    e, u = axis_of(plan, m, A, B), vector(plan.measures.u[m])
    return u, cross(lever_of(plan, m, vector(plan.measures.v[m]), e), u), e


@njit
def rolling_pulled(plan, m, e, moved, turned):
    """Return the gradient of u . moved + (rho x u) . turned by rotations: see measures/base.py."""
    return _lever_pulled(plan, m, vector(plan.measures.v[m]), e, cross(vector(plan.measures.u[m]), turned))


@dataclass(frozen=True, eq=False)
class Wheel(Measure):
    """Facts of a wheel on a plane; points and directions in the world, reference.

    ``direction``: of the row; ``normal`` and ``ground`` of the plane, of body a; ``centre``, ``axis`` (zero for a
    sphere) and ``radius`` of the wheel, of body b.
    """

    direction: np.ndarray
    normal: np.ndarray
    ground: np.ndarray
    centre: np.ndarray
    axis: np.ndarray
    radius: float

    stiffening = False

    def numbers(self, A, x_a, B, x_b):
        rest = np.array([B.T @ self.axis, [self.radius, 0.0, 0.0], np.zeros(3)])
        c = float(self.direction @ (self.ground - x_a))
        return Numbers(u=A.T @ self.direction, v=A.T @ self.normal, w=B.T @ (self.centre - x_b), c=c, rest=rest)


@dataclass(frozen=True, eq=False)
class Rolling(Wheel):
    """The velocity at the contact along ``direction``, m/s."""

    kind = "rolling"
    of_rates = True


register("rolling", rolling, curve_rolling, None, Rolling, (rolling_directions, rolling_pulled))
