"""ROTATION: a component of the rotation vector of b since the reference, seen from a, rad.

    g = v . rho,    exp [rho] = R R0^T, axes of a; R = A^T B, R0 the same at rest

exp [rho] repeats along rho after 2 pi: a bushing goes on from where it saw rho last, and rho is the nearest to that;
else phi = |rho| <= pi.

A change of R by a rotation delta from the left changes rho by the inverse of the left Jacobian,
drho = delta - rho x delta / 2 + f rho x (rho x delta), f = (1 - phi cot(phi / 2) / 2) / phi^2;
so g by y . delta, y = v + rho x v / 2 + f rho x (rho x v).
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, add, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register

SMALL = 1e-3  # rad: below, the series of f
NO_TURN = 1e-8  # rad: below, the axis of a rotation is round-off
STEEPEST = 1e6  # of the cotangent: at whole turns rho has no derivative but along itself


@njit
def _since_rest(plan, m, A, B):
    """Return the columns of R R0^T, three vectors (3,).

    ``m``: number of the measure in the plan; ``A``, ``B`` (3, 3): rotation matrices of a and b, body to world.
    """
    rest = plan.measures.rest[m]
    x, y, z = vector(rest[0]), vector(rest[1]), vector(rest[2])
    return rotate_back(A, rotate(B, x)), rotate_back(A, rotate(B, y)), rotate_back(A, rotate(B, z))


@njit
def _rotation_vector(plan, ws, m, A, B):
    """Return the rotation vector rho, f, and the derivative of f by phi over phi; write rho to ``ws.efforts.value``.

    rho (3,): rad, axes of a; written only if the plan follows it, see `Measures.rotation`, and then the nearest to that
    of the last step. ``A``, ``B`` (3, 3): rotation matrices of a and b, body to world.
    """
    x, y, z = _since_rest(plan, m, A, B)
    sine = (0.5 * (y[2] - z[1]), 0.5 * (z[0] - x[2]), 0.5 * (x[1] - y[0]))
    size = math.sqrt(dot(sine, sine))
    phi = math.atan2(size, 0.5 * (x[0] + y[1] + z[2] - 1.0))
    rho = scale(phi / size if size > 1e-8 else 1.0, sine)
    first = plan.measures.rotation[m]
    if first >= 0:
        near = vector(ws.efforts.value_near[first:])
        reach = math.sqrt(dot(near, near))
        if phi + reach > math.pi:  # else it is the nearest
            axis = scale(1.0 / phi, rho) if phi > NO_TURN else scale(1.0 / reach, near)
            turns = np.rint((dot(axis, near) - phi) / (2.0 * math.pi))
            if turns != 0.0:
                rho = scale(phi + 2.0 * math.pi * turns, axis)
                phi = abs(phi + 2.0 * math.pi * turns)
        for k in range(3):
            ws.efforts.value[first + k] = rho[k]
    if phi <= SMALL:
        return rho, 1.0 / 12.0 + phi * phi / 720.0, 1.0 / 360.0
    cotangent = 1.0 / math.tan(0.5 * phi)
    if abs(cotangent) > STEEPEST:
        cotangent = math.copysign(STEEPEST, cotangent)
    f = (1.0 - 0.5 * phi * cotangent) / (phi * phi)
    slope = ((-0.5 * cotangent + 0.25 * phi * (1.0 + cotangent * cotangent)) / (phi * phi) - 2.0 * f / phi) / phi
    return rho, f, slope


@njit
def by_rotation(v, rho, f):
    """Return the vector y above, (3,).

    ``v`` (3,): direction of the measure, or a torque along such directions, axes of a; ``rho`` (3,), rad, and ``f``:
    see the top of this file.
    """
    once = cross(rho, v)
    return add(add(v, scale(0.5, once)), scale(f, cross(rho, once)))


@njit
def vector_change(rho, f, delta):
    """Return the change of rho, (3,), by a rotation delta from the left.

    ``rho`` (3,), rad, axes of a, and ``f``: see the top of this file; ``delta`` (3,): rad, or rad/s for the rate of
    rho, axes of a.
    """
    once = cross(rho, delta)
    return add(sub(delta, scale(0.5, once)), scale(f, cross(rho, once)))


@njit
def _by_rotation_change(v, rho, f, slope, drho):
    """Return the change of the vector y above, (3,), with that of rho.

    ``v``, ``rho`` (3,), axes of a; ``f``, ``slope``: as `_rotation_vector` returns them; ``drho`` (3,): change of rho,
    rad.
    """
    once, donce = cross(rho, v), cross(drho, v)
    dtwice = add(cross(drho, once), cross(rho, donce))
    return add(scale(0.5, donce), add(scale(f, dtwice), scale(slope * dot(rho, drho), cross(rho, once))))


@njit
def turning(plan, ws, m, A, B):
    """Return the value, rad, and its torques: the opposite of the one on a, and the one on b, in axes of each.

    Both torques (3,), for a unit effort. ``A``, ``B`` (3, 3): rotation matrices of a and b, body to world.
    """
    v = vector(plan.measures.v[m])
    rho, f, _ = _rotation_vector(plan, ws, m, A, B)
    near = by_rotation(v, rho, f)
    return dot(v, rho), near, rotate_back(B, rotate(A, near))


@njit
def turning_change(plan, ws, m, A, B, turn_a, turn_b):
    """Return the changes of `turning`'s torques, (3,) each, along rotations of both bodies.

    ``A``, ``B`` (3, 3): rotation matrices of a and b, body to world; ``turn_a``, ``turn_b`` (3,): rotation vectors,
    rad, in axes of each.
    """
    v = vector(plan.measures.v[m])
    rho, f, slope = _rotation_vector(plan, ws, m, A, B)
    delta = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    dnear = _by_rotation_change(v, rho, f, slope, vector_change(rho, f, delta))
    near = by_rotation(v, rho, f)
    far = rotate_back(B, rotate(A, near))
    return dnear, sub(rotate_back(B, rotate(A, add(dnear, cross(turn_a, near)))), cross(turn_b, far))


@njit
def rotation(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return the value and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    value, near, far = turning(plan, ws, m, A, B)
    write(G_a, ZERO, scale(-1.0, near))
    write(G_b, ZERO, far)
    return value


@njit
def curve_rotation(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    dnear, dfar = turning_change(plan, ws, m, A, B, vector(motions[0][3:]), vector(motions[1][3:]))
    write(out_a, ZERO, scale(-1.0, dnear))
    write(out_b, ZERO, dfar)


@njit
def rotation_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by.v`` and ``by.rest``; return the one along ``motions``.

    ``motions`` (6,), of either body: see measures/base.py.
    """
    v, turn_a, turn_b = vector(plan.measures.v[m]), vector(motions[0][3:]), vector(motions[1][3:])
    rho, f, slope = _rotation_vector(plan, ws, m, A, B)
    delta = sub(rotate_back(A, rotate(B, turn_b)), turn_a)
    drho, near = vector_change(rho, f, delta), by_rotation(v, rho, f)
    add_to(by.v[m], weight, add(drho, scale(factor, rho)))
    x, y, z = _since_rest(plan, m, A, B)
    for k in range(3):  # R0 turned by e_k from the left turns R R0^T by the opposite of its column k
        turn = scale(-1.0, x if k == 0 else (y if k == 1 else z))
        change = _by_rotation_change(v, rho, f, slope, vector_change(rho, f, turn))
        by.rest[m, k] += weight * (dot(change, delta) + factor * dot(near, turn))
    return dot(v, drho)


@dataclass(frozen=True, eq=False)
class RotationComponent(Measure):
    """``direction`` . the rotation vector of b since the reference, in axes of a (3,); world, reference."""

    direction: np.ndarray

    kind = "rotation"
    rare = True
    angular = True
    anchored = False
    jumps = True

    def numbers(self, A, x_a, B, x_b):
        return Numbers(v=A.T @ self.direction, rest=A.T @ B)


register("rotation", rotation, curve_rotation, rotation_numbers, RotationComponent)
