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


def load_arrays(
    structure: Structure,
    compiled: Compiled,
    steps: int,
    force: Mapping[str, ArrayLike] | None,
    torque: Mapping[str, ArrayLike] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Constant (nb, 6) and series (T, nb, 6) loads in kernel order; T = 0 where nothing varies.

    ``force``: body name to (3,) or (steps + 1, 3), N, world, at the centre of mass. ``torque``: N m,
    body axes.
    """
    nb = len(structure.bodies)
    constant, series = np.zeros((nb, 6)), np.zeros((0, nb, 6))
    for what, given, columns in (("force", force, slice(0, 3)), ("torque", torque, slice(3, 6))):
        for name, value in by_name(given, structure.body_index, what, "body", ArgumentError).items():
            slot = compiled.slot[structure.body_index[name]]
            wanted = f"of shape (3,), or ({steps + 1}, 3) for one value a node"
            value = in_a_shape(value, ((3,), (steps + 1, 3)), f"{what} on body '{name}'", ArgumentError, wanted)
            if value.ndim == 1:
                constant[slot, columns] = value
                continue
            if not len(series):
                series = np.zeros((steps + 1, nb, 6))
            series[:, slot, columns] = value
    return constant, series


def recorded_loads(compiled: Compiled, loads: tuple[np.ndarray, np.ndarray], every: int) -> np.ndarray:
    """Loads (T, nb, 6) at each ``every``-th node, or (1, nb, 6) if constant, in the order of the description."""
    constant, series = loads
    return (constant + series[::every] if len(series) else constant[None])[:, compiled.slot]


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


def command_array(
    structure: Structure, compiled: Compiled, steps: int, dt: float, starts: Mapping[str, float] | None = None
) -> np.ndarray:
    """Inputs of the laws at the nodes and their rates, (2, T, nf), T = 1 where all are constant.

    Those of functions of the state are left at zero, and so are motions at a constant rate, but where ``starts`` tells
    from where they go on, by the names of their forces.
    """
    columns, t = np.zeros((2, 1, len(compiled.force))), dt * np.arange(steps + 1)
    for f, number in enumerate(compiled.force):
        force = structure.forces[number]
        if not isinstance(force, Commanded) or is_controlled(force):
            continue
        command, rates = _commanded(force, t, starts or {})
        if command.shape and columns.shape[1] == 1:
            columns = np.repeat(columns, steps + 1, axis=1)
        columns[0, :, f], columns[1, :, f] = command, rates
    return columns


def _commanded(force: Commanded, t: np.ndarray, starts: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray | float]:
    """The input of a force at the nodes ``t`` (T,), and its rates: (T,), or () where it is constant."""
    command = force.input
    if (rate := force.constant_rate) is not None:
        return (starts[force.name] + rate * t, rate) if starts else (np.zeros(()), 0.0)
    if callable(command):
        h, end = NEAR * (t[1] - t[0]), float(t[-1])
        found = [derivatives(partial(value_at, force), float(now), h, end) for now in t]
        return np.array(found)[:, 0], np.array(found)[:, 1]
    assert command is not None
    if command.shape == t.shape:
        return command, motion_through(command, t[1] - t[0])(t, 1) if force.constraint else 0.0
    if command.shape:
        raise ArgumentError(
            f"{force.command_name} of {force.label} must be one number, or {t.size} for one value a node,"
            f" got shape {command.shape}"
        )
    return command, 0.0


def starts_of_motions(structure: Structure, state: State) -> dict[str, float]:
    """Where ``state`` has the coordinates that move at a constant rate, m or rad, by the names of their forces."""
    starts = {}
    x, R = with_world(state.position, state.quat_wxyz)
    for force in structure.forces:
        if isinstance(force, AlongCoordinate) and isinstance(force, Commanded) and force.constant_rate is not None:
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
