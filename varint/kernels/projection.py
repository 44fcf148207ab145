"""The velocities at a node, from its momenta (docs/theory.md section 3)."""

from varint._numba import njit
from varint.kernels.configuration import mass_pivots
from varint.kernels.efforts import clear_rows
from varint.kernels.ldu import solve_newton


@njit(inline="always")
def project(plan, ws, pose):
    """Velocities at a node: (v, w) = M^-1 (p, l) without the part that the rows forbid, G (v, w) = their rate.

    Written to ``ws.increment_body``, the impulses to ``ws.increment_row``.
    """
    mass_pivots(plan, ws.ldu.D)
    clear_rows(plan, ws.compliance, ws.jacobian[pose])
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = ws.momentum[i, k]
    for r in range(plan.rows.role.size):
        ws.increment_row[r] = ws.efforts.target_rate[r]
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
