"""External inputs of a mechanism, as functions of time: loads on bodies and commands of forces."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.plan import Compiled
from varint.results.inputs.at_nodes import Commands, Loads, called, is_controlled
from varint.results.inputs.courses import Course, value_at


class InputsAtTimes:
    """Loads and commands between the nodes t = 0, dt, ...: linear.

    Parameters
    ----------
    mechanism : Mechanism
    compiled : Compiled
        With the forces.
    steps, dt : int, float
        Number of steps between nodes and their size, s.
    force, torque : dict, optional
        As in `varint.simulate`.
    motions : dict, optional
        Joint name to the course that a force prescribes.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        compiled: Compiled,
        steps: int,
        dt: float,
        force: Mapping[str, ArrayLike] | None = None,
        torque: Mapping[str, ArrayLike] | None = None,
        motions: Mapping[str, Course] | None = None,
    ) -> None:
        self.mechanism, self.compiled, self.steps, self.dt = mechanism, compiled, steps, dt
        self.loads = Loads(mechanism, compiled, steps, force, torque)
        self.commands = Commands(mechanism, compiled, steps, dt)
        forces = ((f, mechanism.forces[k]) for f, k in enumerate(compiled.force))
        driven = [(f, force) for f, force in forces if isinstance(force, Commanded) and force.constant_rate is not None]
        self.steady = [
            (f, motions[force.joint]) for f, force in driven if isinstance(force, AlongCoordinate) and motions
        ]
        self.called = [(f, k) for f, k in enumerate(compiled.force) if is_controlled(mechanism.forces[k])]

    @property
    def varies(self) -> bool:
        """Return whether an input changes with time, or with the state of the mechanism."""
        return bool(self.loads.varies or self.commands.varies or self.steady or self.called)

    def arrays(self) -> list[np.ndarray]:
        """Return the inputs except functions as arrays, by which a resumed run is recognised."""
        return [*self.loads.arrays(), *self.commands.arrays()]

    def load(self, t: float) -> np.ndarray:
        """Return the load (nb, 6) in kernel order: force, N, world, and torque, N m, body axes."""
        if not self.loads.varies:
            return self.loads.constant
        left, share = self.place(t)
        before, after = self.loads.at(np.array([left, left + 1]))
        return self.loads.constant + ((1.0 - share) * before + share * after)

    def command(self, t: float, state: Callable[[], State]) -> np.ndarray:
        """Return the inputs (nf,) of the laws; ``state``: makes the `State` for functions that command forces."""
        command = self.commands.between(*self.place(t))
        for f, force in (*self.commands.functions, *self.commands.of_time):
            command[f] = value_at(force, t)
        for f, motion in self.steady:
            command[f] = motion(t)[0, 0]
        if self.called:
            present = state()
            for f, k in self.called:
                command[f] = called(self.mechanism.forces[k], t, present)
        return command

    def place(self, t: float) -> tuple[int, float]:
        """Return the node before ``t`` and the share of the step from there."""
        place = min(max(t / self.dt, 0.0), float(self.steps))
        left = min(int(place), self.steps - 1)
        return left, place - left
