"""Rows of given poses: how far the joints are open, and how far from singular."""

import math

from varint._numba import njit
from varint.algebra.quaternion import rotation_matrix
from varint.kernels.ldu import solve_newton
from varint.kernels.plan import HELD
from varint.kernels.product_coordinates import follow
from varint.kernels.rows import evaluate_rows


@njit
def mass_pivots(plan, D):
    """Fill the body pivots (nb, 6, 6) with the mass matrices diag(m, m, m, J)."""
    for i in range(plan.mass.size):
        for a in range(6):
            for b in range(6):
                D[i, a, b] = 0.0
        for a in range(3):
            D[i, a, a] = plan.mass[i]
            for b in range(3):
                D[i, 3 + a, 3 + b] = plan.inertia[i, a, b]


@njit
def place(plan, ws, pose):
    """Rotation matrices and rows of the pose; return the largest violation (m) of a joint."""
    for i in range(plan.mass.size):
        rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    evaluate_rows(
        plan, ws.position[pose], ws.rotation[pose], ws.row_near, ws.row_aim, ws.residual_row, ws.jacobian[pose]
    )
    worst = 0.0
    for r in range(plan.row_c.size):
        size = plan.row_scale[r] * abs(ws.residual_row[r])
        if not size <= worst and plan.row_kind[r] != HELD:
            worst = size
    return worst


@njit
def follow_products(plan, position, rotation, near):
    """Take the coordinates of joints with rows ON_MOTIONS at a pose into ``near``."""
    for k in range(plan.product_joint.size):
        follow(plan, plan.product_joint[k], position, rotation, near)


@njit
def place_anew(plan, ws, pose):
    """`place` where the coordinates of joints with rows ON_MOTIONS are not known."""
    for i in range(plan.mass.size):
        rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    follow_products(plan, ws.position[pose], ws.rotation[pose], ws.row_near)
    return place(plan, ws, pose)


@njit
def drift(plan, ws, position, quat, out):
    """Largest violation (m) of the rows at each node: position (T, nb, 3), quat (T, nb, 4), out (T,)."""
    for node in range(out.size):
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(4):
                ws.quat[0, i, k] = quat[node, i, k]
        out[node] = place_anew(plan, ws, 0)


@njit
def margins(plan, ws, position, quat, margin, rank):
    """Square root of the smallest closure pivot (1: as far from singular as can be), and the rank, at each node.

    ``margin``, ``rank`` (T,); position (T, nb, 3), quat (T, nb, 4).
    """
    for node in range(margin.size):
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(4):
                ws.quat[0, i, k] = quat[node, i, k]
        place_anew(plan, ws, 0)
        mass_pivots(plan, ws.D)
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
        margin[node], rank[node] = 1.0, 0
        for c in range(ws.rank.size):
            margin[node] = min(margin[node], math.sqrt(ws.last_pivot[c]))
            rank[node] += ws.rank[c]
