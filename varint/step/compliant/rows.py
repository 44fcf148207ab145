"""Compliant rows: efforts that are unknowns of a step, of elements of beams and of joints with a compliance.

Each effort f is the only one along its measure. mu = h/2 f is the multiplier of a row with the residual

    row    mu - h/2 f(g, dg/dt)        g in the middle of the step; of joints see soft_joints.py

and mu in place of h/2 f acts on the bodies. Newton's matrix is that of any other effort (efforts.py), but an error of
second order in the rotations, times the stiffness, changes f alone and not mu: so metals take no more iterations than
rigid links. Residuals are compared as velocities: the equivalent change of the measure over h/2.
"""

from varint.base.numba import indirect, njit
from varint.step.inputs import Inputs
from varint.step.intervals import Interval
from varint.step.plan import Plan, Workspace

WHAT = "compliant rows"


@njit
def _softness(plan, ws, s, half_step):
    """Return the velocity of a unit residual of sum s, m/s per N s or rad/s per N m s; 0 without stiffness."""
    work = ws.efforts
    stiffness = -half_step * (half_step * work.sum_by_value[s] + work.sum_by_rate[s])
    return 1.0 / stiffness if stiffness > 0.0 else 0.0


@indirect(seconds=1, what=WHAT)
def weigh_open(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add the rows' residuals to ``ws.missed``, once they are written."""
    half_step, (merit, worst, moved) = 0.5 * h, (ws.missed[0], ws.missed[1], ws.missed[2])
    for n in range(plan.compliant.row.size):
        r, s = plan.compliant.row[n], plan.compliant.sum[n]
        size = plan.rows.scale[r] * abs(ws.residual_row[r]) * _softness(plan, ws, s, half_step)
        merit += size * size
        worst = max(worst, size)
        moved = max(moved, plan.rows.push[r] * abs(ws.multiplier[r]))
    ws.missed[0], ws.missed[1], ws.missed[2] = merit, worst, moved


@indirect(seconds=1, what=WHAT)
def start_multipliers(plan: Plan, ws: Workspace, inputs: Inputs, when: Interval, h: float, kept: bool) -> None:
    """Set ``ws.multiplier`` of the compliant rows to h/2 times their last efforts if ``kept``, else to zero."""
    for n in range(plan.compliant.row.size):
        r = plan.compliant.row[n]
        ws.multiplier[r] = 0.5 * h * ws.last_multiplier[r] if kept else 0.0


@indirect(seconds=1, what=WHAT)
def keep_efforts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Store the efforts of the compliant rows, not their multipliers, in ``ws.last_multiplier``.

    The next stage may have another h.
    """
    for n in range(plan.compliant.row.size):
        r = plan.compliant.row[n]
        ws.last_multiplier[r] = ws.multiplier[r] / (0.5 * h)
