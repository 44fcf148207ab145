"""The rows of all joints at a pose: values and Jacobians.

Three kinds of measure make up every lower pair but the screw; the rows of one joint share R = A^T B and
p = A^T (x_b - x_a), so they are evaluated together here, by the same formulas as in measures/point.py, axis.py and
distance.py (tests hold both against each other). Rows are functions of the relative pose alone: a row's net force and
torque on its two bodies are zero to round-off.
"""

from varint._numba import Float1, Float2, Float3, indirect, inner_sizes, natural, njit
from varint.kernels.measures import AXIS, DISTANCE, POINT, measure_at, weighted_measure
from varint.kernels.plan import CONSTRAINT, EFFORT, Plan, Workspace
from varint.products.product_rows import product_rows

VECTORS, MATRICES, GRADIENTS = inner_sizes(3), inner_sizes(3, 3), inner_sizes(2, 6)


@indirect(seconds=2, what="the solver of joints")
def evaluate_rows(plan: Plan, ws: Workspace, position: Float2, rotation: Float3, g: Float1, jacobian: Float3) -> None:
    """Rows at a pose (nb + 1, 3), (nb + 1, 3, 3): values to ``g`` (nr,), Jacobian to ``jacobian`` (nr, 2, 6).

    An AXIS row has no part in x: those entries are left as they are, zero in a fresh workspace. The value of a
    constraint is that of its first row, the others are zero; rows of efforts are left to efforts.py.
    """
    # With A, B the rotations of the two bodies, R = A^T B, p = A^T (x_b - x_a), and u, w, c of the row:
    #   AXIS      d = R w,      g = u . d
    #   POINT     d = R w + p,  g = u . d - c
    #   DISTANCE  d = R w + p,  u <- (d - u) / c,  g = c (|u|^2 - 1) / 2
    # The gradient is -A u by x_a, A u by x_b (both zero for AXIS), u x d by the rotation of a, w x R^T u by that of b.
    position, rotation, jacobian = VECTORS(position), MATRICES(rotation), GRADIENTS(jacobian)
    for j in range(plan.joints.side.shape[0]):
        start, stop = plan.joints.rows[j], plan.joints.rows[j + 1]
        if start == stop:
            continue
        side_a, side_b = natural(plan.joints.first_body[j]), natural(1 - plan.joints.first_body[j])
        a, b = natural(plan.joints.side[j, side_a]), natural(plan.joints.side[j, side_b])
        A, B = rotation[a], rotation[b]
        dx, dy, dz = position[b, 0] - position[a, 0], position[b, 1] - position[a, 1], position[b, 2] - position[a, 2]
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
        if plan.joints.product[j] >= 0:
            product_rows(plan.products, ws.products, plan.joints.product[j], position, rotation, g, jacobian)
        for number in range(start, stop):
            r = natural(number)
            kind = plan.measures.kind[r]
            if plan.rows.role[r] == EFFORT or plan.rows.role[r] == CONSTRAINT:
                constrained = plan.rows.role[r] == CONSTRAINT
                g[r] = _constrained(plan, ws, r, position, rotation, jacobian) if constrained else 0.0
                continue
            if kind != POINT and kind != AXIS and kind != DISTANCE:
                if plan.joints.product[j] < 0:
                    g[r] = measure_at(plan, ws, r, position, rotation, jacobian[r])
                continue
            w0, w1, w2 = plan.measures.w[r, 0], plan.measures.w[r, 1], plan.measures.w[r, 2]
            u0, u1, u2 = plan.measures.u[r, 0], plan.measures.u[r, 1], plan.measures.u[r, 2]
            d0 = R00 * w0 + R01 * w1 + R02 * w2
            d1 = R10 * w0 + R11 * w1 + R12 * w2
            d2 = R20 * w0 + R21 * w1 + R22 * w2
            G_a, G_b = jacobian[r, side_a], jacobian[r, side_b]
            if kind == AXIS:
                g[r] = u0 * d0 + u1 * d1 + u2 * d2
            else:
                d0, d1, d2 = d0 + p0, d1 + p1, d2 + p2
                c = plan.measures.c[r]
                if kind == DISTANCE:
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
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        for part in range(first + 1, first + plan.constraints.size[c]):
            g[first] += g[part]
            g[part] = 0.0


@njit
def _constrained(plan, ws, r, position, rotation, jacobian):
    """Term of measure r in the value of its constraint, and its row; zero where that takes no part."""
    if ws.compliance[r] > 0.0:
        for s in range(2):
            for k in range(6):
                jacobian[r, s, k] = 0.0
        return 0.0
    work = ws.efforts
    value = weighted_measure(plan, ws, r, work.value_near[r], position, rotation, jacobian[r])
    return plan.measures.weight[r] * value - work.target[r]  # of rows after the first the target is zero
