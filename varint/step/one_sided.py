"""State of the one-sided rows of a plan, hard limits and hard contacts: sized, kept on a tape, set again."""

from varint.base.numba import njit
from varint.step.contacts.rows import has_contacts
from varint.step.contacts.tapes import contact_number_parts, contacts_state, keep_contacts, play_contacts, set_contacts
from varint.step.limits.parts import one_sided_number_parts, one_sided_state, set_one_sided
from varint.step.limits.rows import keep_one_sided, play_one_sided


@njit
def has_terms(plan):
    """Return whether runs of a plan may have events: it has hard limits or hard contacts."""
    return plan.limits.measure.size + plan.contacts.body.size > 0


def number_parts(plan):
    """Return arrays of zeros for gradients by numbers, by field name."""
    return one_sided_number_parts(plan) | contact_number_parts(plan)


def rows_state(ws):
    """Return a copy of the state of all rows."""
    return one_sided_state(ws), contacts_state(ws)


def set_rows(plan, ws, pose, state):
    """Go back to a `rows_state`, with the rows of limits at a pose."""
    rows, contacts = state
    set_one_sided(plan, ws, pose, rows)
    set_contacts(ws, contacts)


@njit
def keep_rows(plan, ws, at, k):
    """Keep the state as that of stage, or event, k of a tape: ``at`` is the tape, or its `Events`."""
    keep_one_sided(ws, at, k)
    if has_contacts(plan):
        keep_contacts(plan, ws, at.contacts, k)


@njit
def play_rows(plan, ws, at, k):
    """Go back to the state that `keep_rows` kept, with the rows at pose 0."""
    play_one_sided(plan, ws, at, k)
    if has_contacts(plan):
        play_contacts(plan, ws, at.contacts, k)
