"""ANGLE: of a direction of b in a plane of a, rad.

    g = atan2(u . d, v . d),    d = R w, R = A^T B

u, v of a and w of b: unit vectors. With f = (v . d u - u . d v) / ((u . d)^2 + (v . d)^2) the gradient is f x d by
rotations of a, and the opposite, in its own axes, by those of b.
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import (
    ZERO,
    add,
    add_to,
    arctangent,
    cross,
    dot,
    rotate,
    rotate_back,
    scale,
    sub,
    vector,
    write,
)
from varint.measures.base import EulerCoordinate, Measure, Numbers, register


@njit
def angle(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    u, v = vector(plan.measures.u[m]), vector(plan.measures.v[m])
    d = rotate_back(A, rotate(B, vector(plan.measures.w[m])))
    s, c = dot(u, d), dot(v, d)
    size = 1.0 / (s * s + c * c)
    near = cross(sub(scale(size * c, u), scale(size * s, v)), d)
    write(G_a, ZERO, near)
    write(G_b, ZERO, scale(-1.0, rotate_back(B, rotate(A, near))))
    return arctangent(s, c)


@njit
def angle_value(plan, m, A, B):
    """Return the value of `angle`, rad, without its gradient; ``A``, ``B`` (3, 3): rotations of the bodies to world."""
    d = rotate_back(A, rotate(B, vector(plan.measures.w[m])))
    return arctangent(dot(vector(plan.measures.u[m]), d), dot(vector(plan.measures.v[m]), d))


@njit
def curve_angle(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    u, v, w = vector(plan.measures.u[m]), vector(plan.measures.v[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = rotate_back(A, rotate(B, w))
    dd = sub(rotate_back(A, rotate(B, cross(turn_b, w))), cross(turn_a, d))
    s, c, ds, dc = dot(u, d), dot(v, d), dot(u, dd), dot(v, dd)
    size = 1.0 / (s * s + c * c)
    growth = 2.0 * size * (s * ds + c * dc)
    f = sub(scale(size * c, u), scale(size * s, v))
    df = sub(sub(scale(size * dc, u), scale(size * ds, v)), scale(growth, f))
    near, dnear = cross(f, d), add(cross(df, d), cross(f, dd))
    far = rotate_back(B, rotate(A, near))
    dfar = sub(rotate_back(B, rotate(A, add(dnear, cross(turn_a, near)))), cross(turn_b, far))
    write(out_a, ZERO, dnear)
    write(out_b, ZERO, scale(-1.0, dfar))


@njit
def angle_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by``; return the one along ``motions`` (6,) of either body.

    See measures/base.py.
    """
    u, v, w = vector(plan.measures.u[m]), vector(plan.measures.v[m]), vector(plan.measures.w[m])
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    d = rotate_back(A, rotate(B, w))
    dd = sub(rotate_back(A, rotate(B, cross(turn_b, w))), cross(turn_a, d))
    s, c, ds, dc = dot(u, d), dot(v, d), dot(u, dd), dot(v, dd)
    size = 1.0 / (s * s + c * c)
    by_s, by_c, mixed, twice = size * c, -size * s, size * size * (s * s - c * c), 2.0 * size * size * s * c
    change_s = mixed * dc - twice * ds + factor * by_s
    change_c = mixed * ds + twice * dc + factor * by_c
    add_to(by.u[m], weight, add(scale(change_s, d), scale(by_s, dd)))
    add_to(by.v[m], weight, add(scale(change_c, d), scale(by_c, dd)))
    f, change = add(scale(by_s, u), scale(by_c, v)), add(scale(change_s, u), scale(change_c, v))
    by_direction = rotate_back(B, rotate(A, sub(change, cross(f, turn_a))))
    add_to(by.w[m], weight, add(by_direction, cross(rotate_back(B, rotate(A, f)), turn_b)))
    return by_s * ds + by_c * dc


@dataclass(frozen=True, eq=False)
class Angle(Measure):
    """The angle atan2(``sine`` . d, ``cosine`` . d) of ``direction`` d of b against two directions of a (3,), world.

    ``coordinate``: the joint and the number of its coordinate that it is; ``euler_angle``: the Euler angle that it is.
    """

    sine: np.ndarray
    cosine: np.ndarray
    direction: np.ndarray
    coordinate: tuple[str, int] | None = None
    euler_angle: EulerCoordinate | None = None

    kind = "angle"
    angular = True
    anchored = False
    period = 2.0 * math.pi
    stiffening = False  # small beside the terms of its law, and most measures are angles

    @property
    def angle_of(self) -> tuple[str, int] | None:
        return self.coordinate

    @property
    def euler_angle_of(self) -> EulerCoordinate | None:
        return self.euler_angle

    def numbers(self, A, x_a, B, x_b):
        return Numbers(u=A.T @ self.sine, v=A.T @ self.cosine, w=B.T @ self.direction)


register("angle", angle, curve_angle, angle_numbers, Angle)
