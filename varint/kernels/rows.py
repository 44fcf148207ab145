"""Constraint rows: value and Jacobian. With R = R_a^T R_b and p = R_a^T (x_b - x_a), seen from the first body a,

    POINT      g = u . (p + R w) - c                a point w of b stays in a plane of a
    AXIS       g = u . R w                          a direction of b stays at right angles to one of a
    DISTANCE   g = (|d|^2 - c^2) / (2 c), d = p + R w - u      a point w of b stays at c from a point u of a

Every lower pair but the screw is a set of POINT and AXIS rows; those of any other joint are ON_MOTIONS
(products.py). Rows are functions of the relative
pose alone, so a row's net force and torque on its two bodies are zero to round-off.

Jacobians are with respect to (x, theta): x in the world, theta a rotation vector in body axes
(half of the rotational gradient of VI eq. 31, see docs/theory.md). For POINT, and without p for AXIS:

    dg/dx_b = (R_a u)^T = -dg/dx_a,   dg/dtheta_a = (u x (p + R w))^T,   dg/dtheta_b = (w x R^T u)^T

and those of DISTANCE are a POINT's with u = d / c. A HELD row is the gauge of a coordinate (gauges.py); those of a
chain make up one constraint, that the weighted sum of their gauges is at its aim.
"""

from varint._numba import njit
from varint.kernels.gauges import gauge_at, on_from
from varint.kernels.on_motions import on_motions
from varint.kernels.plan import AXIS, DISTANCE, HELD, ON_MOTIONS


@njit
def evaluate_rows(plan, position, rotation, near, aim, g, jacobian):
    """Rows at a pose (nb + 1, 3), (nb + 1, 3, 3): values to ``g`` (nr,), Jacobian to ``jacobian`` (nr, 2, 6).

    An AXIS row has no part in x: those entries are left as they are, zero in a fresh workspace.
    ``near``, ``aim``: see `Workspace`. The value of a chain is that of its first row, the others are zero.
    """
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
        if plan.joint_product[j] >= 0:
            on_motions(plan, j, position, rotation, near, g, jacobian)
        for r in range(start, stop):
            if plan.row_kind[r] == ON_MOTIONS:
                continue
            if plan.row_kind[r] >= HELD:
                g[r] = 0.0
                if plan.row_kind[r] == HELD:
                    g[r] = _held(plan, r, position, rotation, near[r], jacobian[r]) - aim[r]
                continue
            w0, w1, w2 = plan.row_w[r, 0], plan.row_w[r, 1], plan.row_w[r, 2]
            u0, u1, u2 = plan.row_u[r, 0], plan.row_u[r, 1], plan.row_u[r, 2]
            d0 = R00 * w0 + R01 * w1 + R02 * w2
            d1 = R10 * w0 + R11 * w1 + R12 * w2
            d2 = R20 * w0 + R21 * w1 + R22 * w2
            G_a, G_b = jacobian[r, side_a], jacobian[r, side_b]
            if plan.row_kind[r] == AXIS:
                g[r] = u0 * d0 + u1 * d1 + u2 * d2
            else:
                d0, d1, d2 = d0 + p0, d1 + p1, d2 + p2
                c = plan.row_c[r]
                if plan.row_kind[r] == DISTANCE:
                    u0, u1, u2 = (d0 - u0) / c, (d1 - u1) / c, (d2 - u2) / c
                    g[r] = 0.5 * c * (u0 * u0 + u1 * u1 + u2 * u2 - 1.0)
                else:
                    g[r] = u0 * d0 + u1 * d1 + u2 * d2 - c
                for k in range(3):
                    G_b[k] = A[k, 0] * u0 + A[k, 1] * u1 + A[k, 2] * u2
                    G_a[k] = -G_b[k]
            G_a[3] = u1 * d2 - u2 * d1
            G_a[4] = u2 * d0 - u0 * d2
            G_a[5] = u0 * d1 - u1 * d0
            z0 = R00 * u0 + R10 * u1 + R20 * u2
            z1 = R01 * u0 + R11 * u1 + R21 * u2
            z2 = R02 * u0 + R12 * u1 + R22 * u2
            G_b[3] = w1 * z2 - w2 * z1
            G_b[4] = w2 * z0 - w0 * z2
            G_b[5] = w0 * z1 - w1 * z0
    for r in range(plan.row_c.size if plan.held_row.size else 0):
        for part in range(1, plan.row_chain[r]):
            g[r] += g[r + part]
            g[r + part] = 0.0


@njit
def _held(plan, r, position, rotation, near, jacobian):
    """Weighted value and ``jacobian`` (2, 6), by the sides of its joint, of a gauge that has its row at r."""
    e = plan.row_gauge[r]
    weight = plan.gauge_weight[e]
    value = on_from(plan.gauge_kind[e], near, gauge_at(plan, e, position, rotation, jacobian[0], jacobian))
    for k in range(6):
        a, b = weight * jacobian[0, k], weight * jacobian[1, k]
        jacobian[0, k], jacobian[1, k] = (a, b) if plan.gauge_flip[e] == 0 else (b, a)
    return weight * value
