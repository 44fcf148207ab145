"""Derivatives of the events on a tape, of hard limits and of hard contacts, under one number."""

from varint.step.contacts.events import LOWERED, PROJECTION
from varint.step.contacts.events_back import add_contact_margin_at, contact_event_back, contact_margin_at
from varint.step.limits.impact_derivatives import add_one_sided_margin_at, one_sided_event_back, one_sided_margin_at
from varint.step.limits.parts import one_sided_element_at


def is_of_contact(events, j):
    """Return whether event j of a tape is one of contacts."""
    return events.contacts.act[j] > 0


def begins_event(events, j):
    """Return whether event j of a tape is the first that contacts do at an instant."""
    return events.contacts.act[j] == PROJECTION


def is_lowered(events, j):
    """Return whether the rebounds of event j of a tape were lowered, so that they bring no energy in."""
    contacts = events.contacts
    return contacts.act[j] == LOWERED and contacts.restitution[j].any()


def is_together(events, j):
    """Return whether several limits have an impact at once in event j of a tape."""
    return events.limits.together[j] > 0


def element_at(plan, events, j):
    """Return the element of event j of a tape."""
    if is_of_contact(events, j):
        return int(plan.contacts.element[events.contacts.met[j]])
    return one_sided_element_at(plan, events, j)


def event_back(plan, ws, work, events, j, state, carried, by):
    """Take a gradient by the state after an event back to the state before it, in place.

    ``state`` (nb, 12); ``carried``: by the states of laws and slips that stages hand on; ``by``: a `ByNumbers`, added
    to.
    """
    if is_of_contact(events, j):
        contact_event_back(plan, ws, work, events, j, state, carried, by)
    else:
        one_sided_event_back(plan, ws, events, j, state, by)


def margin_at(plan, ws, events, j, state):
    """Write the gradient of the margin, which is zero at an event, to ``state`` (nb, 12)."""
    (contact_margin_at if is_of_contact(events, j) else one_sided_margin_at)(plan, ws, events, j, state)


def add_margin_at(plan, ws, events, j, factor, by):
    """Add the derivatives of ``factor`` times the margin at an event by numbers to ``by``."""
    (add_contact_margin_at if is_of_contact(events, j) else add_one_sided_margin_at)(plan, ws, events, j, factor, by)
