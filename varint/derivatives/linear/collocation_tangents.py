"""Changes of the state carried along steps of collocation, by the transposed derivative of these steps.

Coordinates at the end are taken back to the start, all at once (derivatives/collocation/): their gradients there, times
the changes at the start, are the changes of the coordinates at the end.
"""

from dataclasses import replace

import numpy as np

from varint.derivatives.along_run import go_back
from varint.derivatives.backward import adjoints_of, momentum_of, velocity_of
from varint.derivatives.collocation.adjoint import CollocationAdjoint
from varint.derivatives.collocation.tape import CollocationTape
from varint.derivatives.linear.candidates import Candidates
from varint.derivatives.linear.minimal_coordinates import Coordinates
from varint.derivatives.linear.placed_state import PlacedState
from varint.derivatives.linear.step_tangents import TangentRun
from varint.derivatives.taped import TapeSetting
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.method import Variational
from varint.methods.variational.schemes import Scheme
from varint.methods.variational.schemes import scheme as find_scheme
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.forces import check_laws
from varint.runs.method import Method


class CollocationTangents:
    """Steps of `Lobatto` whose derivatives are known; see `TangentRun`, whose methods it has.

    Each call that takes steps begins at t = 0: inputs by time are shifted by the caller.
    """

    rests: str | None = None  # stops are refused
    _coordinates: Coordinates | None

    def __init__(self, mechanism: Mechanism, method: Lobatto, state: State, dt: float) -> None:
        refuse(mechanism, USES["collocation tangents"])
        method.check(mechanism)
        self.mechanism, self.compiled = mechanism, mechanism.compiled
        self.method, self.dt = replace(method, dt=dt), dt
        self._node = PlacedState(mechanism)
        self.restart(state)

    @property
    def candidates(self) -> Candidates:
        """See `TangentRun`."""
        return self._node.candidates

    @property
    def momentum(self) -> np.ndarray:
        """Momenta (nb, 6) at the present node, N s, world, and N m s, body axes, in kernel order."""
        return self._node.ws.momentum

    def restart(self, state: State) -> None:
        """See `TangentRun`."""
        check_laws(self.mechanism, state)
        self._place(state)

    def _place(self, state: State) -> None:
        self._state, self._coordinates = state, None
        self._node.place(state)

    def state(self) -> State:
        """See `TangentRun`."""
        return self._state

    def coordinates(self) -> Coordinates:
        """See `TangentRun`."""
        if self._coordinates is None:
            self._coordinates = self._node.coordinates()
        return self._coordinates

    def along(self, coordinates: Coordinates) -> np.ndarray:
        """See `TangentRun`."""
        return self._node.along(coordinates)

    def march_on(self, steps: int) -> None:
        """See `TangentRun`."""
        # the scheme is a place holder: a `CollocationTape` steps by its method
        setting = TapeSetting(find_scheme(2), self.dt, 0.0, steps, end=steps * self.dt)
        self._tape = CollocationTape(self.mechanism, self._state, setting, [steps], self.method)
        self._place(self._tape.nodes[-1].state)

    def advance(self, steps: int, changes: np.ndarray) -> np.ndarray:
        """See `TangentRun`."""
        self.march_on(steps)
        return self.carried(changes, (np.zeros(0, dtype=np.int64), np.zeros(0)))

    def carry(self, steps: int, changes: np.ndarray) -> None:
        """See `TangentRun`."""
        bodies, order, slot = self.compiled.plan.bodies, self.compiled.order, self.compiled.slot
        velocities = np.array([np.hstack([each[:, :6], velocity_of(bodies, each[:, 6:])])[slot] for each in changes])
        after = self.advance(steps, velocities.reshape(changes.shape))[:, order]
        for change, each in zip(changes, after, strict=True):
            change[:, :6], change[:, 6:] = each[:, :6], momentum_of(bodies, each[:, 6:])

    def carried(self, changes: np.ndarray, inputs: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """See `TangentRun`; ``changes`` keep to the joints. Of ``inputs`` the elements matter alone."""
        about, nb = self.coordinates(), len(self.mechanism.bodies)
        if not len(changes) + len(inputs[0]):
            return np.zeros((0, nb, 12))
        units = np.eye(12 * nb).reshape(-1, nb, 12)
        rows = about.read_changes(self._state, units).reshape(-1, 1, nb, 12)
        if not len(rows):
            return np.zeros((len(changes) + len(inputs[0]), nb, 12))
        adjoints = adjoints_of(self._tape, rows, {}, CollocationAdjoint)
        for adjoint in adjoints:
            adjoint.by.wanted[0] = False
        go_back(self._tape, adjoints, [])
        by_start = np.array([adjoint.by_first_state() for adjoint in adjoints])
        by_input = np.array([np.asarray(adjoint.given.value[0])[inputs[0]] for adjoint in adjoints])
        of_coordinates = np.concatenate([np.tensordot(changes, by_start, ((1, 2), (1, 2))), by_input.T])
        return np.tensordot(of_coordinates, self.along(about), 1)


def kind_of(method: object) -> type[Method]:
    """Return the class of methods that a study of tangents supports: `Lobatto` for one of these, else `Variational`."""
    return Lobatto if isinstance(method, Lobatto) else Variational


def steps_of(method: Variational | Lobatto) -> Scheme | Lobatto:
    """Return the scheme of a `Variational`, or the `Lobatto` itself, for `tangents_of`."""
    return method if isinstance(method, Lobatto) else find_scheme(method.order, method.scheme)


def tangents_of(
    mechanism: Mechanism, method: Scheme | Lobatto, state: State, dt: float, steps: int
) -> TangentRun | CollocationTangents:
    """Return the derivatives of up to ``steps`` steps of a method from ``state``; see `TangentRun` for errors."""
    if isinstance(method, Lobatto):
        return CollocationTangents(mechanism, method, state, dt)
    return TangentRun(mechanism, method, state, dt, steps)
