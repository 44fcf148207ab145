"""Mechanisms whose inputs go by a clock that is set anew for each of several runs."""

from dataclasses import dataclass, replace
from typing import Any

from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.known_forces import USES, refuse


@dataclass
class Clock:
    """Shows ``start + direction * t`` at the time ``t`` of a run, s."""

    start: float = 0.0
    direction: float = 1.0

    def __call__(self, t: float) -> float:
        return self.start + self.direction * t


def by_clock(mechanism: Mechanism, clock: Clock) -> Mechanism:
    """Return the mechanism with inputs that, as functions of time, are evaluated at the time of the ``clock``.

    Raises ArgumentError for forces that depend on more than time and state, so that no run can begin within another.
    """
    refuse(mechanism, USES["runs within"])
    if not any(isinstance(force, Commanded) and callable(force.input) for force in mechanism.forces):
        return mechanism
    return replace(mechanism, forces=[_by_clock(force, clock) for force in mechanism.forces])


def _by_clock(force: Force, clock: Clock) -> Force:
    if not isinstance(force, Commanded) or not callable(force.input):
        return force
    function = force.input

    def of_time(t: float) -> float:
        return function(clock(t))

    def of_state(t: float, state: Any) -> float:
        return function(clock(t), state)

    takes_time_alone = force.of_time or bool(force.constraint)  # motions are functions of time
    other: dict[str, Any] = {force.command_name: of_time if takes_time_alone else of_state}
    return replace(force, **other)
