"""External forces and torques on bodies: constant, or one value a node."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from varint.compile import Compiled
from varint.errors import ArgumentError
from varint.model.checks import by_name, call, finite, in_a_shape
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.model.structure import Structure

NEAR = 0.05  # steps: differences of functions of time


class Loads:
    """External loads: constant, or one value a node and linear in between. Tables of them are made as they are needed.

    Parameters
    ----------
    structure : Structure
    compiled : Compiled
    steps : int
        Of the run, which has one node more.
    force : dict, optional
        Body name to (3,) or (steps + 1, 3), N, world, at the centre of mass.
    torque : dict, optional
        The same, N m, body axes.

    Attributes
    ----------
    constant : (nb, 6) N, world, and N m, body axes, in kernel order
    varies : bool
    """

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        steps: int,
        force: Mapping[str, ArrayLike] | None = None,
        torque: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        self.slot, self.constant = compiled.slot, np.zeros((len(structure.bodies), 6))
        self._series: list[tuple[int, slice, np.ndarray]] = []
        for what, given, columns in (("force", force, slice(0, 3)), ("torque", torque, slice(3, 6))):
            for name, value in by_name(given, structure.body_index, what, "body", ArgumentError).items():
                slot = int(self.slot[structure.body_index[name]])
                wanted = f"of shape (3,), or ({steps + 1}, 3) for one value a node"
                value = in_a_shape(value, ((3,), (steps + 1, 3)), f"{what} on body '{name}'", ArgumentError, wanted)
                if value.ndim == 1:
                    self.constant[slot, columns] = value
                else:
                    self._series.append((slot, columns, value))

    @property
    def varies(self) -> bool:
        """Whether any has one value a node."""
        return bool(self._series)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """(T, nb, 6) beside ``constant`` at nodes (T,), by their numbers; T = 0 where nothing varies."""
        found = np.zeros((len(nodes) if self.varies else 0, *self.constant.shape))
        for slot, columns, values in self._series:
            found[:, slot, columns] = values[nodes]
        return found

    def recorded(self, nodes: np.ndarray) -> np.ndarray:
        """(T, nb, 6) in all at nodes (T,), in the order of the description; T = 1 where nothing varies."""
        return (self.constant + self.at(nodes) if self.varies else self.constant[None])[:, self.slot]

    def arrays(self) -> list[np.ndarray]:
        """All that acts: by these a run that goes on is known to be the same."""
        series = [(np.array([slot, columns.start]), values) for slot, columns, values in self._series]
        return [self.constant, *(array for pair in series for array in pair)]


def is_controlled(force: Force) -> bool:
    """Whether a function of the state commands the force, called at each node."""
    return isinstance(force, Commanded) and callable(force.input) and not force.of_time


def called(force: Force, t: float, state: State) -> float:
    """What the function that commands ``force`` gives at time ``t`` and ``state``; raises ArgumentError."""
    assert isinstance(force, Commanded)
    return _value_of(force, "f(t, state)", t, state)


def value_at(force: Commanded, t: float) -> float:
    """What the function of time that commands ``force`` gives at time ``t``; raises ArgumentError."""
    return _value_of(force, "f(t)", t)


def _value_of(force: Commanded, form: str, t: float, *others: State) -> float:
    """What the function that commands ``force`` gives; an error of its own gets a note that names the force."""
    command, what = force.input, f"{force.command_name} of {force.label} at t = {t:g} s"
    assert callable(command)
    return finite(call(command, f"{what}, a function that is called as {form}", t, *others), what, ArgumentError)


def motion_through(positions: np.ndarray, dt: float) -> CubicSpline:
    """The motion that goes through ``positions`` (T,), m or rad, at the nodes t = 0, dt, ...: a cubic spline.

    It is the one of both formulations: the maximal one has its values and rates at the nodes and the cubics between
    them, which are the spline's own.
    """
    return CubicSpline(dt * np.arange(len(positions)), positions)


class Commands:
    """Inputs of the laws: constant, one a node, or functions. Tables of them are made as they are needed.

    Parameters
    ----------
    structure : Structure
    compiled : Compiled
    steps, dt : int, float
        Steps of the run, which has one node more, and their size, s.

    Attributes
    ----------
    functions : list of (column, force)
        Those of functions of time.
    varies : bool
        Whether any is one a node or a function of time. Those of functions of the state are left at zero.
    """

    def __init__(self, structure: Structure, compiled: Compiled, steps: int, dt: float) -> None:
        self.dt, self.constant = dt, np.zeros(len(compiled.force))
        self._series: list[tuple[int, np.ndarray, np.ndarray]] = []  # column, values, rates
        self.functions: list[tuple[int, Commanded]] = []
        for column, number in enumerate(compiled.force):
            force = structure.forces[number]
            if not isinstance(force, Commanded) or is_controlled(force):
                continue
            command = force.input
            if callable(command):
                self.functions.append((column, force))
            elif not command.shape:
                self.constant[column] = command
            elif command.shape == (steps + 1,):
                moved = motion_through(command, dt)(dt * np.arange(steps + 1), 1) if force.constraint else None
                self._series.append((column, command, np.zeros_like(command) if moved is None else moved))
            else:
                raise ArgumentError(
                    f"{force.command_name} of {force.label} must be one number, or {steps + 1} for one value a node,"
                    f" got shape {command.shape}"
                )

    @property
    def varies(self) -> bool:
        """Whether any is one a node or a function of time."""
        return bool(self._series or self.functions)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Inputs and their rates, (2, T, nf), at nodes (T,), by their numbers; T = 1 where nothing varies."""
        found = np.zeros((2, len(nodes) if self.varies else 1, len(self.constant)))
        found[0] = self.constant
        for column, values, rates in self._series:
            found[0, :, column], found[1, :, column] = values[nodes], rates[nodes]
        for column, force in self.functions:
            t = self.dt * nodes
            near = {k: _tabulated(force, t + k * NEAR * self.dt) for k in (-2, -1, 0, 1, 2)}
            found[0, :, column] = near[0]
            found[1, :, column] = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * NEAR * self.dt)
        return found

    def between(self, left: int, share: float) -> np.ndarray:
        """(nf,) inputs at ``left + share``, a node and a share of the step from there; functions are left at zero."""
        found = self.constant.copy()
        for column, values, _ in self._series:
            found[column] = (1.0 - share) * values[left] + share * values[left + 1]
        return found

    def arrays(self) -> list[np.ndarray]:
        """All that is no function: by these a run that goes on is known to be the same."""
        series = [(np.array([column]), values) for column, values, _ in self._series]
        return [self.constant, *(array for pair in series for array in pair)]


def _tabulated(force: Commanded, times: np.ndarray) -> np.ndarray:
    """A function of time at ``times`` (T,)."""
    return np.array([value_at(force, float(t)) for t in times])
