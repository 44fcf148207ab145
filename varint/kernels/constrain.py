"""Onto the joints: configurations, velocities and drift of a plan whose rows may not be satisfied."""

import math

from varint._jit import njit
from varint.algebra.quaternion import advance, rotation_matrix
from varint.kernels.ldu import solve_newton
from varint.kernels.rows import evaluate_rows

LONGEST_TURN = 0.5  # rad, of one correction


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
    """Rotation matrices and rows of the pose; return the largest violation (m)."""
    for i in range(plan.mass.size):
        rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    evaluate_rows(plan, ws.position[pose], ws.rotation[pose], ws.residual_row, ws.jacobian[pose])
    worst = 0.0
    for r in range(plan.row_c.size):
        size = plan.row_scale[r] * abs(ws.residual_row[r])
        if not size <= worst:
            worst = size
    return worst


@njit
def close_joints(plan, ws, iterations, tol):
    """Move pose 0 onto the joints by Gauss-Newton steps, shortest in the kinetic metric; return what is left (m)."""
    worst = place(plan, ws, 0)
    for _ in range(iterations):
        if not worst > tol:
            return worst
        mass_pivots(plan, ws.D)
        for i in range(plan.mass.size):
            for k in range(6):
                ws.increment_body[i, k] = 0.0
        for r in range(plan.row_c.size):
            ws.increment_row[r] = -ws.residual_row[r]
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
        longest = LONGEST_TURN
        for i in range(plan.mass.size):
            d = ws.increment_body[i]
            longest = max(longest, math.sqrt(d[3] * d[3] + d[4] * d[4] + d[5] * d[5]))
        share = LONGEST_TURN / longest
        for i in range(plan.mass.size):
            d = ws.increment_body[i]
            for k in range(3):
                ws.position[0, i, k] += share * d[k]
            for k in range(4):
                ws.quat[1, i, k] = ws.quat[0, i, k]
            advance(ws.quat[1, i], d[3], d[4], d[5], 0.5 * share, ws.quat[0, i])
        worst = place(plan, ws, 0)
    return worst


@njit
def match_velocity(plan, ws, rates):
    """Velocities nearest to ``ws.velocity`` in the kinetic metric with G (v, w) = ``rates`` (nr,), at pose 0.

    In place; return the largest mismatch left (m/s).
    """
    mass_pivots(plan, ws.D)
    for i in range(plan.mass.size):
        for a in range(6):
            total = 0.0
            for b in range(6):
                total += ws.D[i, a, b] * ws.velocity[i, b]
            ws.increment_body[i, a] = total
    for r in range(plan.row_c.size):
        ws.increment_row[r] = rates[r]
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
    for i in range(plan.mass.size):
        for k in range(6):
            ws.velocity[i, k] = ws.increment_body[i, k]
    worst = 0.0
    for j in range(plan.side.shape[0]):
        for r in range(plan.joint_rows[j], plan.joint_rows[j + 1]):
            total = -rates[r]
            for s in range(2):
                body = plan.side[j, s]
                if body < plan.mass.size:
                    for k in range(6):
                        total += ws.jacobian[0, r, s, k] * ws.velocity[body, k]
            ws.residual_row[r] = total
            worst = max(worst, plan.row_scale[r] * abs(total))
    return worst


@njit
def drift(plan, ws, position, quat, out):
    """Largest violation (m) of the rows at each node: position (T, nb, 3), quat (T, nb, 4), out (T,)."""
    for node in range(out.size):
        for i in range(plan.mass.size):
            for k in range(3):
                ws.position[0, i, k] = position[node, i, k]
            for k in range(4):
                ws.quat[0, i, k] = quat[node, i, k]
        out[node] = place(plan, ws, 0)


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
        place(plan, ws, 0)
        mass_pivots(plan, ws.D)
        solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
        margin[node], rank[node] = 1.0, 0
        for c in range(ws.rank.size):
            margin[node] = min(margin[node], math.sqrt(ws.last_pivot[c]))
            rank[node] += ws.rank[c]
