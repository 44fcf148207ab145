"""Operations of terms in reduced coordinates: events within a step, and efforts between them.

The events of `Equations` are an object with `begin`, `margins`, `look`, `settle`, `acceleration`, `efforts`: of hard
limits alone, or of hard contacts and these.
"""

from varint.redmax.equations import Equations
from varint.terms.contacts.reduced_contacts import ContactEvents
from varint.terms.limits.stop_events import (  # noqa: F401
    Event,  # the share of a step after which there is one
    step_of_one_size,  # a step that is cut at events
    step_with_error_control,  # a step that ends at an event
)
from varint.terms.limits.stops import TOUCHING
from varint.terms.limits.stops import Stops as OneSidedEvents

ReducedEvents = OneSidedEvents | ContactEvents


def events_of(equations: Equations, rest: float = TOUCHING, by_rates: bool = False) -> ReducedEvents | None:
    """Events of ``equations``, None where there are none; ``rest``, m or rad: a rebound that rises by less closes.

    ``by_rates``: the integrator keeps rows of limits in contact by rates, not by accelerations.
    """
    plan = equations.compiled.plan
    if plan.contacts.body.size:
        return ContactEvents(equations, rest)
    return OneSidedEvents(equations, rest, by_rates) if plan.limits.measure.size else None
