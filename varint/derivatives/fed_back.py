"""Inputs that are functions of the state, in the gradient of a run: each ties the step from a node to its state."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from varint.base.errors import MechanismError
from varint.derivatives.numbers import OTHER_PARTS
from varint.derivatives.objective import ByStates, by_states
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.plan import Compiled
from varint.results.inputs.at_nodes import called, is_controlled


class FedBack:
    """The functions of the state that command forces of a run, which are held over each step.

    Parameters
    ----------
    mechanism : Mechanism
    compiled : Compiled
    duration : float
        Of the run, s.

    Attributes
    ----------
    elements : (c,) int
        That they command.
    """

    def __init__(self, mechanism: Mechanism, compiled: Compiled, duration: float) -> None:
        numbers = compiled.force.tolist()
        self.elements = np.flatnonzero([is_controlled(mechanism.forces[k]) for k in numbers])
        self._numbers = [numbers[e] for e in self.elements]
        self._forces = [mechanism.forces[k] for k in self._numbers]
        self._length, self._duration = compiled.length, duration
        self._known: dict[int, ByStates] = {}

    def __bool__(self) -> bool:
        return bool(self._forces)

    def by_state(self, node: int, t: float, state: State) -> ByStates:
        """Values (c,) and derivatives by the state of a node, as of an objective; raises ArgumentError."""
        if node not in self._known:
            found = [self._derivative(force, t, state) for force in self._forces]
            values = np.array([each.value for each in found])
            by_bodies, by_vertices = (np.concatenate([each[part] for each in found]) for part in (1, 2))
            self._known[node] = ByStates(values, by_bodies, by_vertices)
        return self._known[node]

    def _derivative(self, force: Force, t: float, state: State) -> ByStates:
        assert isinstance(force, Commanded)

        def value(state: State) -> float:
            return called(force, t, state)

        own = getattr(force.input, "gradient", None)
        if own is not None:
            value.gradient = partial(own, t) if callable(own) else own  # type: ignore[attr-defined]
        what = f"{force.command_name} of {force.label}"
        return by_states(value, [state], True, self._length, self._duration, what)

    def changes(self, mechanism: Mechanism, states: Sequence[State], times: np.ndarray, share: float) -> np.ndarray:
        """(T, c) changes of the inputs at ``states`` and ``times`` (T,), s, in another mechanism.

        Its steps are longer by a ``share`` of theirs, and so are the times. Raises MechanismError where the functions
        command other forces.
        """
        found = np.zeros((len(states), len(self._forces)))
        for n, (k, force) in enumerate(zip(self._numbers, self._forces, strict=True)):
            other = mechanism.forces[k]
            if not is_controlled(other) or other.name != force.name:
                raise MechanismError(OTHER_PARTS)
            if not share and _input_of(other) is _input_of(force):
                continue
            for i, (t, state) in enumerate(zip(times.tolist(), states, strict=True)):
                found[i, n] = called(other, t * (1.0 + share), state) - called(force, t, state)
        return found


def _input_of(force: Force) -> Callable | np.ndarray | None:
    assert isinstance(force, Commanded)
    return force.input
