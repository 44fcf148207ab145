"""Operations of terms in reduced coordinates: events within a step, and efforts between them.

The events of `Equations` are an object with `margins`, `look`, `settle`, `efforts`; there is one term that has any so
far, whose these are.
"""

from varint.terms.limits.stop_events import (  # noqa: F401
    Event,  # the share of a step after which there is one
    step_of_one_size,  # a step that is cut at events
    step_with_error_control,  # a step that ends at an event
)
from varint.terms.limits.stops import Stops as ReducedEvents  # noqa: F401
from varint.terms.limits.stops import stops_of as events_of  # noqa: F401  # None for equations without
