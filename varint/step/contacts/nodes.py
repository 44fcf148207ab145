"""Contacts at a node: velocities, impacts and accelerations, with the same law and the same solver as in a step.

At given poses all but the states of the contacts is linear. Unknown are the velocities, or accelerations, v of the
bodies, with the rates G v of the rows,

    M v - G^T lambda - N^T z = right sides,    u = N v + bias,    (u, z) by the law of `cones`.

Arguments: ``pose``, number of the pose of the node, along whose rows ``ws.jacobian[pose]`` multipliers act.
"""

import math

from varint.base.numba import Float1, indirect, natural, njit
from varint.step.border import solve_bordered
from varint.step.configuration import mass_pivots
from varint.step.contacts.broad_phase import clear_impulses
from varint.step.contacts.cones import (
    ALL_APART,
    ALL_STICK,
    AS_FOUND,
    SLIDING,
    add_changes,
    add_pushes,
    fold_cones,
    unfold_cones,
    weigh_cone,
)
from varint.step.contacts.features import rate_along
from varint.step.contacts.interior import COARSE, SHARP, push_column, start_inside
from varint.step.contacts.rolling import is_rolling, take_normal
from varint.step.contacts.rows import EPSILON, STILL, rest_on
from varint.step.dense import add_scaled6, copy_motions, dot6
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.momentum import momenta_of
from varint.step.plan import Plan, Workspace
from varint.step.rows import clear_rows
from varint.step.sizes import length_unit

PASSES = 40  # of a solution, at most
SHARES = 20  # in which friction grows from zero where it is not found so
ENOUGH = 64.0  # times the round-off of the velocities: a rate that is zero
MET = 1e-9  # m/s, times `length_unit`, or of the velocities: what a solution may miss where no pass does better


@njit
def take_right_sides(ws):
    """Copy the right sides of a problem at a node to ``ws.contacts.body`` (nb, 6) and ``ws.contacts.right`` (nr,).

    From ``ws.increment_body``, N s or N, and ``ws.increment_row``.
    """
    work = ws.contacts
    for i in range(work.body.shape[0]):
        for j in range(6):
            work.body[i, j] = ws.increment_body[i, j]
    for r in range(work.right.size):
        work.right[r] = ws.increment_row[r]


@indirect(seconds=4, what="contacts")
def solve_at_node(plan: Plan, ws: Workspace, pose: int) -> bool:
    """Solve the problem above, with the right sides of `take_right_sides` and the contacts ``ws.contacts.taking``.

    The solution goes to ``ws.increment_body`` (nb, 6) and ``ws.increment_row`` (nr,), the impulses to
    ``ws.contacts.z`` (nk, 3); of accelerations these are forces. Returns whether it was found.
    """
    ws.contacts.share[0], ws.contacts.softened[0] = 1.0, False
    if _solve(plan, ws, pose, True):
        return True
    ws.contacts.softened[0] = True
    for enough in (COARSE, SHARP):
        if not _start_inside(plan, ws, pose, enough):
            break
        if _solve(plan, ws, pose, False):
            return True
    else:
        if _start_inside(plan, ws, pose, SHARP) and _meets(plan, ws):
            return True
    for n in range(SHARES + 1):
        ws.contacts.share[0] = n / SHARES
        solved = _solve(plan, ws, pose, n == 0)
    return solved


@njit
def _solve(plan, ws, pose, afresh):
    """Do the passes of `solve_at_node` with the ``share`` of friction at hand; return whether the solution was found.

    ``afresh``: whether to start from no impulses at all, else from ``z`` (nk, 3), ``velocity`` (nb, 6) and
    ``multiplier`` (nr,) of ``ws.contacts``. The solution goes to ``ws.increment_body`` and ``ws.increment_row``;
    ``ws.border.count`` is set anew.
    """
    work, body, row = ws.contacts, ws.increment_body, ws.increment_row
    if afresh:
        clear_impulses(ws)
        work.velocity[:] = 0.0
        work.multiplier[:] = 0.0
    factored, moved, fastest = False, math.inf, 0.0
    for passes in range(PASSES):
        worst, same = _look(plan, ws, ALL_STICK if afresh and passes == 0 else AS_FOUND)
        if max(worst, moved) <= ENOUGH * EPSILON * fastest:
            copy_motions(work.velocity, body)
            for r in range(row.size):
                row[r] = work.multiplier[r]
            return True
        _write_residuals(plan, ws, pose)
        factored = factored and same
        if not factored:
            mass_pivots(plan, ws.ldu.D)
            ws.border.count[0] = 0
        fold_cones(plan, ws, body, factored)
        solve_bordered(plan, ws, StepSpan(pose, pose, 0.0), factored, body, row)
        unfold_cones(plan, ws)
        add_changes(ws, 1.0)
        factored = _is_linear(plan, work)
        moved = fastest = 0.0
        for i in range(body.shape[0]):
            for j in range(6):
                work.velocity[i, j] += body[i, j]
                scale = 1.0 if j < 3 else plan.bodies.length[0]
                moved = max(moved, scale * abs(body[i, j]))
                fastest = max(fastest, scale * abs(work.velocity[i, j]))
        for n in range(work.near_count[0]):
            k = natural(work.near[n])
            for a in range(3 if work.taking[k] else 0):
                fastest = max(fastest, plan.contacts.mobility[k] * abs(work.z[k, a]))
        for r in range(row.size):
            work.multiplier[r] += row[r]
    return _meets(plan, ws)


@njit
def _meets(plan, ws):
    """Copy the velocities and impulses at hand to the solution; return whether they meet the law within `MET`.

    Writes ``ws.increment_body`` (nb, 6) and ``ws.increment_row`` (nr,).
    """
    work, worst, fastest = ws.contacts, _look(plan, ws, AS_FOUND)[0], length_unit(plan)
    copy_motions(work.velocity, ws.increment_body)
    for r in range(ws.increment_row.size):
        ws.increment_row[r] = work.multiplier[r]
    for i in range(work.velocity.shape[0]):
        for j in range(6):
            scale = 1.0 if j < 3 else plan.bodies.length[0]
            fastest = max(fastest, scale * abs(work.velocity[i, j]))
    return worst <= MET * fastest


@njit
def _start_inside(plan, ws, pose, enough):
    """Start from the solution of `contact_interior`; return whether there is one, which given modes have not.

    ``enough``: `COARSE` or `SHARP`. Writes ``z`` (nk, 3), ``velocity`` (nb, 6) and ``multiplier`` (nr,) of
    ``ws.contacts``.
    """
    work, body, row = ws.contacts, ws.increment_body, ws.increment_row
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k] and (work.sticking[k] or work.direction[k, 0] != 0.0 or work.direction[k, 1] != 0.0):
            return False
    clear_impulses(ws)
    work.velocity[:] = 0.0
    work.multiplier[:] = 0.0
    _look(plan, ws, ALL_APART)
    _write_residuals(plan, ws, pose)
    mass_pivots(plan, ws.ldu.D)
    solve_newton(plan, ws, body, row, pose, pose)
    copy_motions(body, work.velocity)
    for r in range(row.size):
        work.multiplier[r] = row[r]
    _look(plan, ws, ALL_APART)
    if not start_inside(plan, ws, StepSpan(pose, pose, 0.0), enough):
        return False
    push_column(plan, ws, StepSpan(pose, pose, 0.0), -1, 0)
    for i in range(body.shape[0]):
        add_scaled6(work.velocity[i], 1.0, work.column_body[i])
    for r in range(row.size):
        work.multiplier[r] += work.column_row[r]
    return True


@njit
def _write_residuals(plan, ws, pose):
    """Write the right sides less their values at hand to ``ws.increment_body`` (nb, 6) and ``ws.increment_row`` (nr,).

    At the velocities ``velocity`` and the impulses ``z`` and ``multiplier`` of ``ws.contacts``.
    """
    work, body, row, nb = ws.contacts, ws.increment_body, ws.increment_row, plan.bodies.mass.size
    momenta_of(plan, work.velocity, body)
    for i in range(nb):
        for j in range(6):
            body[i, j] = work.body[i, j] - body[i, j]
    add_pushes(plan, ws, 1.0, body)
    for r in range(row.size):
        row[r] = work.right[r] - ws.released[r] * work.multiplier[r]
        for side in range(2):
            i = plan.measures.body[r, side]
            if i != nb:
                add_scaled6(body[i], work.multiplier[r], ws.jacobian[pose, r, side])
                row[r] -= dot6(ws.jacobian[pose, r, side], work.velocity[i])


@njit
def _look(plan, ws, forced):
    """Evaluate the law at the velocities at hand; return the largest residual, m/s, and whether all modes stayed.

    Velocities: ``ws.contacts.velocity`` (nb, 6); of accelerations the residual is in m/s^2. ``forced``: as in
    `weigh_cone`; rolling resistances whose contact is open are APART. Writes ``row``, ``rate`` and, by `weigh_cone`,
    the mode of contacts that take part; ``ws.contacts.changes`` counts the changes of modes.
    """
    work, worst = ws.contacts, 0.0
    work.changes[0] = 0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k]:
            continue
        for a in range(3):
            for j in range(work.row.shape[2]):
                work.row[k, a, j] = work.upper[k, a, j]
            work.rate[k, a] = rate_along(plan, work.upper, k, a, work.velocity) + work.bias[k, a]
        is_open = take_normal(plan, ws, k) if is_rolling(plan, k) else False
        worst = max(worst, weigh_cone(plan, ws, k, ALL_APART if is_open else forced))
    return math.sqrt(worst), work.changes[0] == 0


@njit
def _is_linear(plan, work):
    """Return whether the rows of the contacts stay while their modes do: no slip has a direction that may turn."""
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        is_fixed = work.direction[k, 0] != 0.0 or work.direction[k, 1] != 0.0 or plan.contacts.friction[k] == 0.0
        if work.taking[k] and work.mode[k] == SLIDING and not is_fixed:
            return False
    return True


@indirect(seconds=1, what="contacts")
def project_contacts(plan: Plan, ws: Workspace, pose: int) -> None:
    """Write the velocities at a node, projected on joints and closed contacts, to ``ws.increment_body`` (nb, 6).

    From ``ws.momentum`` (nb, 6), as `projection.project`, whose right side of rows goes to ``ws.increment_row`` (nr,),
    which holds the impulses after. Where contacts stick they hold. Where they slide there is the friction of the step
    before, up to the node, opposite to its slip; where that would turn the slip round, they have come to stick. Where
    velocities are not found so, the law of friction chooses what sticks and slides. Writes ``ws.contacts.sticking`` and
    ``ws.contacts.direction`` (nk, 2).
    """
    work = ws.contacts
    begin_projection(plan, ws, pose)
    for _ in range(1 + plan.contacts.body.size):
        if not solve_at_node(plan, ws, pose):
            for n in range(work.near_count[0]):  # the law of friction chooses what sticks and slides
                k = natural(work.near[n])
                work.sticking[k] = False
                work.direction[k, 0] = work.direction[k, 1] = 0.0
            solve_at_node(plan, ws, pose)
            return
        if not _stop_turned(plan, work):
            return


@njit
def begin_projection(plan, ws, pose):
    """Prepare the problem of `project_contacts` at a pose: contacts stick, or slide along their slip, with the momenta.

    Writes of ``ws.contacts`` ``sticking`` (nk,) and ``direction`` (nk, 2), and the right sides ``ws.increment_body``
    (nb, 6) and ``ws.increment_row`` (nr,).
    """
    work = ws.contacts
    rest_on(plan, ws, pose)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        slip = work.slip[k]
        size = math.sqrt(slip[0] * slip[0] + slip[1] * slip[1])
        work.sticking[k] = True
        for a in range(2 if size > 0.0 else 0):
            work.direction[k, a] = slip[a] / size
    clear_rows(plan, ws.released, ws.jacobian[pose])
    for i in range(plan.bodies.mass.size):
        for j in range(6):
            ws.increment_body[i, j] = ws.momentum[i, j]
    for r in range(plan.rows.role.size):
        ws.increment_row[r] = ws.efforts.target_rate[r]
    take_right_sides(ws)


@njit
def _stop_turned(plan, work):
    """Set ``work.direction`` (nk, 2) to zero for contacts whose slip turned round from a step to a node: they stick.

    Returns whether there are any.
    """
    turned = False
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        d = work.direction[k]
        if work.taking[k] and work.rate[k, 1] * d[0] + work.rate[k, 2] * d[1] < -STILL * length_unit(plan):
            d[0] = d[1] = 0.0
            turned = True
    return turned


@njit
def _work_of(ws, k):
    """Return the work of friction, J, of contact k at a node, at its slip in the step before."""
    z, slip = ws.contacts.z[k], ws.contacts.slip[k]
    return z[1] * slip[0] + z[2] * slip[1] if ws.contacts.taking[k] else 0.0


@indirect(seconds=1, what="contacts")
def works_at_node(plan: Plan, ws: Workspace, work: Float1, slip: bool) -> None:
    """Add the works of friction in `project_contacts`, J, to ``work`` (ne,), if ``slip``."""
    if not slip:
        return
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        work[plan.contacts.element[k]] += _work_of(ws, k)
