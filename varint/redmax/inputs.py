"""What acts on a mechanism from outside, as functions of time: loads on bodies and commands of forces."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from varint.compile import Compiled
from varint.loads import called, command_array, is_controlled, load_arrays, value_at
from varint.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Commanded
from varint.model.state import State


class Inputs:
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
        Joint name to the function of time (q, qdot, qddot) that a force prescribes.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        compiled: Compiled,
        steps: int,
        dt: float,
        force: Mapping[str, ArrayLike] | None = None,
        torque: Mapping[str, ArrayLike] | None = None,
        motions: Mapping[str, Callable[[float], tuple[float, float, float]]] | None = None,
    ) -> None:
        self.mechanism, self.compiled, self.steps, self.dt = mechanism, compiled, steps, dt
        self.constant, self.series = load_arrays(mechanism, compiled, steps, force, torque)
        self.commands = command_array(mechanism, compiled, steps, dt)[0]
        forces = [(f, mechanism.forces[k]) for f, k in enumerate(compiled.force)]
        commanded = [(f, force) for f, force in forces if isinstance(force, Commanded) and force.of_time]
        self.timed = [(f, force) for f, force in commanded if callable(force.input)]
        steady = [(f, force) for f, force in commanded if force.constant_rate is not None]
        self.steady = [
            (f, motions[force.joint]) for f, force in steady if isinstance(force, AlongCoordinate) and motions
        ]
        self.called = [(f, k) for f, k in enumerate(compiled.force) if is_controlled(mechanism.forces[k])]

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What acts, as arrays: by these a run that goes on is known to be the same. Functions are left out."""
        commands = self.commands.copy()
        commands[:, [f for f, _ in self.timed]] = 0.0
        return self.constant, self.series, commands

    def load(self, t: float) -> np.ndarray:
        """(nb, 6) in kernel order: force, N, world, and torque, N m, body axes."""
        return self.constant + self._at(self.series, t) if len(self.series) else self.constant

    def command(self, t: float, state: Callable[[], State]) -> np.ndarray:
        """(nf,) inputs of the laws; ``state``: function that makes the `State` that commanding functions are given."""
        command = self.commands[0].copy() if len(self.commands) == 1 else self._at(self.commands, t)
        for f, force in self.timed:
            command[f] = value_at(force, t)
        for f, motion in self.steady:
            command[f] = motion(t)[0]
        if self.called:
            present = state()
            for f, k in self.called:
                command[f] = called(self.mechanism.forces[k], t, present)
        return command

    def _at(self, series: np.ndarray, t: float) -> np.ndarray:
        place = min(max(t / self.dt, 0.0), len(series) - 1.0)
        left = min(int(place), len(series) - 2)
        share = place - left
        return (1.0 - share) * series[left] + share * series[left + 1]
