"""Rows of joint coordinates, and of joints with a compliance, by the motions of their bodies; turns between poses."""

import math

from varint.base.numba import njit
from varint.mathematics.quaternion import multiply
from varint.mathematics.rotation_vector import coefficients
from varint.mathematics.vectors import add, cross, rotate, rotate_back, scale, sub, vector, write
from varint.step.measures import weighted_measure


@njit
def steady_rows(position, rotation, numbers_of, ends, numbers, out):
    """Write ``out`` (n, 2, 6) for the coordinates ``numbers_of`` (m,), whose twist in frame b is the same at all poses.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3) of the bodies ``ends`` (n, 2). ``numbers`` (m, 3, 3): how the
    coordinate changes with a turn, and with a shift of the joint's origin, of b seen from a; and that origin; in axes
    of b. As `JointFrames.rate_jacobian`.
    """
    for n in range(numbers_of.size):
        row, (a, b) = out[numbers_of[n]], (ends[numbers_of[n], 0], ends[numbers_of[n], 1])
        turn, shift, origin = vector(numbers[n, 0]), vector(numbers[n, 1]), vector(numbers[n, 2])
        A, B = rotation[a], rotation[b]
        pull = rotate(B, shift)
        arm = rotate_back(A, sub(add(vector(position[b]), rotate(B, origin)), vector(position[a])))
        write(row[0], scale(-1.0, pull), sub(cross(rotate_back(A, pull), arm), rotate_back(A, rotate(B, turn))))
        write(row[1], pull, sub(turn, cross(shift, origin)))


@njit
def compliant_rows(plan, ws, out):
    """Write ``out`` (k, 2, 6), the gradients of the compliant rows of joints at pose 0, which is placed."""
    for n in range(out.shape[0]):
        m = plan.laws.sum_first[plan.compliant.joint_sum[n]]
        weighted_measure(plan, ws, m, 0.0, ws.position[0], ws.rotation[0], out[n])


@njit
def turns_between(quat, other, turn, after):
    """Write rotation vectors ``turn`` (nb, 3) from orientations to others, up to pi, in axes of the bodies.

    ``quat``, ``other`` (nb, 4). ``after`` (nb, 3, 3): their changes by small turns that follow them, the inverse of the
    right Jacobian, I + [r] / 2 + c [r]^2.
    """
    for i in range(turn.shape[0]):
        p, q = quat[i], other[i]
        w, x, y, z = multiply((p[0], -p[1], -p[2], -p[3]), (q[0], q[1], q[2], q[3]))
        sign = -1.0 if w < 0.0 else 1.0
        sine = math.sqrt(x * x + y * y + z * z)
        share = sign * (2.0 * math.atan2(sine, sign * w) / sine if sine > 0.0 else 2.0)
        r = share * x, share * y, share * z
        square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        a, b, _, _, _, _ = coefficients(square)
        c = (1.0 - (1.0 - b * square) / (2.0 * a)) / square if square > 1e-12 else 1.0 / 12.0
        for k in range(3):
            turn[i, k] = r[k]
            for m in range(3):
                after[i, k, m] = c * r[k] * r[m] + (1.0 - c * square if k == m else 0.0)
        half = 0.5 * r[0], 0.5 * r[1], 0.5 * r[2]
        after[i, 0, 1] -= half[2]
        after[i, 1, 0] += half[2]
        after[i, 0, 2] += half[1]
        after[i, 2, 0] -= half[1]
        after[i, 1, 2] -= half[0]
        after[i, 2, 1] += half[0]
