"""Prescribed motions as functions of time: values, rates, and the rates of these."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np
import scipy  # whose parts are imported where they are used

from varint.base.checks import call, finite, in_a_shape, unit_quaternion
from varint.base.errors import ArgumentError, AssemblyError, StateError
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.forces.driven import Driven
from varint.model.forces.moved import Moved
from varint.model.forces.velocity_rows import VelocityRows
from varint.model.motion import coordinate_units
from varint.model.state import State
from varint.model.structure import Structure

DEGREE = 16  # of the polynomials through values of a function
SHORTEST = 0.2  # steps: the shortest interval that one goes through
WHOLE = 0.125  # s: the longest, where a function has no end; else ...
LONGEST, LONGEST_STEPS = 1.0, 256  # ... the longer one of so many s and so many steps
NOISE = 3e-15  # of the largest coefficient: as good as it gets
LOST = 3e-16  # of it: last coefficients that are round-off
SETTLED = 1e-9  # of it: last coefficients below, which do not fall any more, are noise of the function
WORSE = 2  # shorter intervals in a row that are not better than the best: even shorter ones are not tried
LONGEST_TURN = 3.0  # rad, of a prescribed orientation from the reference: the rotation vector jumps at pi

Course = Callable[[float], np.ndarray]  # time, s, to values, rates and their rates (3, n)

_x = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
_TO_COEFFICIENTS = np.linalg.inv(np.polynomial.chebyshev.chebvander(_x, DEGREE))
_SLOPE = np.zeros((DEGREE + 1, DEGREE + 1))
_SLOPE[:DEGREE] = np.polynomial.chebyshev.chebder(np.eye(DEGREE + 1))
_ORDERS = np.arange(DEGREE + 1)


class _Piece:
    """The polynomial of degree `DEGREE` through the values (n,) of a function on an interval, s."""

    def __init__(self, function: Callable[[float], np.ndarray], start: float, size: float) -> None:
        self.start, self.size = start, size
        ends = start, start + size
        values = [function(min(max(t, ends[0]), ends[1])) for t in (start + 0.5 * size * (1.0 + _x)).tolist()]
        once = _TO_COEFFICIENTS @ np.array(values)
        size_of = np.abs(once)
        follow = np.maximum.accumulate(size_of[::-1], axis=0)[::-1]  # the largest from each on
        once[follow <= LOST * size_of.max(axis=0)] = 0.0  # round-off, which derivatives would make large
        by = _SLOPE * (2.0 / size)
        self.coefficients = np.stack([once, by @ once, by @ (by @ once)])
        self.scale = float(np.abs(once).max())
        self.tail = float(np.abs(once[-3:]).max())

    def at(self, t: float) -> np.ndarray:
        """Return values and two derivatives, (3, n)."""
        x = min(max(2.0 * (t - self.start) / self.size - 1.0, -1.0), 1.0)
        return np.cos(_ORDERS * np.arccos(x)) @ self.coefficients


class Differentiated:
    """A function of time with its first two derivatives, by polynomials on intervals that are halved where it bends.

    Of the intervals about a time that one counts whose polynomial has the smallest error: its last coefficients, or
    what it misses there, over the square of its length. So the spacing of the values follows the function, not the
    steps of a run. What is found at a time depends on this time alone, not on those asked for before.

    Parameters
    ----------
    function : of a time, s, to values (n,)
    end : float
        s: it is called from 0 to here.
    shortest, longest : float
        s, of an interval: what comes long after a time is not asked for there.
    """

    def __init__(self, function: Callable[[float], np.ndarray], end: float, shortest: float, longest: float) -> None:
        self.function, self.end, self.shortest, self.longest = function, end, shortest, longest
        self._pieces: dict[tuple[float, float], _Piece] = {}

    def __call__(self, t: float) -> np.ndarray:
        """Return value and two derivatives, (3, n), at ``t``, s, or at the nearest time from 0 to the end."""
        t = min(max(t, 0.0), self.end)
        value = self.function(t)
        size = self.longest
        start = min(np.floor(t / size) * size, self.end - size)
        least, worse = inf, 0
        while True:
            piece = self._piece(float(start), float(size))
            values = piece.at(t)
            missed = max(piece.tail, float(np.abs(values[0] - value).max()))
            error = missed / size**2
            if error < least:
                least, best, worse = error, values, 0
            else:
                worse += missed <= SETTLED * piece.scale
            size *= 0.5
            if missed <= NOISE * piece.scale or worse >= WORSE or size < self.shortest:
                break
            if t > start + size:
                start += size
        best[0] = value
        return best

    def _piece(self, start: float, size: float) -> _Piece:
        if (start, size) not in self._pieces:
            self._pieces[start, size] = _Piece(lambda t: self.function(min(t, self.end)), start, size)
        return self._pieces[start, size]


def motion_through(positions: np.ndarray, dt: float) -> "scipy.interpolate.CubicSpline":
    """Return the cubic spline through ``positions`` (T, ...), m or rad, at the nodes t = 0, dt, ...

    It is the one of both formulations: the maximal one has its values and rates at the nodes and the cubics between
    them, which are the spline's own.
    """
    return scipy.interpolate.CubicSpline(dt * np.arange(len(positions)), positions)


class Steady:
    """A motion at a constant ``rate``, m/s or rad/s, from ``start``, m or rad, which the start of a run sets."""

    def __init__(self, rate: float, start: float = 0.0) -> None:
        self.rate, self.start = rate, start

    def __call__(self, t: float) -> np.ndarray:
        return np.array([[self.start + self.rate * t], [self.rate], [0.0]])


class Span:
    """Times of a run: ``steps`` of ``dt``, s, None where it has none, up to ``end``, s."""

    def __init__(self, steps: int, dt: float | None, end: float) -> None:
        self.steps, self.dt, self.end = steps, dt, end

    @property
    def shortest(self) -> float:
        """Return the shortest interval, s, on which functions are approximated by polynomials."""
        return SHORTEST * (self.dt or 0.01 * min(self.end, WHOLE))

    @property
    def longest(self) -> float:
        """Return the longest interval, s."""
        return WHOLE if self.end == inf else min(self.end, max(LONGEST, LONGEST_STEPS * (self.dt or 0.0)))

    def differentiated(self, function: Callable[[float], np.ndarray]) -> Differentiated:
        """Return a function of time, to values (n,), as a course."""
        return Differentiated(function, self.end, self.shortest, self.longest)

    def through(self, values: np.ndarray, label: str) -> Course:
        """Return the motion through one row of ``values`` a node. Raises ArgumentError if their number is wrong."""
        if self.dt is None or len(values) != self.steps + 1:
            wanted = (
                f"must have {self.steps + 1} values, one a node" if self.dt else "needs dt=, the spacing of its values"
            )
            raise ArgumentError(f"{label} {wanted}")
        spline = motion_through(values.reshape(len(values), -1), self.dt)
        return lambda t: np.array([spline(t), spline(t, 1), spline(t, 2)])


ANY_TIME = Span(0, None, inf)  # of equations that are no run's


def value_at(force: Commanded, t: float) -> float:
    """Return the value at time ``t`` of the function of time that commands ``force``. Raises ArgumentError."""
    return _number(force, force.command_name, force.input, t)


def _number(force: Force, name: str, function: object, t: float) -> float:
    """Return the number that a function of time returns; its errors get a note that names the force."""
    label = f"{name} of {force.label} at t = {t:g} s"
    assert callable(function)
    value = call(function, f"{label}, a function that is called as f(t)", t)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    return finite(value, label, ArgumentError)


def _numbers(force: Force, name: str, function: Callable, width: int, t: float) -> np.ndarray:
    label = f"{name} of {force.label} at t = {t:g} s"
    return in_a_shape(
        call(function, f"{label}, a function that is called as f(t)", t), ((width,),), label, ArgumentError
    )


def _constant(value: np.ndarray) -> Course:
    rows = np.stack([value, 0.0 * value, 0.0 * value])
    return lambda t: rows.copy()


def course_of_coordinate(force: Driven, span: Span, start: float = 0.0) -> Course:
    """Return the target of a prescribed coordinate (3, 1).

    ``start``: its initial value at a constant rate, m or rad.
    """
    if force.constant_rate is not None:
        return Steady(force.constant_rate, start)
    position = force.input
    if not callable(position):
        assert position is not None  # one of position and rate is given
        label = f"{force.command_name} of {force.label}"
        return span.through(position, label) if position.shape else _constant(np.array([float(position)]))
    known = {name: partial(_number, force, name, function) for name, function in force.derivatives.items()}
    known["position"] = partial(value_at, force)

    def differentiated(name: str) -> Differentiated:
        return span.differentiated(lambda t: np.array([known[name](t)]))

    if "rate" in known and "acceleration" in known:
        return lambda t: np.array([[known[name](t)] for name in ("position", "rate", "acceleration")])
    place = differentiated("position")
    if "acceleration" in known:
        return lambda t: np.concatenate([place(t)[:2], [[known["acceleration"](t)]]])
    if "rate" in known:
        pace = differentiated("rate")
        return lambda t: np.concatenate([[[known["position"](t)]], pace(t)[:2]])
    return place


def course_of_body(force: Moved, structure: Structure, span: Span, turn: np.ndarray) -> Course:
    """Return the target of a prescribed point (3, 3) or body (3, 6): positions, then rotation vectors, world.

    ``turn`` (3,): that of the start, where no orientation is given.
    """
    position, label = force.position, f"position of {force.label}"
    function = partial(_numbers, force, "position", position, 3) if callable(position) else None
    parts = [_part(position, function, span, label)]
    if force.turned:
        quat, label = force.orientation, f"quat_wxyz of {force.label}"
        if quat is None:
            parts.append(_constant(turn))
        elif callable(quat):
            parts.append(span.differentiated(partial(_turn_at, force, structure)))
        else:
            turns = force.turn(structure, quat)
            for node, turn_of_node in enumerate(np.atleast_2d(turns)):
                _check_turn(force, turn_of_node, f"at node {node}" if turns.ndim > 1 else "")
            parts.append(_part(turns, None, span, label))
    return parts[0] if len(parts) == 1 else lambda t: np.concatenate([part(t) for part in parts], axis=1)


def _part(target: object, function: Callable | None, span: Span, label: str) -> Course:
    if callable(target):
        assert function is not None
        return span.differentiated(function)
    assert isinstance(target, np.ndarray)
    return _constant(target) if target.ndim == 1 else span.through(target, label)


def _turn_at(force: Moved, structure: Structure, t: float) -> np.ndarray:
    assert callable(force.orientation)
    numbers = _numbers(force, "quat_wxyz", force.orientation, 4, t)
    turn = force.turn(structure, unit_quaternion(numbers, f"quat_wxyz of {force.label} at t = {t:g} s", ArgumentError))
    _check_turn(force, turn, f"at t = {t:g} s")
    return turn


def _check_turn(force: Moved, turn: np.ndarray, when: str) -> None:
    angle = float(np.linalg.norm(turn))
    if angle > LONGEST_TURN:
        raise ArgumentError(
            f"quat_wxyz of {force.label} {when} is {angle:.3g} rad from the reference configuration of body"
            f" '{force.body}', and may be up to {LONGEST_TURN:g}: describe the body nearer to it, or prescribe the"
            " angle of a joint, which may go on past pi"
        )


def moved_forces(forces: Iterable[Force]) -> list[tuple[int, Moved]]:
    """Return the forces that prescribe the motion of bodies or points, with their numbers."""
    return [(k, force) for k, force in enumerate(forces) if isinstance(force, Moved)]


def moved_coordinates(forces: Iterable[Force]) -> list[tuple[int, Driven]]:
    """Return the forces that prescribe the motion of joint coordinates, with their numbers."""
    return [(k, force) for k, force in enumerate(forces) if isinstance(force, Driven)]


def moved_by_rows(structure: Structure) -> list[tuple[int, Moved | Driven]]:
    """Return the forces that prescribe bodies, points, or single coordinates of joints with several.

    Reduced coordinates follow them by rows, not by columns of q; with their numbers.
    """
    driven = moved_coordinates(structure.forces)
    single = [(k, force) for k, force in driven if structure.joint(force.joint).dof > 1]
    return sorted([*moved_forces(structure.forces), *single], key=lambda numbered: numbered[0])


def courses_by_rows(structure: Structure, span: Span, starts: Mapping[str, Any]) -> dict[str, Course]:
    """Name of each of `moved_by_rows` to its course; ``starts``: see `at_nodes.starts_of_motions`."""
    none = np.zeros(3)
    return {
        force.name: course_of_body(force, structure, span, starts.get(force.name, none))
        if isinstance(force, Moved)
        else course_of_coordinate(force, span, starts.get(force.name, 0.0))
        for _, force in moved_by_rows(structure)
    }


def still_rows(structure: Structure) -> dict[str, Course]:
    """Return courses of the rows that constraints on velocities keep at zero, by the names of these forces."""
    counts = {
        force.name: len(force.elements(structure)) for force in structure.forces if isinstance(force, VelocityRows)
    }
    return {name: partial(_still, np.zeros((3, count))) for name, count in counts.items()}


def _still(targets: np.ndarray, t: float) -> np.ndarray:
    return targets


def starts_elsewhere(force: Moved | Driven, gap: float) -> str:
    """Return the message if a run does not start on the motion; ``gap``: m, or sizes of a part."""
    if isinstance(force, Driven):
        return (
            f"{force.label} starts {gap:.3g} m, or rad, from where the state has coordinate {force.coordinate} of joint"
            f" '{force.joint}': give a state there, by mechanism.state(coordinates={{'{force.joint}': ...}}), or begin"
            " the motion at the state"
        )
    return (
        f"{force.label} starts {gap:.3g} m, or rad, from where the state has body '{force.body}': give a state there,"
        f" by mechanism.state(position={{'{force.body}': ...}}) or coordinates of joints, or begin the motion at the"
        " state"
    )


def cannot_start(force: Moved | Driven, speed: float) -> str:
    """Return the message if a motion has a velocity that the body cannot have; ``speed``: the excess, m/s."""
    return (
        f"{force.label} asks {_moving(force)} for a velocity that the joints, or other prescribed motions, do not"
        f" allow, by {speed:.3g} m/s: prescribe a motion that they can follow"
    )


def _moving(force: Moved | Driven) -> str:
    return f"joint '{force.joint}'" if isinstance(force, Driven) else f"body '{force.body}'"


def cannot_follow(force: Moved | Driven | VelocityRows, gap: float) -> str:
    """Return the message if a body stays behind the motion, or leaves its plane; ``gap``: m, or sizes of a part."""
    if isinstance(force, VelocityRows):
        return f"{force.label} is {gap:.3g} m off its plane"
    return (
        f"{force.label} asks for a motion that the joints, or other prescribed motions, do not allow:"
        f" {_moving(force)} is {gap:.3g} m, or rad, away from it"
    )


def what_clashes(
    mechanism: Mechanism, state: State, wanted: Mapping[str, tuple[float, float]], labels: Mapping[str, str]
) -> str | None:
    """Return the message if no motion near a ``state`` has the coordinates and rates ``wanted``, else None.

    ``wanted``: of joints of one coordinate, by name, m or rad, and their rates; ``labels``: what prescribes them.
    """
    bare = dataclasses.replace(mechanism, forces=[])

    def problem_of(names: list[str]) -> str | None:
        places, rates = ({name: wanted[name][k] for name in names} for k in (0, 1))
        try:
            bare.assemble(state, coordinates=places, rates=rates)
        except (AssemblyError, StateError) as problem:
            return str(problem)
        return None

    together = problem_of(list(wanted)) if wanted else None
    if together is None:
        return None
    for name in wanted:
        alone = problem_of([name])
        if alone:
            (unit,) = coordinate_units(mechanism.joint(name))
            place = f"{wanted[name][0]:.6g} {unit} of joint '{name}'"
            return f"{labels[name]} asks for a motion that the joints cannot follow, {place}: {alone}"
    return f"{' and '.join(labels[name] for name in wanted)} cannot be had at once: {together}"
