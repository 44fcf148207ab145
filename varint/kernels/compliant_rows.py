"""Compliant rows: efforts that are unknowns of a step, of elements of beams and of joints with a compliance.

Each effort f is the only one along its measure. mu = h/2 f is the multiplier of a row with the residual

    row    mu - h/2 f(g, dg/dt)        g in the middle of the step; of joints see soft_joints.py

and mu in place of h/2 f acts on the bodies. Newton's matrix is that of any other effort (efforts.py), but an error of
second order in the rotations, times the stiffness, changes f alone and not mu: so metals take no more iterations than
rigid links. Residuals are compared as velocities: the equivalent change of the measure over h/2.
"""

from varint._numba import indirect, njit
from varint.kernels.plan import Plan, Workspace

WHAT = "compliant rows"


@njit
def _softness(plan, ws, s, half_step):
    """Velocity that a unit residual of sum s amounts to, m/s per N s or rad/s per N m s; 0 without stiffness."""
    work = ws.efforts
    stiffness = -half_step * (half_step * work.sum_by_value[s] + work.sum_by_rate[s])
    return 1.0 / stiffness if stiffness > 0.0 else 0.0


@indirect(seconds=1, what=WHAT)
def free_efforts(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Write the residuals of the rows of beams, then set their efforts to multiplier / ``half_step``."""
    for n in range(plan.compliant.row.size - plan.compliant.joint_row.size):
        r, s = plan.compliant.row[n], plan.compliant.sum[n]
        ws.residual_row[r] = ws.multiplier[r] - half_step * ws.efforts.sum_effort[s]
        ws.efforts.sum_effort[s] = ws.multiplier[r] / half_step


@indirect(seconds=1, what=WHAT)
def largest_open(plan: Plan, ws: Workspace, half_step: float) -> tuple[float, float, float]:
    """Return the sum of squares and the largest of the rows' residuals, and their largest impulse, all as m/s."""
    merit = worst = moved = 0.0
    for n in range(plan.compliant.row.size):
        r, s = plan.compliant.row[n], plan.compliant.sum[n]
        size = plan.rows.scale[r] * abs(ws.residual_row[r]) * _softness(plan, ws, s, half_step)
        merit += size * size
        worst = max(worst, size)
        moved = max(moved, plan.rows.push[r] * abs(ws.multiplier[r]))
    return merit, worst, moved


@njit
def start_multipliers(plan, ws, half_step, kept):
    """Set the multipliers of the compliant rows to h/2 times their last efforts if ``kept``, else to zero."""
    for n in range(plan.compliant.row.size):
        r = plan.compliant.row[n]
        ws.multiplier[r] = half_step * ws.last_multiplier[r] if kept else 0.0


@njit
def keep_multipliers(plan, ws, half_step):
    """Store the efforts of the compliant rows, not their multipliers: the next stage may have another h."""
    for n in range(plan.compliant.row.size):
        r = plan.compliant.row[n]
        ws.last_multiplier[r] = ws.multiplier[r] / half_step
