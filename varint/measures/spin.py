"""SPIN: a component of the angular velocity of b seen from a, rad/s: no value belongs to it.

    gradient . velocities = w . (omega_b - R^T omega_a),    R = A^T B

w a direction of b; omega the angular velocities in axes of their bodies. The value is zero at every pose; the
"curvature" is the change of the gradient along a motion, as for any measure. As the gradient is that of no scalar, the
transpose of that is written out, `spin_transposed`.
"""

from dataclasses import dataclass

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, add_to, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures.base import Measure, Numbers, register


@njit
def spin(plan, ws, m, x_a, A, x_b, B, G_a, G_b):
    """Return zero and write the gradient to ``G_a``, ``G_b`` (6,): see measures/base.py."""
    w = vector(plan.measures.w[m])
    write(G_a, ZERO, scale(-1.0, rotate_back(A, rotate(B, w))))
    write(G_b, ZERO, w)
    return 0.0


@njit
def curve_spin(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b):
    """Write the change of the gradient along ``motions`` (6,) of either body to ``out_a``, ``out_b`` (6,).

    See measures/base.py.
    """
    turn = sub(rotate_back(A, rotate(B, vector(motions[1][3:]))), vector(motions[0][3:]))
    write(out_a, ZERO, cross(rotate_back(A, rotate(B, vector(plan.measures.w[m]))), turn))
    write(out_b, ZERO, ZERO)


@njit
def spin_transposed(plan, m, A, B, pull, out_a, out_b):
    """Write the transpose of `curve_spin` times ``pull`` (6,) of both bodies to ``out_a``, ``out_b`` (6,)."""
    back = cross(rotate_back(A, rotate(B, vector(plan.measures.w[m]))), vector(pull[0][3:]))
    write(out_a, ZERO, back)
    write(out_b, ZERO, scale(-1.0, rotate_back(B, rotate(A, back))))


@njit
def spin_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by):
    """Add derivatives by the numbers to ``by.w``; return the one along ``motions`` (6,) of either body.

    See measures/base.py.
    """
    seen = rotate_back(B, rotate(A, vector(motions[0][3:])))
    turn = sub(vector(motions[1][3:]), seen)
    add_to(by.w[m], weight, turn)
    return dot(vector(plan.measures.w[m]), turn)


@dataclass(frozen=True, eq=False)
class Spin(Measure):
    """The angular velocity of b seen from a along ``direction`` (3,), fixed to b; world, reference, rad/s."""

    direction: np.ndarray

    kind = "spin"
    angular = True
    anchored = False
    of_rates = True

    def numbers(self, A, x_a, B, x_b):
        return Numbers(w=B.T @ self.direction)


register("spin", spin, curve_spin, spin_numbers, Spin, transposed=spin_transposed)
