"""Constraint rows: value and Jacobian. With R = R_a^T R_b and p = R_a^T (x_b - x_a), seen from the first body a,

    AFFINE     g = n . p + u . R w - c
    DISTANCE   g = (|d|^2 - c^2) / (2 c),   d = p + R w - n

AFFINE holds a point of b in a plane of a (u = n, w the anchor on b) or keeps two directions at
right angles (n = 0); every lower pair but the screw is a set of such rows. They are functions of
the relative pose alone, so a row's net force and torque on its two bodies are zero to round-off.

Jacobians are with respect to (x, theta): x in the world, theta a rotation vector in body axes
(half of the rotational gradient of VI eq. 31, see docs/theory.md):

    dg/dx_b = (R_a n)^T = -dg/dx_a,   dg/dtheta_a = (n x p + u x R w)^T,   dg/dtheta_b = (w x R^T u)^T

and those of DISTANCE follow with n = u = d / c.
"""

from varint._jit import njit
from varint.kernels.plan import DISTANCE


@njit
def evaluate_rows(plan, position, rotation, g, jacobian):
    """Rows at a pose (nb + 1, 3), (nb + 1, 3, 3): values to ``g`` (nr,), Jacobian to ``jacobian`` (nr, 2, 6)."""
    for j in range(plan.side.shape[0]):
        start, stop = plan.joint_rows[j], plan.joint_rows[j + 1]
        if start == stop:
            continue
        side_a = plan.first_body[j]
        side_b = 1 - side_a
        a, b = plan.side[j, side_a], plan.side[j, side_b]
        A, B = rotation[a], rotation[b]
        dx = position[b, 0] - position[a, 0]
        dy = position[b, 1] - position[a, 1]
        dz = position[b, 2] - position[a, 2]
        p0 = A[0, 0] * dx + A[1, 0] * dy + A[2, 0] * dz
        p1 = A[0, 1] * dx + A[1, 1] * dy + A[2, 1] * dz
        p2 = A[0, 2] * dx + A[1, 2] * dy + A[2, 2] * dz
        R00 = A[0, 0] * B[0, 0] + A[1, 0] * B[1, 0] + A[2, 0] * B[2, 0]
        R01 = A[0, 0] * B[0, 1] + A[1, 0] * B[1, 1] + A[2, 0] * B[2, 1]
        R02 = A[0, 0] * B[0, 2] + A[1, 0] * B[1, 2] + A[2, 0] * B[2, 2]
        R10 = A[0, 1] * B[0, 0] + A[1, 1] * B[1, 0] + A[2, 1] * B[2, 0]
        R11 = A[0, 1] * B[0, 1] + A[1, 1] * B[1, 1] + A[2, 1] * B[2, 1]
        R12 = A[0, 1] * B[0, 2] + A[1, 1] * B[1, 2] + A[2, 1] * B[2, 2]
        R20 = A[0, 2] * B[0, 0] + A[1, 2] * B[1, 0] + A[2, 2] * B[2, 0]
        R21 = A[0, 2] * B[0, 1] + A[1, 2] * B[1, 1] + A[2, 2] * B[2, 1]
        R22 = A[0, 2] * B[0, 2] + A[1, 2] * B[1, 2] + A[2, 2] * B[2, 2]
        for r in range(start, stop):
            w0, w1, w2 = plan.row_w[r, 0], plan.row_w[r, 1], plan.row_w[r, 2]
            n0, n1, n2 = plan.row_n[r, 0], plan.row_n[r, 1], plan.row_n[r, 2]
            y0 = R00 * w0 + R01 * w1 + R02 * w2
            y1 = R10 * w0 + R11 * w1 + R12 * w2
            y2 = R20 * w0 + R21 * w1 + R22 * w2
            if plan.row_kind[r] == DISTANCE:
                length = plan.row_c[r]
                d0, d1, d2 = p0 + y0 - n0, p1 + y1 - n1, p2 + y2 - n2
                g[r] = 0.5 * ((d0 * d0 + d1 * d1 + d2 * d2) / length - length)
                n0, n1, n2 = d0 / length, d1 / length, d2 / length
                u0, u1, u2 = n0, n1, n2
            else:
                u0, u1, u2 = plan.row_u[r, 0], plan.row_u[r, 1], plan.row_u[r, 2]
                g[r] = n0 * p0 + n1 * p1 + n2 * p2 + u0 * y0 + u1 * y1 + u2 * y2 - plan.row_c[r]
            z0 = R00 * u0 + R10 * u1 + R20 * u2
            z1 = R01 * u0 + R11 * u1 + R21 * u2
            z2 = R02 * u0 + R12 * u1 + R22 * u2
            f0 = A[0, 0] * n0 + A[0, 1] * n1 + A[0, 2] * n2
            f1 = A[1, 0] * n0 + A[1, 1] * n1 + A[1, 2] * n2
            f2 = A[2, 0] * n0 + A[2, 1] * n1 + A[2, 2] * n2
            G = jacobian[r, side_a]
            G[0] = -f0
            G[1] = -f1
            G[2] = -f2
            G[3] = n1 * p2 - n2 * p1 + u1 * y2 - u2 * y1
            G[4] = n2 * p0 - n0 * p2 + u2 * y0 - u0 * y2
            G[5] = n0 * p1 - n1 * p0 + u0 * y1 - u1 * y0
            G = jacobian[r, side_b]
            G[0] = f0
            G[1] = f1
            G[2] = f2
            G[3] = w1 * z2 - w2 * z1
            G[4] = w2 * z0 - w0 * z2
            G[5] = w0 * z1 - w1 * z0
