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


def command_array(structure: Structure, compiled: Compiled, steps: int, dt: float) -> np.ndarray:
    """Inputs of the laws at the nodes and their rates, (2, T, nf), T = 1 where all are constant.

    Those of functions of the state are left at zero.
    """
    columns = np.zeros((2, 1, len(compiled.force)))
    for f, number in enumerate(compiled.force):
        force = structure.forces[number]
        if not isinstance(force, Commanded) or is_controlled(force):
            continue
        command = force.input
        rates: np.ndarray | float = 0.0
        if callable(command):
            t = dt * np.arange(steps + 1)
            near = {shift: _tabulated(force, t + shift * dt) for shift in (-2 * NEAR, -NEAR, 0, NEAR, 2 * NEAR)}
            command = near[0]
            rates = (8 * (near[NEAR] - near[-NEAR]) - (near[2 * NEAR] - near[-2 * NEAR])) / (12 * NEAR * dt)
        elif command.shape == (steps + 1,):
            rates = motion_through(command, dt)(dt * np.arange(steps + 1), 1) if force.constraint else 0.0
        elif command.shape:
            raise ArgumentError(
                f"{force.command_name} of {force.label} must be one number, or {steps + 1} for one value a node,"
                f" got shape {command.shape}"
            )
        if command.shape and columns.shape[1] == 1:
            columns = np.repeat(columns, steps + 1, axis=1)
        columns[0, :, f], columns[1, :, f] = command, rates
    return columns


def _tabulated(force: Commanded, times: np.ndarray) -> np.ndarray:
    """A function of time at ``times`` (T,)."""
    return np.array([value_at(force, float(t)) for t in times])
