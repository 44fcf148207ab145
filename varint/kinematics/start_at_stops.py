"""Hard stops in the state that a run starts from."""

from collections.abc import Iterable
from itertools import product

import numpy as np

from varint.base.errors import ConvergenceError, StateError
from varint.kinematics.initial_state import largest_gap
from varint.model.forces.base import Effort
from varint.model.state import COME_BACK, REFUSE, State
from varint.plan import CompiledStructure


def check_stops(mechanism: CompiledStructure, state: State, gaps: np.ndarray, with_joints: bool = False) -> None:
    """Raise StateError if ``state`` lies beyond a hard stop, unless it may come back; names stop, value and limit.

    ``gaps`` (nl,): of the limits of the plan, m or rad, below zero beyond. As far as joints may be open in a state to
    start from, it is on the limit. ``with_joints``: whether stops have their joints beside them. Raises
    ConvergenceError for a start that may come back, where two stops leave no value of a coordinate.
    """
    compiled, limits = mechanism.compiled, mechanism.compiled.plan.limits
    if gaps.size and state.beyond_stops == COME_BACK:
        _check_room(mechanism, with_joints)
    if not gaps.size or state.beyond_stops == COME_BACK:
        return
    angular = np.array([is_angle(mechanism, compiled.force[e]) for e in limits.element], dtype=bool)
    tolerance = largest_gap(mechanism, state.position) / np.where(angular, compiled.length, 1.0)
    for n in np.flatnonzero(~(gaps >= -tolerance)).tolist():
        stop = mechanism.forces[compiled.force[limits.element[n]]]
        unit, side = "rad" if angular[n] else "m", "upper" if limits.sign[n] > 0 else "lower"
        limit = float(limits.value[n])
        value = limit - float(limits.sign[n] * gaps[n])
        raise StateError(
            f"{stop.label} does not allow this start: it is at {value:.9g} {unit}, by {-gaps[n]:.3g} {unit} beyond the"
            f" {side} limit {limit:.9g} {unit}. Start within the limit, change the limit, or give the state by"
            f" mechanism.state(..., beyond_stops={COME_BACK!r}): then the stop lets it come back. The start= of a"
            " mechanism, and of its file, has to lie within the limits"
        )


def cannot_come_back(labels: Iterable[str]) -> str:
    """Return the reason why a step fails where stops and contacts of these ``labels`` hold the start back."""
    return f"a start beyond a stop cannot come back: no motion obeys all of {', '.join(labels)} at once"


def is_angle(mechanism: CompiledStructure, force: int) -> bool:
    """Return whether the stop of that number is one of an angle, whose unit is rad, else m."""
    efforts = [element for element in mechanism.elements[force] if isinstance(element, Effort)]
    return any(measure.angular for effort in efforts for measure in effort.measures)


def _check_room(mechanism: CompiledStructure, with_joints: bool) -> None:
    """Raise ConvergenceError if a lower limit of a measure is above an upper one."""
    compiled = mechanism.compiled
    limits = compiled.plan.limits
    for low, high in product(np.flatnonzero(limits.sign < 0.0), np.flatnonzero(limits.sign > 0.0)):
        if limits.measure[low] == limits.measure[high] and limits.value[low] > limits.value[high]:
            stops = [mechanism.forces[compiled.force[limits.element[n]]] for n in sorted((low, high))]
            joints = [f" on joint '{stop.joint}'" if with_joints and hasattr(stop, "joint") else "" for stop in stops]
            labels = [stop.label + joint for stop, joint in zip(stops, joints, strict=True)]
            reason = f"the step at t = 0 s could not be solved: {cannot_come_back(labels)}"
            raise ConvergenceError(reason, time=0.0, body=None, joint=None, trajectory=None)


def stops_settings(state: object) -> dict[str, str]:
    """Return the entry of the settings of a run whose ``state`` at the start may come back from beyond stops, or {}."""
    beyond_stops = getattr(state, "beyond_stops", REFUSE)
    return {} if beyond_stops == REFUSE else {"beyond_stops": beyond_stops}
