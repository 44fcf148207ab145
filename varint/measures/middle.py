"""MIDDLE: how far a point of b is from one of a along a direction of the frame halfway between the two bodies, m.

    g = u . e - c,    e = Q^T d,    d = A^T (x_b + B w - x_a) - v,    Q Q = S = A^T B R0^T

R0 is A^T B in the reference, u a unit vector and v the point of a, both in axes of a, w the point of b. Q turns half as
far as b has turned from a, so the frame is the same seen from either body. With k = tan(phi / 4) n of the rotation
vector phi n of S

    Q u = u + 2 (k x u + k x (k x u)) / (1 + k . k)        S turns by delta: Q by eta = (delta - k x delta) / 2
    dk = ((1 - k . k) delta - 2 k x delta + 2 (k . delta) k) / 4

A motion (t, theta) of each body gives delta = A^T B theta_b - theta_a. With a = Q u and y = d x a

    dg = a . A^T (t_b - t_a + B (theta_b x w)) - theta_a . ((d + v) x a) + z . delta,    z = -(y + k x y) / 2
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


@njit
def half_turn(plan, m, A, B):
    """Return k = tan(phi / 4) n of the rotation of b from a since the reference, (3,), axes of a.

    ``m``: number of the measure in the plan; ``A``, ``B`` (3, 3): rotation matrices of a and b, body to world.
    """
    rest = plan.measures.rest[m]
    x = rotate_back(A, rotate(B, vector(rest[0])))  # columns of S
    y = rotate_back(A, rotate(B, vector(rest[1])))
    z = rotate_back(A, rotate(B, vector(rest[2])))
    t = scale(1.0 / (1.0 + x[0] + y[1] + z[2]), (y[2] - z[1], z[0] - x[2], x[1] - y[0]))  # tan(phi / 2) n
    return scale(1.0 / (1.0 + math.sqrt(1.0 + dot(t, t))), t)


@njit
def to_middle(k, u):
    """Return Q u."""
    once = cross(k, u)
    return add(u, scale(2.0 / (1.0 + dot(k, k)), add(once, cross(k, once))))


@njit
def half_of(k, delta):
    """Return the rotation eta of Q by a rotation delta of S."""
    return scale(0.5, sub(delta, cross(k, delta)))


@njit
def half_turn_change(k, delta):
    """Return the change of k by a rotation delta of S."""
    straight = add(scale(1.0 - dot(k, k), delta), scale(2.0 * dot(k, delta), k))
    return scale(0.25, sub(straight, scale(2.0, cross(k, delta))))


@njit
def lever(plan, m, x_a, A, x_b, B):
    """Return d + v (3,), m: from the centre of a to the point of b, axes of a.

    ``m``: number of the measure in the plan; ``x_a``, ``x_b`` (3,), ``A``, ``B`` (3, 3): see measures/base.py.
    """
    w = rotate(B, vector(plan.measures.w[m]))
    return rotate_back(A, add(sub(vector(x_b), vector(x_a)), w))


@njit
def torque_of(k, d, a):
    """Return z (3,), the gradient by the rotation of b from a, axes of a.

    ``k`` (3,), ``d`` (3,), m, and ``a`` (3,) = Q u: see the top of this file. With a force, N, or an impulse, N s, in
    place of ``a``: its torque.
    """
    y = cross(d, a)
    return scale(-0.5, add(y, cross(k, y)))


@njit
def middle(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    k, reach = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B)
    a, d, w = to_middle(k, vector(plan.measures.u[m])), sub(reach, vector(plan.measures.v[m])), plan.measures.w[m]
    z, n = torque_of(k, d, a), rotate(A, a)
    write(G_a, scale(-1.0, n), scale(-1.0, add(cross(reach, a), z)))
    write(G_b, n, add(cross(vector(w), rotate_back(B, n)), rotate_back(B, rotate(A, z))))
    return dot(a, d) - plan.measures.c[m]


@njit
def curve_middle(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(plan.measures.w[m])
    a, d = to_middle(k, vector(plan.measures.u[m])), sub(reach, vector(plan.measures.v[m]))
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    delta = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    dk, da = half_turn_change(k, delta), cross(half_of(k, delta), a)
    shift = add(sub(vector(motions[1]), vector(motions[0])), rotate(B, cross(turn_b, w)))
    dd = sub(rotate_back(A, shift), cross(turn_a, reach))
    y, dy, z = cross(d, a), add(cross(dd, a), cross(d, da)), torque_of(k, d, a)
    dz = scale(-0.5, add(dy, add(cross(dk, y), cross(k, dy))))
    n, force = rotate(A, add(cross(turn_a, a), da)), rotate(A, a)
    far, torque = rotate(A, add(cross(turn_a, z), dz)), rotate(A, z)
    facing = sub(rotate_back(B, n), cross(turn_b, rotate_back(B, force)))
    turned = sub(rotate_back(B, far), cross(turn_b, rotate_back(B, torque)))
    write(out_a, scale(-1.0, n), scale(-1.0, add(add(cross(dd, a), cross(reach, da)), dz)))
    write(out_b, n, add(cross(w, facing), turned))


@njit
def middle_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to u, v, w, ``by.c`` and ``by.rest``; return the one along ``motions``.

    ``motions`` (6,), of either body: see measures/base.py.
    """
    k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(plan.measures.w[m])
    u = vector(plan.measures.u[m])
    a, d = to_middle(k, u), sub(reach, vector(plan.measures.v[m]))
    turn_a, turn_b = vector(motions[0][3:]), vector(motions[1][3:])
    delta = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    eta = half_of(k, delta)
    shift = add(sub(vector(motions[1]), vector(motions[0])), rotate(B, cross(turn_b, w)))
    dd = sub(rotate_back(A, shift), cross(turn_a, reach))
    moved = add(sub(dd, cross(eta, d)), scale(factor, d))  # dg + factor (g + c) = a . moved
    add_to(by.u[m], weight, to_middle(scale(-1.0, k), moved))
    by.c[m] -= weight * factor
    across = cross(a, eta)
    add_to(by.v[m], weight, sub(across, scale(factor, a)))
    near = sub(scale(factor, a), add(cross(a, turn_a), across))
    b = rotate_back(B, rotate(A, a))
    add_to(by.w[m], weight, add(rotate_back(B, rotate(A, near)), cross(b, turn_b)))
    y = cross(d, a)
    for i in range(3):  # R0 turned by e_i from the left turns S by the opposite of its column i
        turn = scale(-1.0, rotate_back(A, rotate(B, vector(plan.measures.rest[m, i]))))
        da, deta = cross(half_of(k, turn), a), scale(-0.5, cross(half_turn_change(k, turn), delta))
        by.rest[m, i] += weight * (dot(da, moved) - dot(deta, y))
    return dot(a, sub(dd, cross(eta, d)))


@dataclass(frozen=True, eq=False)
class MiddleDisplacement(Measure):
    """Displacement of ``point_b`` of b from ``point_a`` of a along ``direction`` (3,), all world, reference.

    The direction turns with the frame halfway between the bodies. Zero in the reference.
    """

    direction: np.ndarray
    point_b: np.ndarray
    point_a: np.ndarray

    kind = "middle"
    rare = True

    def numbers(self, A, x_a, B, x_b):
        u, v, w = A.T @ self.direction, A.T @ (self.point_a - x_a), B.T @ (self.point_b - x_b)
        return Numbers(u=u, v=v, w=w, c=float(self.direction @ (self.point_b - self.point_a)), rest=A.T @ B)


register("middle", middle, curve_middle, middle_numbers, MiddleDisplacement)
