"""Hard stops in the state that a run starts from."""

import numpy as np

from varint.base.errors import StateError
from varint.kinematics.initial_state import largest_gap
from varint.model.state import COME_BACK, REFUSE, State
from varint.plan import CompiledStructure
from varint.step.measures import ANGULAR


def check_stops(mechanism: CompiledStructure, state: State, gaps: np.ndarray) -> None:
    """Raise StateError if ``state`` lies beyond a hard stop, unless it may come back; names stop, value and limit.

    ``gaps`` (nl,): of the limits of the plan, m or rad, below zero beyond. As far as joints may be open in a state to
    start from, it is on the limit.
    """
    if not gaps.size or state.beyond_stops == COME_BACK:
        return
    compiled = mechanism.compiled
    limits, kinds = compiled.plan.limits, compiled.plan.measures.kind
    angular = ANGULAR[kinds[limits.measure]]
    tolerance = largest_gap(mechanism, state) / np.where(angular, compiled.length, 1.0)
    for n in np.flatnonzero(~(gaps >= -tolerance)).tolist():
        stop = mechanism.forces[compiled.force[limits.element[n]]]
        unit, side = "rad" if angular[n] else "m", "upper" if limits.sign[n] > 0 else "lower"
        limit = float(limits.value[n])
        value = limit - float(limits.sign[n] * gaps[n])
        raise StateError(
            f"{stop.label} does not allow this start: it is at {value:.9g} {unit}, by {-gaps[n]:.3g} {unit} beyond the"
            f" {side} limit {limit:.9g} {unit}. Start within the limit, change the limit, or give the state by"
            f" mechanism.state(..., beyond_stops={COME_BACK!r}): then the stop lets it come back"
        )


def stops_settings(state: object) -> dict[str, str]:
    """Return the entry of the settings of a run whose ``state`` at the start may come back from beyond stops, or {}."""
    beyond_stops = getattr(state, "beyond_stops", REFUSE)
    return {} if beyond_stops == REFUSE else {"beyond_stops": beyond_stops}
