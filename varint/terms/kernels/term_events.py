"""Operations of terms within a step: events at instants that are searched for, and their derivatives.

Each acts on all terms. Their events share one search, which is that of hard limits.
"""

from varint.terms.contacts.kernels.contact_events import LOWERED, PROJECTION
from varint.terms.contacts.kernels.contact_events_back import (
    add_contact_margin_at,
    contact_event_back,
    contact_margin_at,
    velocities_with_contacts_back,  # noqa: F401  # a gradient by velocities at a node to that by momenta
)
from varint.terms.contacts.kernels.contact_steps import solve_contacts  # noqa: F401  # a step with contacts
from varint.terms.limits.kernels.impact_derivatives import (  # noqa: F401
    add_one_sided_margin_at,
    event_ahead,  # changes of the state before an event to those after it; of limits
    one_sided_event_back,
    one_sided_margin_at,
)
from varint.terms.limits.kernels.impacts import (  # noqa: F401
    act_event,  # the event that was searched for
    begin_events,  # at the start of a step
    is_searching,  # whether an event is searched for
    judge_trial,  # accept the end of a trial, or say which share of the step to try next
    prepare_events,  # compile what steps call
    renew_events,  # within a step, where it goes on after an event
    retry_events,  # after a trial that was not solved
)
from varint.terms.limits.kernels.limit_parts import (  # noqa: F401
    is_release,  # whether an event is one that no change of the start takes off its instant
    one_sided_element_at,
    resting_at,  # elements whose rows take part after events on a tape
)
from varint.terms.limits.kernels.limits import leaps  # noqa: F401  # whether a step passed what nobody sees


def is_of_contact(events, j):
    """Whether event j of a tape is one of contacts."""
    return events.contacts.act[j] > 0


def begins_event(events, j):
    """Whether event j of a tape is the first that contacts do at an instant."""
    return events.contacts.act[j] == PROJECTION


def is_lowered(events, j):
    """Whether the rebounds of event j of a tape were lowered, so that they bring no energy in."""
    own = events.contacts
    return own.act[j] == LOWERED and own.restitution[j].any()


def element_at(plan, events, j):
    """Element of event j of a tape."""
    if is_of_contact(events, j):
        return int(plan.contacts.element[events.contacts.met[j]])
    return one_sided_element_at(plan, events, j)


def event_back(plan, ws, work, events, j, state, carried, by):
    """A gradient by the state after an event, and by what stages hand on, to that before it."""
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
