"""The events of a mechanism in reduced coordinates, by what its plan has.

They are an object with `begin`, `margins`, `look`, `settle`, `acceleration` and `efforts`: of hard stops alone, or of
hard contacts with the stops beside them.
"""

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.contacts import ContactEvents
from varint.methods.reduced.events.stops import TOUCHING
from varint.methods.reduced.events.stops import Stops as OneSidedEvents

ReducedEvents = OneSidedEvents | ContactEvents


def events_of(equations: Equations, rest: float = TOUCHING, by_rates: bool = False) -> ReducedEvents | None:
    """Return the events of ``equations``, or None if they have no hard limits and contacts.

    ``rest``, in `Stops.unit`: a rebound that rises by less closes. ``by_rates``: the integrator keeps rows of limits in
    contact by rates, not by accelerations.
    """
    plan = equations.compiled.plan
    if plan.contacts.body.size:
        return ContactEvents(equations, rest)
    return OneSidedEvents(equations, rest, by_rates) if plan.limits.measure.size else None
