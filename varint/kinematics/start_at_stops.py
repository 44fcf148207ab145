"""Hard stops in the state that a run starts from."""

import numpy as np

from varint.base.errors import StateError
from varint.kinematics.initial_state import largest_gap
from varint.model.state import State
from varint.plan import CompiledStructure
from varint.step.measures import ANGULAR


def check_stops(mechanism: CompiledStructure, state: State, gaps: np.ndarray) -> None:
    """Raise StateError if ``state`` lies beyond a hard stop; names stop, value and limit.

    ``gaps`` (nl,): of the limits of the plan, m or rad, below zero beyond. As far as joints may be open in a state to
    start from, it is on the limit.
    """
    if not gaps.size:
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
            f" {side} limit {limit:.9g} {unit}. Start within the limit, change the limit, or simulate in reduced"
            " coordinates (varint.redmax.simulate), where the stop comes back to its limit at the rate baumgarte"
        )
