"""The velocities at a node, from its momenta (docs/theory.md section 3)."""

from varint.base.numba import njit
from varint.step.bearings.nodes import project_bearings
from varint.step.border import solve_bordered
from varint.step.configuration import mass_pivots
from varint.step.contacts.nodes import project_contacts
from varint.step.contacts.rows import has_contacts
from varint.step.dense import copy_motions
from varint.step.intervals import StepSpan
from varint.step.roles import add_inertias, add_role_works
from varint.step.rows import clear_rows


@njit(inline="always")
def momenta_and_rates(plan, ws, pose):
    """Prepare the system of `project` at a node: its pivots and rows, and its right side, momenta and rates.

    Writes momenta to ``ws.increment_body`` (nb, 6), rates to ``ws.increment_row`` (nr,), and empties ``ws.border``;
    ``pose``: the one at the node, 0 or 1.
    """
    mass_pivots(plan, ws.ldu.D)
    ws.border.count[0] = 0
    clear_rows(plan, ws.released, ws.jacobian[pose])
    copy_motions(ws.momentum, ws.increment_body)
    for r in range(plan.rows.role.size):
        ws.increment_row[r] = ws.efforts.target_rate[r]


@njit(inline="always")
def project(plan, ws, pose):
    """Find the velocities at a node: (v, w) = M^-1 (p, l) without the part that the rows forbid, G (v, w) = their rate.

    Written to ``ws.increment_body`` (nb, 6), m/s, world, and rad/s, body axes; the impulses to ``ws.increment_row``
    (nr,). Roles add their energy to ``ws.balance.further``. ``pose``: the one at the node, 0 or 1.
    """
    if has_contacts(plan):
        project_contacts(plan, ws, pose)
    else:
        momenta_and_rates(plan, ws, pose)
        if plan.bearings.row.size > 0:
            project_bearings(plan, ws, pose)
            return
        add_inertias(plan, ws, pose, False)
        solve_bordered(plan, ws, StepSpan(pose, pose, 0.0), False, ws.increment_body, ws.increment_row)
        for c in range(ws.balance.further.size):
            ws.balance.further[c] = 0.0
        add_inertias(plan, ws, pose, True)


@njit
def node_works(plan, ws, work):
    """Write the works of all elements from the start up to a node, J, to ``work`` (ne,), after `project` there."""
    for e in range(work.size):
        work[e] = ws.efforts.work[e]
    add_role_works(plan, ws, work, True)


@njit
def project_velocities(plan, ws, pose):
    """Do `project`, with the velocities in ``ws.velocity`` (nb, 6) and the impulses in ``ws.multiplier`` (nr,)."""
    project(plan, ws, pose)
    copy_motions(ws.increment_body, ws.velocity)
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = ws.increment_row[r]
