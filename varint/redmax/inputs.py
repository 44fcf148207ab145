"""What acts on a mechanism from outside, as functions of time: loads on bodies and commands of forces."""

import numpy as np

from varint.errors import ArgumentError
from varint.loads import command_array, is_controlled, load_arrays
from varint.model.checks import array_of


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
    """

    def __init__(self, mechanism, compiled, steps, dt, force=None, torque=None):
        self.mechanism, self.compiled, self.steps, self.dt = mechanism, compiled, steps, dt
        self.constant, self.series = load_arrays(mechanism, compiled, steps, force, torque)
        self.commands = command_array(mechanism, compiled, steps, dt)[0]
        self.called = [(f, k) for f, k in enumerate(compiled.force) if is_controlled(mechanism.forces[k])]

    def load(self, t) -> np.ndarray:
        """(nb, 6) in kernel order: force, N, world, and torque, N m, body axes."""
        return self.constant + self._at(self.series, t) if len(self.series) else self.constant

    def command(self, t, state) -> np.ndarray:
        """(nf,) inputs of the laws; ``state``: function that makes the `State` that commanding functions are given."""
        command = self.commands[0].copy() if len(self.commands) == 1 else self._at(self.commands, t)
        if self.called:
            present = state()
            for f, k in self.called:
                force = self.mechanism.forces[k]
                what = f"{force.command_name} of {force.label} at t = {t:g} s"
                command[f] = array_of(force.command(t, present), (), what, ArgumentError)
        return command

    def _at(self, series, t):
        place = min(max(t / self.dt, 0.0), len(series) - 1.0)
        left = min(int(place), len(series) - 2)
        share = place - left
        return (1.0 - share) * series[left] + share * series[left + 1]
