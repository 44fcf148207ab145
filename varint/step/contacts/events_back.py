"""Gradients back through impacts of contacts, and through the velocities at a node with contacts.

What contacts do at an instant is on the tape one by one: momenta become those of the velocities there (a *projection*),
then follow the impacts of one round each (docs/theory.md section 14).

Arguments: ``k``, number of a contact; ``events``, `Events` on a tape, and ``acts``, their contacts; ``j``, number of
one of them; ``work``, a `Tangent`; ``by``, the gradient by numbers of the plan; ``carried``, that by what a stage hands
on: variables of laws, and of each contact the slip (3,), world, at `slip_place`.
"""

import math

from varint.base.numba import Float1, Float2, indirect, njit
from varint.mathematics.vectors import dot, vector
from varint.step.configuration import mass_pivots
from varint.step.contacts.adjoint import (
    NOBODY,
    add_dual_rows,
    frame_back,
    is_given,
    list_touching,
    pushes_back,
    slip_back,
    slip_place,
    solve_duals,
    write_law,
)
from varint.step.contacts.changes import UnitMotion, body_of_side, frame_of, gap_change
from varint.step.contacts.cones import SLIDING
from varint.step.contacts.events import PARTING, PROJECTION
from varint.step.contacts.features import feature_of, rate_along
from varint.step.contacts.nodes import solve_at_node, take_right_sides
from varint.step.contacts.rows import write_upper
from varint.step.contacts.stages_back import add_law_numbers, arm_numbers
from varint.step.dense import add_scaled6, copy_motions
from varint.step.derivatives.adjoint import curvature_of_rows_back, momenta_back
from varint.step.derivatives.by_numbers import add_node
from varint.step.derivatives.tape import play_event
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.plan import ByNumbers, Plan, Tangent, Workspace
from varint.step.projection import project_velocities
from varint.step.sizes import length_unit


@njit(seconds=1, what="derivatives of contacts")
def velocities_with_contacts_back(plan, ws, work, state, carried, by):
    """Do `adjoint.velocities_back` at pose 0 with the contacts; add the gradient by their slips to ``carried``.

    ``state`` (nb, 12): the gradient by pose and velocities, replaced by that by pose and momenta.
    """
    project_velocities(plan, ws, 0)
    solution_back(plan, ws, work, state, carried, by)


@indirect(seconds=5, what="derivatives of contacts")
def solution_back(plan: Plan, ws: Workspace, work: Tangent, state: Float2, carried: Float1, by: ByNumbers) -> None:
    """Turn a gradient ``state`` (nb, 12) by pose and velocities at pose 0 into that by pose and momenta.

    After the solution of a problem at the node, with velocities and impulses in ``ws.velocity``, ``ws.multiplier``.
    Adds to ``carried`` (ns + 3 nk,), by the slips before, and to ``by``. ``ws.increment_body`` is then the gradient by
    momenta, ``ws.increment_row`` that by the rates of targets; ``ws.contacts.row`` and ``ws.contacts.given`` are
    written too.
    """
    contacts, nb = ws.contacts, plan.bodies.mass.size
    for i in range(nb):
        for c in range(6):
            ws.increment_body[i, c] = state[i, 6 + c]
    ws.increment_row[:] = 0.0
    mass_pivots(plan, ws.ldu.D)
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
    count = list_touching(plan, ws, ws.contacts.mode, carried)
    if count == NOBODY:
        return
    for m in range(count):
        k = contacts.inside[m]
        write_law(plan, ws, k)
        for a in range(3):
            contacts.given[k, a] = 0.0
            for c in range(12):
                contacts.row[k, a, c] = contacts.upper[k, a, c]
    if count > 0:
        solve_duals(plan, ws, work, StepSpan(0, 0, 0.0), count, ws.increment_body, ws.increment_row)
    curvature_of_rows_back(plan, ws, 0, state)
    add_node(plan, ws, 0, ws.increment_body, ws.increment_row, ws.velocity, ws.multiplier, by)
    for m in range(count):
        k = contacts.inside[m]
        pushes_back(plan, ws, 0, k, contacts.z[k], ws.increment_body, state)
        pushes_back(plan, ws, 0, k, contacts.given[k], ws.velocity, state)
        arm_numbers(plan, ws, 0, k, contacts.given[k], ws.velocity, by)
        add_law_numbers(plan, ws, k, ws.increment_body, by)
        if contacts.mode[k] == SLIDING and is_given(contacts, k):
            _direction_back(plan, ws, k, carried, state)
    for i in range(nb):
        for c in range(6):
            state[i, 6 + c] = ws.increment_body[i, c]
    for r in range(ws.increment_row.size):
        ws.increment_row[r] = -ws.increment_row[r]


@njit
def _direction_back(plan, ws, k, carried, state):
    """Add the gradient by the slip whose direction a contact that slides at a node has.

    That by the slip goes to ``carried``, that by the pose, at which its frame is, to ``state`` (nb, 12).
    """
    work, slip = ws.contacts, ws.contacts.slip[k]
    d, y, size = work.direction[k], work.change[k], math.sqrt(slip[0] ** 2 + slip[1] ** 2)
    pull = -plan.contacts.friction[k] * plan.contacts.mobility[k] * work.z[k, 0] / size
    along = y[1] * d[0] + y[2] * d[1]
    slip_back(plan, ws, k, 0, (pull * (y[1] - along * d[0]), pull * (y[2] - along * d[1])), carried, state)


@njit(seconds=3, what="derivatives of contacts")
def contact_event_back(plan, ws, work, events, j, state, carried, by):
    """Turn a gradient ``state`` (nb, 12) by pose and momenta after event j of contacts, and ``carried``, to before it.

    ``carried`` (ns + 3 nk,). Adds to ``by``; leaves the gradient by the rates of targets in ``ws.increment_row``.
    """
    acts, contacts = events.contacts, ws.contacts
    play_event(plan, ws, events, j)
    if acts.act[j] == PROJECTION:
        project_velocities(plan, ws, 0)
    else:
        _play_hit(plan, ws, acts, j)
    momenta_back(plan, ws.velocity, state, by)
    for k in range(contacts.closed.size):
        if acts.slips[j, k] != 0:
            _slip_after_back(plan, ws, k, state, carried, by)
        place = slip_place(ws, k)
        carried[place : place + 3] = 0.0
    solution_back(plan, ws, work, state, carried, by)
    if acts.act[j] != PROJECTION:
        _rebounds_back(plan, ws, acts, j, state, by)


@njit
def _slip_after_back(plan, ws, k, state, carried, by):
    """Add the gradient by the slip of contact k after an event, its rate across the normal, to ``state``.

    ``state`` (nb, 12): by pose and velocities at pose 0. The gradient by the slip is in ``carried`` (ns + 3 nk,).
    """
    place = slip_place(ws, k)
    by_slip = vector(carried[place : place + 3])
    if dot(by_slip, by_slip) == 0.0:
        return
    write_upper(plan, ws, 0, k)
    n, s, t = frame_of(plan, ws, k)
    first = rate_along(plan, ws.contacts.upper, k, 1, ws.velocity)
    second = rate_along(plan, ws.contacts.upper, k, 2, ws.velocity)
    share = (
        0.0,
        dot(s, by_slip) if abs(first) > PARTING * length_unit(plan) else 0.0,
        dot(t, by_slip) if abs(second) > PARTING * length_unit(plan) else 0.0,
    )
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i < plan.bodies.mass.size:
            for a in range(1, 3):
                add_scaled6(state[i, 6:], share[a], ws.contacts.upper[k, a, 6 * side : 6 * side + 6])
    pushes_back(plan, ws, 0, k, share, ws.velocity, state)
    arm_numbers(plan, ws, 0, k, share, ws.velocity, by)
    off = -dot(n, by_slip)
    frame_back(plan, ws, k, 0, (off * first, off * second), state)


@njit
def _play_hit(plan, ws, acts, j):
    """Solve the impact of event j again: velocities before it to ``ws.base``, after it to ``ws.velocity``.

    Both (nb, 6). Call after `play_event`; ``acts``: a `ContactEventTape`. Multipliers go to ``ws.multiplier`` and
    ``ws.increment_row`` (nr,). Sets ``taking``, ``sticking``, ``mode``, ``direction``, ``slip`` and ``bias`` of
    ``ws.contacts``.
    """
    contacts = ws.contacts
    _velocities_of(plan, ws.momentum, ws.base)
    for k in range(contacts.closed.size):
        contacts.taking[k], contacts.sticking[k], contacts.mode[k] = acts.taking[j, k] != 0, False, 0
        for a in range(3):
            contacts.bias[k, a] = 0.0
        for a in range(2):
            contacts.direction[k, a] = contacts.slip[k, a] = 0.0
        if contacts.taking[k]:
            write_upper(plan, ws, 0, k)
            contacts.slip[k, 0] = contacts.slip[k, 1] = 0.0
            contacts.bias[k, 0] = acts.restitution[j, k] * rate_along(plan, contacts.upper, k, 0, ws.base)
    copy_motions(ws.momentum, ws.increment_body)
    for r in range(ws.increment_row.size):
        ws.increment_row[r] = ws.efforts.target_rate[r]
    take_right_sides(ws)
    solve_at_node(plan, ws, 0)
    copy_motions(ws.increment_body, ws.velocity)
    for r in range(ws.multiplier.size):
        ws.multiplier[r] = ws.increment_row[r]


@njit
def _velocities_of(plan, momentum, velocity):
    """Write M^-1 ``momentum`` (nb, 6) to ``velocity`` (nb, 6)."""
    for i in range(plan.bodies.mass.size):
        J, p = plan.bodies.inverse_inertia[i], vector(momentum[i, 3:])
        for a in range(3):
            velocity[i, a] = momentum[i, a] / plan.bodies.mass[i]
            velocity[i, 3 + a] = J[a, 0] * p[0] + J[a, 1] * p[1] + J[a, 2] * p[2]


@njit
def _rebounds_back(plan, ws, acts, j, state, by):
    """Add the gradient by the rates of rebound in event j, rates before it times restitutions, to ``state`` and ``by``.

    ``state`` (nb, 12): by pose and momenta before the event. Call after `solution_back`. ``acts``: a
    `ContactEventTape`. Adds to ``by.contacts.restitution``, ``by.mass``, ``by.inertia`` and as `arm_numbers`.
    ``ws.goal`` and ``ws.residual_body`` are scratch.
    """
    contacts, nb = ws.contacts, plan.bodies.mass.size
    back, through = ws.goal, ws.residual_body
    back[:] = 0.0
    for k in range(contacts.closed.size):
        e = acts.restitution[j, k]
        if not contacts.taking[k] or e == 0.0:
            continue
        by_bias = contacts.given[k, 0]
        rate = rate_along(plan, contacts.upper, k, 0, ws.base)
        share = (e * by_bias, 0.0, 0.0)
        by.contacts.restitution[k] += by_bias * rate
        add_dual_rows(plan, ws, contacts.upper, k, share, back)
        pushes_back(plan, ws, 0, k, share, ws.base, state)
        arm_numbers(plan, ws, 0, k, share, ws.base, by)
    _velocities_of(plan, back, through)
    for i in range(nb):  # v = M^-1 p: what p, and M, give
        for a in range(3):
            by.mass[i] -= through[i, a] * ws.base[i, a]
            state[i, 6 + a] += through[i, a]
            state[i, 9 + a] += through[i, 3 + a]
            for b in range(3):
                by.inertia[i, a, b] -= through[i, 3 + a] * ws.base[i, 3 + b]


@njit(seconds=1, what="derivatives of contacts")
def contact_margin_at(plan, ws, events, j, state):
    """Write the gradient of the gap that is met in event j by pose and momenta to ``state`` (nb, 12)."""
    play_event(plan, ws, events, j)
    k = events.contacts.met[j]
    state[:] = 0.0
    for side in range(2):
        i = body_of_side(plan, k, side)
        for c in range(6 if i < plan.bodies.mass.size else 0):
            state[i, c] += gap_change(plan, ws, 0, k, UnitMotion(side, c))


@njit(seconds=1, what="derivatives of contacts")
def add_contact_margin_at(plan, ws, events, j, factor, by):
    """Add to ``by`` the derivatives of ``factor`` times the gap that is met in event j by its numbers.

    ``height`` and ``radius`` (np,), ``point`` (np, 3) of contacts with planes; a contact of shapes has none.
    """
    play_event(plan, ws, events, j)
    k = events.contacts.met[j]
    if feature_of(plan, k) >= 0:
        return
    by.contacts.height[k] -= factor
    by.contacts.radius[k] -= factor
    n, R = vector(plan.contacts.frame[k, 0]), ws.rotation[0, plan.contacts.body[k]]
    for m in range(3):
        by.contacts.point[k, m] += factor * (n[0] * R[0, m] + n[1] * R[1, m] + n[2] * R[2, m])
