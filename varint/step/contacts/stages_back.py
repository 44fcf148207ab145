"""Gradients back through a stage of a run with contacts, and what they have by the numbers of contacts."""

import math

from varint.base.numba import Float1, Float2, indirect, njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.step.contacts.adjoint import (
    NOBODY,
    add_dual_rows,
    frame_back,
    friction_direction,
    is_given,
    list_touching,
    pushes_back,
    sliding_terms,
    slip_back,
    slip_place,
    solve_duals,
    write_law,
)
from varint.step.contacts.changes import (
    UnitMotion,
    across,
    body_of_side,
    frame_of,
    slip_by_size,
    slip_by_start,
    write_step_rows,
)
from varint.step.contacts.cones import SLIDING, STICKING
from varint.step.contacts.features import feature_of
from varint.step.contacts.rows import STILL
from varint.step.intervals import StepSpan
from varint.step.plan import ByNumbers, Plan, Tangent, Tape, Workspace
from varint.step.sizes import length_unit


@indirect(seconds=6, what="derivatives of contacts")
def stage_back(
    plan: Plan, ws: Workspace, tape: Tape, work: Tangent, stage: int, step: StepSpan, carried: Float1,
    body: Float2, row: Float1, by: ByNumbers,
) -> None:  # fmt: skip
    """Complete x = A^-T g in ``body`` (nb, 6), ``row`` (nr,) by the contacts of a stage that is on the tape.

    Adds to ``work.start``, ``work.end`` and ``by``, whose ``by.h`` (stages,) is the gradient by the sizes of stages.
    ``carried`` (ns + 3 nk,): the gradient by what the stage hands on; that by what it was handed goes to
    ``work.state``. ``ws.contacts.mode`` becomes that of the tape.
    """
    contacts = ws.contacts
    work.state[ws.efforts.state.size :] = 0.0
    count = list_touching(plan, ws, tape.contacts.mode[stage], carried)
    if count == NOBODY:
        return
    for m in range(count):
        k = contacts.inside[m]
        contacts.mode[k] = tape.contacts.mode[stage, k]
        write_law(plan, ws, k)
        write_step_rows(plan, ws, step, k)
        _take_slip(plan, ws, k, carried, work.start)
    if count == 0:
        return
    solve_duals(plan, ws, work, step, count, body, row)
    for m in range(count):
        k = contacts.inside[m]
        by_rate = (contacts.given[k, 0], contacts.given[k, 1], contacts.given[k, 2])
        add_dual_rows(plan, ws, contacts.lower, k, by_rate, work.end)
        pushes_back(plan, ws, 0, k, contacts.z[k], body, work.start)
        along = across(plan, ws, k, by_rate[1], by_rate[2])
        for side in range(2):
            i = body_of_side(plan, k, side)
            for c in range(6 if i < plan.bodies.mass.size else 0):
                work.start[i, c] += slip_by_start(plan, ws, step, k, along, UnitMotion(side, c))
        by.h[stage] += slip_by_size(plan, ws, step, k, along)
        _before_back(plan, ws, k, work.state, work.start)
        _step_numbers(plan, ws, step, k, by)
        add_law_numbers(plan, ws, k, body, by)


@njit
def _take_slip(plan, ws, k, carried, state):
    """Write the gradient by the rates of contact k, of the slip that it hands on, to ``ws.contacts.given``.

    ``carried`` (ns + 3 nk,) has the gradient by the slip, world; ``state`` (nb, 12) takes its part by the frame.
    """
    work, place = ws.contacts, slip_place(ws, k)
    for a in range(3):
        work.given[k, a] = 0.0
    if work.mode[k] == STICKING or math.sqrt(work.rate[k, 1] ** 2 + work.rate[k, 2] ** 2) <= STILL * length_unit(plan):
        return
    by_slip = vector(carried[place : place + 3])
    n, s, t = frame_of(plan, ws, k)
    work.given[k, 1], work.given[k, 2] = dot(s, by_slip), dot(t, by_slip)
    off = -dot(n, by_slip)
    frame_back(plan, ws, k, 0, (off * work.rate[k, 1], off * work.rate[k, 2]), state)


@njit
def _before_back(plan, ws, k, carried, state):
    """Add the gradient by the slip before the stage to ``carried``, and its part by the start pose to ``state``."""
    work = ws.contacts
    if work.mode[k] != SLIDING or is_given(work, k) or plan.contacts.friction[k] == 0.0:
        return
    _, _, by_before, _ = sliding_terms(plan, work, k)
    y = work.change[k]
    first = -(y[1] * by_before[0] + y[2] * by_before[2])
    slip_back(plan, ws, k, 0, (first, -(y[1] * by_before[1] + y[2] * by_before[3])), carried, state)


@njit
def _step_numbers(plan, ws, step, k, by):
    """Add the gradient by radius, height and point of a contact with a plane, of its rates over a step, to ``by``.

    To ``by.contacts.radius``, ``by.contacts.height`` and ``by.contacts.point``.
    """
    if feature_of(plan, k) >= 0:
        return
    start, end, h = step.upper, step.end, step.h
    i, rate = plan.contacts.body[k], ws.contacts.given[k]
    (n, s, t), R, Q = frame_of(plan, ws, k), ws.rotation[start, i], ws.rotation[end, i]
    along = add(scale(rate[1], s), scale(rate[2], t))
    spin = rotate(R, vector(ws.velocity[i, 3:]))
    by.contacts.height[k] -= rate[0] / h
    by.contacts.radius[k] -= rate[0] / h + dot(cross(n, along), spin)
    moved = sub(rotate_back(Q, add(scale(rate[0], n), along)), rotate_back(R, along))
    for m in range(3):
        by.contacts.point[k, m] += moved[m] / h


@njit
def add_law_numbers(plan, ws, k, vectors, by):
    """Add the gradient by friction, and by radius and point through the arm of the impulses, to ``by``.

    ``vectors`` (nb, 6): the duals of the balance of momenta. To ``by.contacts.friction`` and as `arm_numbers`.
    """
    work, mobility = ws.contacts, plan.contacts.mobility[k]
    z, y = work.z[k], work.change[k]
    along = friction_direction(plan, work, k)
    by.contacts.friction[k] += mobility * z[0] * (y[1] * along[0] + y[2] * along[1])
    arm_numbers(plan, ws, 0, k, z, vectors, by)


@njit
def arm_numbers(plan, ws, pose, k, share, vectors, by):
    """Add the gradient of sum_a ``share[a]`` ``upper[k, a]`` . ``vectors`` (nb, 6) by radius and point to ``by``.

    To ``by.contacts.radius`` and ``by.contacts.point``; a contact of shapes has none.
    """
    if feature_of(plan, k) >= 0:
        return
    i, (n, s, t) = plan.contacts.body[k], frame_of(plan, ws, k)
    push = add(scale(share[0], n), add(scale(share[1], s), scale(share[2], t)))
    lever = cross(push, rotate(ws.rotation[pose, i], vector(vectors[i, 3:])))  # (arm x push) . turn = arm . lever
    by.contacts.radius[k] -= dot(n, lever)
    turned = rotate_back(ws.rotation[pose, i], lever)
    for m in range(3):
        by.contacts.point[k, m] += turned[m]
