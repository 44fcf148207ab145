"""The state of the contacts before each stage and each event on the tape of a run, at its nodes, and gone back to."""

import numpy as np

from varint.base.numba import allocate, njit
from varint.mathematics.vectors import dot, vector
from varint.step.contacts.broad_phase import list_all
from varint.step.contacts.features import feature_of
from varint.step.contacts.records import ContactNumbers
from varint.step.contacts.rows import rest_on

AT_NODE = ("closed", "held_gap", "slip", "kind", "swapped", "place", "axis", "size", "slip_vector")


def contact_number_parts(plan):
    """Return the part of a gradient by the numbers of contacts, zero, by its name."""
    sizes = {"contacts": plan.contacts.body.size, "planes": plan.contacts.height.size}
    return {"contacts": allocate(ContactNumbers, sizes)}


def contacts_state(ws):
    """Return a copy of the state of the contacts at a node."""
    return tuple(getattr(ws.contacts, name).copy() for name in AT_NODE)


def set_contacts(ws, state):
    """Restore a `contacts_state`, and list all contacts."""
    for name, array in zip(AT_NODE, state, strict=True):
        getattr(ws.contacts, name)[:] = array
    list_all(ws)


def carried_of(plan) -> int:
    """Count the numbers that a stage hands on beside poses and momenta: variables of laws, slips of contacts."""
    return int(np.count_nonzero(plan.laws.state >= 0)) + 3 * plan.contacts.body.size


@njit
def keep_contacts(plan, ws, at, k):
    """Keep the state of the contacts as that of stage, or event, k on a tape.

    ``at`` (a `ContactTape`, or a `ContactEventTape`). Writes row k of ``at.closed``, ``at.mode``, ``at.held_gap``,
    ``at.slip`` (3,), m/s, world, and ``at.impulse`` (3,), N s, along the frame, of each contact, and of ``at.kind``,
    ``at.swapped``, ``at.place``, ``at.axis`` and ``at.size`` of each slot.
    """
    work = ws.contacts
    for c in range(work.closed.size):
        at.closed[k, c], at.mode[k, c], at.held_gap[k, c] = 1 if work.closed[c] else 0, work.mode[c], work.held_gap[c]
        f = feature_of(plan, c)
        still = work.slip[c, 0] == 0.0 and work.slip[c, 1] == 0.0
        for m in range(3):
            at.impulse[k, c, m] = work.z[c, m]
            slip = 0.0
            if not still:
                slip = work.slip_vector[f, m] if f >= 0 else _on_plane(plan, work, c, m)
            at.slip[k, c, m] = slip
    for f in range(work.kind.size):
        at.kind[k, f], at.swapped[k, f] = work.kind[f], 1 if work.swapped[f] else 0
        for side in range(2):
            at.size[k, f, side] = work.size[f, side]
            for m in range(3):
                at.place[k, f, side, m], at.axis[k, f, side, m] = work.place[f, side, m], work.axis[f, side, m]


@njit
def _on_plane(plan, work, c, m):
    """Return component m, world, of the slip of contact c with a plane, m/s."""
    frame = plan.contacts.frame[c]
    return work.slip[c, 0] * frame[1, m] + work.slip[c, 1] * frame[2, m]


@njit
def play_contacts(plan, ws, at, k):
    """Restore the state that `keep_contacts` kept, with the rows of closed contacts at pose 0 and their impulses.

    ``at`` (as there, a tape), ``k``: stage or event. Writes of ``ws.contacts`` ``closed``, ``held_gap``, ``slip`` of
    planes, ``slip_vector`` of shapes, ``z``, and the slots, ``kind``, ``swapped``, ``place``, ``axis`` and ``size``;
    ``share`` of friction becomes 1. All contacts are listed. What `rest_on` writes is written too.
    """
    work = ws.contacts
    for f in range(work.kind.size):
        work.kind[f], work.swapped[f] = at.kind[k, f], at.swapped[k, f] != 0
        for side in range(2):
            work.size[f, side] = at.size[k, f, side]
            for m in range(3):
                work.place[f, side, m], work.axis[f, side, m] = at.place[k, f, side, m], at.axis[k, f, side, m]
    for c in range(work.closed.size):
        f, slip = feature_of(plan, c), vector(at.slip[k, c])
        work.closed[c], work.held_gap[c] = at.closed[k, c] != 0, at.held_gap[k, c]
        for m in range(3 if f >= 0 else 0):
            work.slip_vector[f, m] = slip[m]
        for a in range(2 if f < 0 else 0):
            work.slip[c, a] = dot(slip, vector(plan.contacts.frame[c, 1 + a]))
    list_all(ws)
    rest_on(plan, ws, 0)
    work.share[0] = 1.0
    for c in range(work.closed.size):
        for a in range(3 if work.closed[c] else 0):
            work.z[c, a] = at.impulse[k, c, a]
