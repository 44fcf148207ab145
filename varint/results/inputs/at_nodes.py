"""External loads on bodies and inputs of forces over the time of a run."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import by_name, call, finite, in_a_shape
from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.kinematics.turns import coordinates_near
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.forces.measured import euler_angle
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.results.inputs.courses import (
    ANY_TIME,
    Course,
    Span,
    course_of_body,
    course_of_coordinate,
    motion_through,
    moved_coordinates,
    moved_forces,
    value_at,
)

WHOLE = 2 * np.pi  # rad


class Loads:
    """External loads: constant, or one value a node and linear in between. Tables of them are made as they are needed.

    Others can be set while a run goes on, see `ramp`.

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
        self.slot, self.constant = compiled.slot, np.zeros((len(compiled.order), 6))
        self._series: list[tuple[int, slice, np.ndarray]] = []
        self._ramp: tuple[int, int, np.ndarray, np.ndarray] | None = None
        for quantity, loads, columns in (("force", force, slice(0, 3)), ("torque", torque, slice(3, 6))):
            for name, value in by_name(loads, structure.body_index, quantity, "body", ArgumentError).items():
                slot = int(self.slot[structure.body_index[name]])
                wanted = f"of shape (3,), or ({steps + 1}, 3) for one value a node"
                value = in_a_shape(value, ((3,), (steps + 1, 3)), f"{quantity} on body '{name}'", ArgumentError, wanted)
                if value.ndim == 1:
                    self.constant[slot, columns] = value
                else:
                    self._series.append((slot, columns, value))

    @property
    def varies(self) -> bool:
        """Return whether a load has one value a node."""
        return bool(self._series) or self._ramp is not None

    def ramp(self, first: int, last: int, loads: np.ndarray) -> None:
        """Set ``loads`` (nb, 6), kernel order, beside the others, from node ``last`` on.

        From node ``first`` < ``last`` on they change linearly, from those before, which are zero at the first call.
        """
        present = np.zeros_like(self.constant) if self._ramp is None else self._ramped(np.array([first]))[0]
        self._ramp = first, last, present, loads.copy()

    def _ramped(self, nodes: np.ndarray) -> np.ndarray:
        """Return the loads (T, nb, 6) of `ramp` at nodes (T,)."""
        assert self._ramp is not None
        first, last, before, after = self._ramp
        share = np.clip((nodes - first) / (last - first), 0.0, 1.0)[:, None, None]
        return before + share * (after - before)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Return loads (T, nb, 6) beside ``constant`` at nodes (T,), by their numbers; T = 0 if nothing varies."""
        loads = np.zeros((len(nodes) if self.varies else 0, *self.constant.shape))
        for slot, columns, values in self._series:
            loads[:, slot, columns] = values[nodes]
        return loads if self._ramp is None else loads + self._ramped(nodes)

    def recorded(self, nodes: np.ndarray) -> np.ndarray:
        """Return all loads (T, nb, 6) at nodes (T,), in the order of the description; T = 1 if nothing varies."""
        loads = self.constant + self.at(nodes) if self.varies else self.constant[None]
        if self.slot.max(initial=-1) == loads.shape[1]:  # bodies that the world carries (plan/welds.py)
            loads = np.concatenate([loads, np.zeros((len(loads), 1, 6))], axis=1)
        return np.take(loads, self.slot, axis=1)

    def between(self, left: int, share: float) -> np.ndarray:
        """Return all loads (nb, 6) at ``left + share``, a node and a share of a step, in the mechanism's order."""
        before, after = self.recorded(np.array([left, left + 1]))
        return (1.0 - share) * before + share * after

    def arrays(self) -> list[np.ndarray]:
        """Return all loads as arrays, by which a resumed run is recognised."""
        series = [(np.array([slot, columns.start]), values) for slot, columns, values in self._series]
        return [self.constant, *(array for pair in series for array in pair)]


def is_controlled(force: Force) -> bool:
    """Return whether a function of the state commands the force, called at each node."""
    return isinstance(force, Commanded) and callable(force.input) and not force.of_time


def called(force: Force, t: float, state: State) -> float:
    """Return the value at time ``t`` and ``state`` of the function that commands ``force``. Raises ArgumentError."""
    assert isinstance(force, Commanded)
    command = force.input
    assert callable(command)

    def label() -> str:
        return f"{force.command_name} of {force.label} at t = {t:g} s"

    value = call(command, lambda: f"{label()}, a function that is called as f(t, state)", t, state)
    return value if type(value) is float and math.isfinite(value) else finite(value, label(), ArgumentError)


def check_series(force: Commanded, shape: tuple[int, ...], steps: int) -> None:
    """Raise ArgumentError unless an input of this shape is one number, or one a node of the ``steps``."""
    if shape not in ((), (steps + 1,)):
        raise ArgumentError(
            f"{force.command_name} of {force.label} must be one number, or {steps + 1} for one value a node,"
            f" got shape {shape}"
        )


class Commands:
    """Inputs of the laws: constant, one a node, or functions. Tables of them are made as they are needed.

    Parameters
    ----------
    structure : Structure
    compiled : Compiled
    steps, dt : int, float
        Steps of the run, which has one node more, and their size, s.
    starts : dict, optional
        Of `starts_of_motions`: where motions at a constant rate go on from, by the names of their forces; they, and
        motions of bodies, are left at zero where it is not given.
    end : float, optional
        s, of the run, where that is not the last node.

    Attributes
    ----------
    functions : list of (column, force)
        Those of functions of time that move a coordinate.
    courses : list of (columns, course)
        Motions that are functions of time, or of points and bodies.
    moved : (c,) int
        Constraints of the plan that move points and bodies, and with these coordinates by functions.
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
        starts: Mapping[str, Any] | None = None,
        end: float | None = None,
    ) -> None:
        self.dt, self.end = dt, steps * dt if end is None else end
        self.constant = np.zeros(len(compiled.force))
        self._series: list[tuple[int, np.ndarray, Callable | None]] = []  # column, values, the motion through them
        self._steady: list[tuple[int, float, float]] = []  # column, start, rate
        self.functions: list[tuple[int, Commanded]] = []
        self.courses: list[tuple[np.ndarray, Course]] = []
        self._bodies: list[np.ndarray] = []  # what moves them, where it is no function
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
                continue
            check_series(force, command.shape, steps)
            if not command.shape:
                self.constant[column] = command
            else:
                self._series.append((column, command, motion_through(command, dt) if force.constraint else None))
        self._moving: list[Course] = []  # in the order of ``moved``
        self.moved = self._take_motions(structure, compiled, Span(steps, dt, self.end), starts)

    def _take_motions(
        self, structure: Structure, compiled: Compiled, span: Span, starts: Mapping[str, Any] | None
    ) -> np.ndarray:
        """Return the constraints ``moved`` (c,), and set the courses of prescribed motions."""
        moved: list[tuple[np.ndarray, Course]] = []
        for number, force in moved_forces(structure.forces) if starts is not None else ():
            turn = (starts or {}).get(force.name, np.zeros(3))
            moved.append((np.flatnonzero(compiled.force == number), course_of_body(force, structure, span, turn)))
            targets = (force.position, force.orientation)
            self._bodies += [turn, *(value for value in targets if isinstance(value, np.ndarray))]
        drives = [
            (np.flatnonzero(compiled.force == number), course_of_coordinate(drive, span))
            for number, drive in moved_coordinates(structure.forces)
            if callable(drive.input)
        ]
        self.courses = moved + drives
        exact = self.courses if moved else []  # what moves bodies may depend on coordinates that functions move
        self._moving = [course for _, course in exact]
        constraints = {e: c for c, e in enumerate(compiled.plan.constraints.element.tolist())}
        return np.array([constraints[e] for columns, _ in exact for e in columns.tolist()], dtype=np.int64)

    @property
    def varies(self) -> bool:
        """Return whether an input changes with time."""
        return bool(self._series or self._steady or self.courses or self.of_time)

    @property
    def has_series(self) -> bool:
        """Return whether an input has one value a node."""
        return bool(self._series)

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Return inputs and their rates, (2, T, nf), at nodes (T,), by their numbers; T = 1 if nothing varies.

        Instants between nodes are taken too, by shares of a step: values at nodes are linear in between, those of
        prescribed motions are on the motion through them.
        """
        inputs = np.zeros((2, len(nodes) if self.varies else 1, len(self.constant)))
        inputs[0] = self.constant
        left = np.floor(nodes).astype(np.int64)
        share = nodes - left
        for column, values, motion in self._series:
            after = values[np.minimum(left + 1, len(values) - 1)]
            inputs[0, :, column] = (1.0 - share) * values[left] + share * after
            if motion is not None:
                inputs[0, share > 0.0, column] = motion(self.dt * nodes[share > 0.0], 0)
                inputs[1, :, column] = motion(self.dt * nodes, 1)
        for column, start, rate in self._steady:
            inputs[0, :, column], inputs[1, :, column] = start + rate * self.dt * nodes, rate
        for columns, course in self.courses:
            table = np.reshape([course(t)[:2] for t in (self.dt * nodes).tolist()], (-1, 2, len(columns)))
            inputs[:, :, columns] = np.moveaxis(table, 1, 0)
        if self.of_time:
            inputs[0][:, [column for column, _ in self.of_time]] = self.within(self.dt * np.asarray(nodes, dtype=float))
        return inputs

    def within(self, times: np.ndarray) -> np.ndarray:
        """Return the inputs (..., m) that are functions of time, in the order of ``of_time``, at ``times``, s."""
        if not self.of_time:
            return np.zeros((*times.shape, 0))
        table = [[value_at(force, min(t, self.end)) for _, force in self.of_time] for t in times.reshape(-1).tolist()]
        return np.array(table, dtype=float).reshape(*times.shape, len(self.of_time))

    def aims(self, times: np.ndarray) -> np.ndarray:
        """Return targets and rates (2, S, E, c) of points and bodies, in the order of ``moved``, at times (S, E), s."""
        targets = np.zeros((2, *times.shape, len(self.moved)))
        for place in np.ndindex(*times.shape) if self._moving else ():
            parts = [course(min(float(times[place]), self.end))[:2] for course in self._moving]
            targets[:, *place] = np.concatenate(parts, axis=1)
        return targets

    def between(self, left: int, share: float) -> np.ndarray:
        """Return inputs (nf,) at ``left + share``, a node and a share of the next step; functions are left at zero."""
        inputs = self.constant.copy()
        for column, values, _ in self._series:
            inputs[column] = (1.0 - share) * values[left] + share * values[left + 1]
        return inputs

    def arrays(self) -> list[np.ndarray]:
        """Return all inputs that are no functions, by which a resumed run is recognised."""
        series = [(np.array([column]), values) for column, values, _ in self._series]
        pairs = [array for pair in series for array in pair]
        return [self.constant, *pairs, *map(np.array, self._steady), *self._bodies]


def starts_of_motions(structure: Structure, state: State) -> dict[str, Any]:
    """Return initial values in ``state`` of motions that continue from the start, by the names of their forces.

    Of coordinates at a constant rate where they are, m or rad; of bodies that keep their orientation the rotation
    vector (3,) from the reference, rad, world.
    """
    starts: dict[str, Any] = {}
    moving = [force for _, force in moved_coordinates(structure.forces) if force.constant_rate is not None]
    if moving:
        x, R = with_world(state.position, state.quat_wxyz)
        for force in moving:
            frames = JointFrames(structure, structure.joint(force.joint))
            if force.angles is None:
                near = {force.joint: state.turns.get(force.joint, np.zeros(frames.joint.dof))}
                starts[force.name] = float(coordinates_near(structure, x, R, near)[force.joint][force.coordinate])
            else:
                turn, _ = frames.relative_pose(x, R)
                angle = float(euler_angle(frames.joint, force.coordinate, force.angles, turn))
                carried = float(state.memory[force.name][-1]) if force.name in state.memory else angle
                starts[force.name] = angle + WHOLE * float(np.rint((carried - angle) / WHOLE))
    for _, moved in moved_forces(structure.forces):
        if moved.turned and moved.orientation is None:
            starts[moved.name] = moved.turn(structure, state.quat_wxyz[structure.body_index[moved.body]])
    return starts


def inputs_at(structure: Structure, t: float, state: State) -> np.ndarray:
    """Return inputs (forces,) of the forces at time ``t``, s, and ``state``.

    Motions at a constant rate are at the state.
    """
    command = np.zeros(len(structure.forces))
    starts = starts_of_motions(structure, state)
    for k, force in enumerate(structure.forces):
        if not isinstance(force, Commanded):
            continue
        if force.name in starts:
            command[k] = starts[force.name]
        elif is_controlled(force):
            command[k] = called(force, t, state)
        elif callable(force.input):
            command[k] = value_at(force, t)
        else:
            command[k] = force.input
    return command


def motions_at(structure: Structure, compiled: Compiled, times: np.ndarray, span: Span = ANY_TIME) -> np.ndarray:
    """Return rates of prescribed motions at ``times``, s, and their rates, (2, T, ne); zero for other elements."""
    rates = np.zeros((2, len(times), len(compiled.force)))
    courses: list[tuple[int, Course]] = [
        (k, course_of_coordinate(force, span)) for k, force in moved_coordinates(structure.forces)
    ]
    none = np.zeros(3)  # orientations that are kept have no rate
    courses += [(k, course_of_body(force, structure, span, none)) for k, force in moved_forces(structure.forces)]
    for number, course in courses:
        table = np.array([course(t)[1:] for t in times.tolist()])
        rates[:, :, compiled.force == number] = np.moveaxis(table, 1, 0)
    return rates
