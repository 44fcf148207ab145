"""Operations of terms within a step: events at instants that are searched for, and their derivatives.

Each acts on all terms. Their events share one search, which is that of hard limits; contacts have no derivatives.
"""

from varint.terms.contacts.kernels.contact_steps import solve_contacts  # noqa: F401  # a step with contacts
from varint.terms.limits.kernels.impact_derivatives import (  # noqa: F401
    add_margin_at,  # add the derivatives of the margin at an event by numbers
    event_ahead,  # changes of the state before an event to those after it
    event_back,  # a gradient by the state after an event to that before it
    margin_at,  # the gradient of the margin, which is zero at an event
)
from varint.terms.limits.kernels.impacts import (  # noqa: F401
    act_event,  # the event that was searched for
    begin_events,  # at the start of a step
    end_search,  # give up the search for an event
    is_searching,  # whether an event is searched for
    judge_trial,  # accept the end of a trial, or say which share of the step to try next
    prepare_events,  # compile what steps call
    renew_events,  # within a step, where it goes on after an event
)
from varint.terms.limits.kernels.limit_parts import (  # noqa: F401
    element_at,  # of an event on a tape
    is_release,  # whether an event is one that no change of the start takes off its instant
    resting_at,  # elements whose rows take part after events on a tape
)
from varint.terms.limits.kernels.limits import leaps  # noqa: F401  # whether a step passed what nobody sees
