"""The rows of all joints at a pose: values and Jacobians.

Three kinds of measure make up every lower pair but the screw; the rows of one joint share R = A^T B and
p = A^T (x_b - x_a), so they are evaluated together here, by the same formulas as in measures/point.py, axis.py and
distance.py (tests hold both against each other). Rows are functions of the relative pose alone: a row's net force and
torque on its two bodies are zero to round-off.
"""

import numpy as np

from varint.base.numba import Float1, Float2, Float3, indirect, inner_sizes, natural, njit
from varint.mathematics.products.rows import product_rows
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.step.measures import AXIS, DISTANCE, POINT, measure_at, weighted_measure
from varint.step.plan import CONSTRAINT, EFFORT, Plan, Workspace

VECTORS, MATRICES, GRADIENTS = inner_sizes(3), inner_sizes(3, 3), inner_sizes(2, 6)


@indirect(seconds=2, what="the solver of joints")
def evaluate_rows(plan: Plan, ws: Workspace, position: Float2, rotation: Float3, g: Float1, jacobian: Float3) -> None:
    """Write the rows at a pose: values to ``g`` (nr,), Jacobian to ``jacobian`` (nr, 2, 6).

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3). An AXIS row has no part in x: those entries are left as they
    are, zero in a fresh workspace. A constraint has its value in its first row, zero in the others; rows of efforts are
    left to efforts.py.
    """
    # With A, B the rotations of the two bodies, R = A^T B, p = A^T (x_b - x_a), and u, w, c of the row:
    #   AXIS      d = R w,      g = u . d
    #   POINT     d = R w + p,  g = u . d - c
    #   DISTANCE  d = R w + p,  u <- (d - u) / c,  g = c (|u|^2 - 1) / 2
    # The gradient is -A u by x_a, A u by x_b (both zero for AXIS), u x d by the rotation of a, w x R^T u by that of b.
    nb, position, rotation, jacobian = plan.bodies.mass.size, VECTORS(position), MATRICES(rotation), GRADIENTS(jacobian)
    for j in range(plan.joints.side.shape[0]):
        start, stop = natural(plan.joints.rows[j]), natural(plan.joints.rows[j + 1])
        if start == stop:
            continue
        sides = natural(plan.joints.first_body[j]), natural(1 - plan.joints.first_body[j])  # of bodies a and b
        a, b = natural(plan.joints.side[j, sides[0]]), natural(plan.joints.side[j, sides[1]])
        A, B = rotation[a], rotation[b]
        p = rotate_back(A, sub(vector(position[b]), vector(position[a])))
        R = (
            rotate_back(B, (A[0, 0], A[1, 0], A[2, 0])),
            rotate_back(B, (A[0, 1], A[1, 1], A[2, 1])),
            rotate_back(B, (A[0, 2], A[1, 2], A[2, 2])),
        )
        rows, points = (natural(plan.joints.pair[j]), natural(plan.joints.points[j])) if j < nb else (0, 0)
        if rows > 0:
            if rows == 5 and points == 3:  # loops over numbers known here unroll; those are of hinges and balls
                _pair_rows(plan, start, 5, 3, sides, p, R, A, g, jacobian)
            elif rows == 3 and points == 3:
                _pair_rows(plan, start, 3, 3, sides, p, R, A, g, jacobian)
            else:
                _pair_rows(plan, start, rows, points, sides, p, R, A, g, jacobian)
            start += rows
            if start == stop:
                continue
        if plan.joints.product[j] >= 0:
            product_rows(plan.products, ws.products, plan.joints.product[j], position, rotation, g, jacobian)
        for number in range(start, stop):
            r = natural(number)
            kind = plan.measures.kind[r]
            if plan.rows.role[r] == EFFORT:
                g[r] = 0.0
                continue
            if plan.rows.role[r] == CONSTRAINT or (kind != POINT and kind != AXIS and kind != DISTANCE):
                if plan.rows.role[r] == CONSTRAINT or plan.joints.product[j] < 0:
                    g[r] = other_row(plan, ws, r, position, rotation, jacobian)
                continue
            u, w = vector(plan.measures.u[r]), vector(plan.measures.w[r])
            d = dot(R[0], w), dot(R[1], w), dot(R[2], w)
            if kind == AXIS:
                g[r] = dot(u, d)
            else:
                d, c = add(d, p), plan.measures.c[r]
                if kind == DISTANCE:
                    u = (d[0] - u[0]) / c, (d[1] - u[1]) / c, (d[2] - u[2]) / c
                    g[r] = 0.5 * c * (dot(u, u) - 1.0)
                else:
                    g[r] = dot(u, d) - c
                _write_shift(A, u, sides, jacobian[r])
            _write_turns(R, u, w, d, sides, jacobian[r])
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        for part in range(first + 1, first + plan.constraints.size[c]):
            g[first] += g[part]
            g[part] = 0.0


@njit(inline="always")
def _pair_rows(plan, start, rows, points, sides, p, R, A, g, jacobian):
    """Write the ``rows`` rows of a lower pair from ``start`` on: ``points`` POINT rows at one point of b, AXIS rows.

    Values to ``g`` (nr,), gradients to ``jacobian`` (nr, 2, 6).
    """
    w = vector(plan.measures.w[start])
    d = add((dot(R[0], w), dot(R[1], w), dot(R[2], w)), p)
    for number in range(start, start + points):
        r = natural(number)
        u = vector(plan.measures.u[r])
        g[r] = dot(u, d) - plan.measures.c[r]
        _write_shift(A, u, sides, jacobian[r])
        _write_turns(R, u, w, d, sides, jacobian[r])
    for number in range(start + points, start + rows):
        r = natural(number)
        u, w = vector(plan.measures.u[r]), vector(plan.measures.w[r])
        d = dot(R[0], w), dot(R[1], w), dot(R[2], w)
        g[r] = dot(u, d)
        _write_turns(R, u, w, d, sides, jacobian[r])


@njit(inline="always")
def _write_shift(A, u, sides, gradient):
    """Write the linear parts of a gradient (2, 6)."""
    G_a, G_b, n = gradient[sides[0]], gradient[sides[1]], rotate(A, u)
    G_b[0], G_b[1], G_b[2] = n
    G_a[0], G_a[1], G_a[2] = -n[0], -n[1], -n[2]


@njit(inline="always")
def _write_turns(R, u, w, d, sides, gradient):
    """Write the angular parts of a gradient (2, 6)."""
    G_a, G_b = gradient[sides[0]], gradient[sides[1]]
    G_a[3], G_a[4], G_a[5] = cross(u, d)
    G_b[3], G_b[4], G_b[5] = cross(w, add(add(scale(u[0], R[0]), scale(u[1], R[1])), scale(u[2], R[2])))


@indirect(seconds=2, what="couplings, and joints of rare kinds")
def other_row(plan: Plan, ws: Workspace, r: int, position: Float2, rotation: Float3, jacobian: Float3) -> float:
    """Evaluate row r of a constraint, or of a kind of measure that `evaluate_rows` has not: return its value.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3). Writes its gradient to ``jacobian`` (nr, 2, 6). A constraint:
    the term of the measure in its value, and its row; zero where that takes no part.
    """
    if plan.rows.role[r] != CONSTRAINT:
        return measure_at(plan, ws, r, position, rotation, jacobian[r])
    if ws.released[r] > 0.0:
        for s in range(2):
            for k in range(6):
                jacobian[r, s, k] = 0.0
        return 0.0
    work = ws.efforts
    value = weighted_measure(plan, ws, r, work.value_near[r], position, rotation, jacobian[r])
    return plan.measures.weight[r] * value - work.target[r]  # of rows after the first the target is zero


@njit
def clear_rows(plan, released, jacobian):
    """Set the rows that are no constraints to zero in ``jacobian`` (nr, 2, 6): a projection has no efforts.

    ``released`` (nr,): positive for these.
    """
    for r in range(plan.rows.role.size):
        if released[r] > 0.0:
            for s in range(2):
                for k in range(6):
                    jacobian[r, s, k] = 0.0


def has_other_rows(plan: Plan) -> bool:
    """Return whether `other_row` is called for rows of a plan."""
    kinds, roles = plan.measures.kind[: plan.rows.role.size], plan.rows.role
    return bool(np.any((roles == CONSTRAINT) | ((roles != EFFORT) & ~np.isin(kinds, (POINT, AXIS, DISTANCE)))))
