"""Rows of given poses: how far the joints are open, and how far from singular."""

import math

from varint.base.numba import njit
from varint.mathematics.products.coordinates import follow
from varint.mathematics.products.rows import curve_product_row, product_row, product_rows
from varint.mathematics.quaternion import rotation_matrix
from varint.step.ldu import solve_newton
from varint.step.plan import JOINT
from varint.step.role import Role
from varint.step.rows import evaluate_rows


@njit
def mass_pivots(plan, D):
    """Write the mass matrices diag(m, m, m, J) of the bodies to the pivots ``D`` (nb, 6, 6)."""
    for i in range(plan.bodies.mass.size):
        for a in range(6):
            for b in range(6):
                D[i, a, b] = 0.0
        for a in range(3):
            D[i, a, a] = plan.bodies.mass[i]
            for b in range(3):
                D[i, 3 + a, 3 + b] = plan.bodies.inertia[i, a, b]


@njit
def place(plan, ws, pose):
    """Write rotation matrices and rows of the pose; return the largest violation (m) of a joint.

    To ``ws.rotation``, ``ws.residual_row`` and ``ws.jacobian``; clears ``ws.efforts.summed``.
    """
    for i in range(plan.bodies.mass.size):
        rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    evaluate_rows(plan, ws, ws.position[pose], ws.rotation[pose], ws.residual_row, ws.jacobian[pose])
    ws.efforts.summed[0] = 0
    worst = 0.0
    for r in range(plan.rows.role.size):
        size = plan.rows.scale[r] * abs(ws.residual_row[r])
        if not size <= worst and plan.rows.role[r] == JOINT:
            worst = size
    return worst


@njit
def follow_measured(plan, ws, position, rotation):
    """Do `follow_products` for the joints along whose coordinates laws act."""
    for m in range(plan.rows.role.size, plan.measures.kind.size):
        if plan.measures.product[m] >= 0:
            follow(plan.products, ws.products, plan.measures.product[m], position, rotation, True)


@njit
def follow_products(plan, ws, position, rotation, choose=True):
    """Take the coordinates of joints that are products of exponentials at a pose (nb + 1, 3), (nb + 1, 3, 3).

    ``choose``: see `follow`.
    """
    for n in range(plan.products.start.size):
        follow(plan.products, ws.products, n, position, rotation, choose)


@njit
def place_anew(plan, ws, pose):
    """Do `place` where the coordinates of products of exponentials are not known."""
    for i in range(plan.bodies.mass.size):
        rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    follow_products(plan, ws, ws.position[pose], ws.rotation[pose])
    return place(plan, ws, pose)


@njit
def place_node(plan, ws, position, quat):
    """Do `place_anew` for a recorded node at pose 0: position (nb, 3), quat (nb, 4).

    They are copied to ``ws.position`` and ``ws.quat``. Returns the largest violation of a joint, m.
    """
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            ws.position[0, i, k] = position[i, k]
        for k in range(4):
            ws.quat[0, i, k] = quat[i, k]
    return place_anew(plan, ws, 0)


@njit
def drift(plan, ws, position, quat, out):
    """Write the largest violation (m) of the joints at each node to ``out`` (T,).

    position (T, nb, 3), quat (T, nb, 4).
    """
    for node in range(out.size):
        out[node] = place_node(plan, ws, position[node], quat[node])


@njit
def margins(plan, ws, position, quat, margin, rank):
    """Write the square root of the smallest closure pivot (1: as far from singular as can be), and the rank.

    Of each node, to ``margin``, ``rank`` (T,); position (T, nb, 3), quat (T, nb, 4).
    """
    for node in range(margin.size):
        place_node(plan, ws, position[node], quat[node])
        mass_pivots(plan, ws.ldu.D)
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
        margin[node], rank[node] = 1.0, 0
        for c in range(ws.ldu.rank.size):
            margin[node] = min(margin[node], math.sqrt(ws.ldu.last_pivot[c]))
            rank[node] += ws.ldu.rank[c]


PRODUCTS = Role(
    lambda plan: plan.products.start.size,
    also=lambda plan, stages: (product_rows, product_row, curve_product_row, follow),
    sizes=lambda plan, stages: {"products": plan.products.start.size},
)
