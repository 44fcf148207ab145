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
    """The functions of the state that command forces of a run; their values are held over each step.

    Parameters
    ----------
    mechanism : Mechanism
    compiled : Compiled
    duration : float
        Duration of the run, s.

    Attributes
    ----------
    elements : (c,) int
        The elements that they command.
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
        """Return the values (c,) at ``node``, at time ``t``, s, and their derivatives by the ``state`` there.

        Raises ArgumentError as for an objective.
        """
        if node not in self._known:
            inputs = [self._derivative(force, t, state) for force in self._forces]
            values = np.array([each.value for each in inputs])
            by_bodies, by_vertices = (np.concatenate([each[part] for each in inputs]) for part in (1, 2))
            self._known[node] = ByStates(values, by_bodies, by_vertices)
        return self._known[node]

    def _derivative(self, force: Force, t: float, state: State) -> ByStates:
        """Return value and derivatives of the input of ``force``, see `by_state`."""
        assert isinstance(force, Commanded)

        def value(state: State) -> float:
            return called(force, t, state)

        gradient = getattr(force.input, "gradient", None)
        if gradient is not None:
            value.gradient = partial(gradient, t) if callable(gradient) else gradient  # type: ignore[attr-defined]
        label = f"{force.command_name} of {force.label}"
        return by_states(value, [state], True, self._length, self._duration, label)

    def changes(self, mechanism: Mechanism, states: Sequence[State], times: np.ndarray, share: float) -> np.ndarray:
        """Return the changes (T, c) of the inputs at ``states`` and ``times`` (T,), s, in another ``mechanism``.

        Its times are longer by the factor 1 + ``share``. Raises MechanismError if its functions command other forces.
        """
        changes = np.zeros((len(states), len(self._forces)))
        for n, (k, force) in enumerate(zip(self._numbers, self._forces, strict=True)):
            other = mechanism.forces[k]
            if not is_controlled(other) or other.name != force.name:
                raise MechanismError(OTHER_PARTS)
            if not share and _input_of(other) is _input_of(force):
                continue
            for i, (t, state) in enumerate(zip(times.tolist(), states, strict=True)):
                changes[i, n] = called(other, t * (1.0 + share), state) - called(force, t, state)
        return changes


def _input_of(force: Force) -> Callable | np.ndarray | None:
    assert isinstance(force, Commanded)
    return force.input
