"""External forces and torques on bodies: constant, or one value a node."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from varint.compile import Compiled
from varint.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.model.checks import by_name, call, finite, in_a_shape
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.model.structure import Structure

NEAR = 0.05  # steps: differences of functions of time
APART = 1e-3  # s: the same where there are no steps


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

    def between(self, left: int, share: float) -> np.ndarray:
        """(nb, 6) in all at ``left + share``, a node and a share of the step from there, in the description's order."""
        before, after = self.recorded(np.array([left, left + 1]))
        return (1.0 - share) * before + share * after

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
    starts : dict, optional
        Where motions at a constant rate go on from, m or rad, by the names of their forces; they are left at zero
        where it is not given.
    end : float, optional
        s, of the run, where that is not the last node.

    Attributes
    ----------
    functions : list of (column, force)
        Those of functions of time that move a coordinate.
    of_time : list of (column, force)
        The others of functions of time, which are evaluated within the steps too.
    varies : bool
        Whether any changes with time. Those of functions of the state are left at zero.
    """

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        steps: int,
        dt: float,
        starts: Mapping[str, float] | None = None,
        end: float | None = None,
    ) -> None:
        self.dt, self.end = dt, steps * dt if end is None else end
        self.constant = np.zeros(len(compiled.force))
        self._series: list[tuple[int, np.ndarray, np.ndarray]] = []  # column, values, rates
        self._steady: list[tuple[int, float, float]] = []  # column, start, rate
        self.functions: list[tuple[int, Commanded]] = []
        self.of_time: list[tuple[int, Commanded]] = []
        for column, number in enumerate(compiled.force):
            force = structure.forces[number]
            if not isinstance(force, Commanded) or is_controlled(force):
                continue
            command = force.input
            if force.constant_rate is not None:
                if starts is not None:
                    self._steady.append((column, starts[force.name], force.constant_rate))
                continue
            assert command is not None
            if callable(command):
                (self.functions if force.constraint else self.of_time).append((column, force))
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
        """Whether any changes with time."""
        return bool(self._series or self._steady or self.functions or self.of_time)

    @property
    def has_series(self) -> bool:
        """Whether any has one value a node."""
        return bool(self._series)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Inputs and their rates, (2, T, nf), at nodes (T,), by their numbers; T = 1 where nothing varies.

        Without a series of values, instants between nodes are taken too, by shares of a step.
        """
        found = np.zeros((2, len(nodes) if self.varies else 1, len(self.constant)))
        found[0] = self.constant
        for column, values, rates in self._series:
            found[0, :, column], found[1, :, column] = values[nodes], rates[nodes]
        for column, start, rate in self._steady:
            found[0, :, column], found[1, :, column] = start + rate * self.dt * nodes, rate
        for column, force in self.functions:
            function, h = partial(value_at, force), NEAR * self.dt
            table = np.array([derivatives(function, t, h, self.end) for t in (self.dt * nodes).tolist()])
            found[:, :, column] = table[:, :2].T
        times = self.dt * np.asarray(nodes, dtype=float)
        for n, (column, _) in enumerate(self.of_time):
            found[0, :, column] = self.within(times)[:, n]
        return found

    def within(self, times: np.ndarray) -> np.ndarray:
        """(..., m) inputs that are functions of time, in the order of ``of_time``, at ``times``, s, up to the end."""
        table = [[value_at(force, min(t, self.end)) for _, force in self.of_time] for t in times.reshape(-1).tolist()]
        return np.array(table, dtype=float).reshape(*times.shape, len(self.of_time))

    def between(self, left: int, share: float) -> np.ndarray:
        """(nf,) inputs at ``left + share``, a node and a share of the step from there; functions are left at zero."""
        found = self.constant.copy()
        for column, values, _ in self._series:
            found[column] = (1.0 - share) * values[left] + share * values[left + 1]
        return found

    def arrays(self) -> list[np.ndarray]:
        """All that is no function: by these a run that goes on is known to be the same."""
        series = [(np.array([column]), values) for column, values, _ in self._series]
        return [self.constant, *(array for pair in series for array in pair), *map(np.array, self._steady)]


def derivatives(function: Callable[[float], float], t: float, h: float, end: float) -> tuple[float, float, float]:
    """Value of a function of time at ``t``, s, and its first two derivatives, by values ``h`` apart from 0 to ``end``.

    Of the polynomial through five values, of which ``t`` is the middle one but for the first and last ``2 h``: the
    function is not asked for what is before or after a run.
    """
    middle = min(max(t, 2 * h), end - 2 * h)
    a, b, c, d, e = (function(min(max(middle + k * h, 0.0), end)) for k in range(-2, 3))
    value, off = c, t - middle
    first, second = (8 * (d - b) - (e - a)) / (12 * h), (16 * (b + d) - 30 * c - a - e) / (12 * h * h)
    if off:
        third, fourth = (e - a - 2 * (d - b)) / (2 * h**3), (a + e - 4 * (b + d) + 6 * c) / h**4
        first += off * (second + off * (third / 2 + off * fourth / 6))
        second += off * (third + off * fourth / 2)
        value = function(min(max(t, 0.0), end))
    return value, first, second


def starts_of_motions(structure: Structure, state: State) -> dict[str, float]:
    """Where ``state`` has the coordinates that move at a constant rate, m or rad, by the names of their forces."""
    moving = [
        force for force in structure.forces if isinstance(force, AlongCoordinate) and isinstance(force, Commanded)
    ]
    moving = [force for force in moving if force.constant_rate is not None]
    starts: dict[str, float] = {}
    if not moving:
        return starts
    x, R = with_world(state.position, state.quat_wxyz)
    for force in moving:
        frames = JointFrames(structure, structure.joint(force.joint))
        starts[force.name] = float(frames.measure(x, R)[force.coordinate])
    return starts


def inputs_at(structure: Structure, t: float, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (forces,) of the forces at time ``t``, s, and ``state``, and second time derivatives of those of time.

    Motions at a constant rate are where the state is.
    """
    command, bend = np.zeros((2, len(structure.forces)))
    starts = starts_of_motions(structure, state)
    for k, force in enumerate(structure.forces):
        if not isinstance(force, Commanded):
            continue
        if force.name in starts:
            command[k] = starts[force.name]
        elif is_controlled(force):
            command[k] = called(force, t, state)
        elif callable(force.input):
            command[k], _, bend[k] = derivatives(partial(value_at, force), t, APART, np.inf)
        else:
            command[k] = force.input
    return command, bend


def check_no_history(structure: Structure, compiled: Compiled) -> None:
    """That time and state determine all forces; raises ArgumentError."""
    with_state = compiled.force[compiled.plan.laws.element[compiled.plan.laws.state >= 0]]
    for k, force in enumerate(structure.forces):
        reason = "has a law with a state of its own, which a State does not hold" if k in with_state else ""
        if isinstance(force, Commanded) and isinstance(force.input, np.ndarray) and force.input.ndim:
            reason = f"has one {force.command_name} a node, and there are none here: give it a number or a function"
        if force.reduced_only:
            reason = "acts in the steps of an integrator only"
        if reason:
            raise ArgumentError(f"{force.label} {reason}")
