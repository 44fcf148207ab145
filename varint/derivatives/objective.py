"""Objectives of runs: functions of states at nodes, and their gradients with respect to these states.

The objective is a function of a list of states, or, if ``alone``, of one state; it returns one number or (m,) numbers.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import cos, hypot, sin
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, call, function_of, in_a_shape, known_name, sequence_of
from varint.base.display import Shown, count_text, value_text
from varint.base.errors import ArgumentError, MechanismError
from varint.derivatives.by_vertices import by_vertices, gradient_of_user_by_vertices
from varint.derivatives.numbers import START, Number, by_scalars, differences
from varint.mechanism.mechanism import Mechanism
from varint.meshes.mesh_state import MeshState
from varint.model.rotation_vectors import quat_from_vector, quat_product, vector_from_quat
from varint.model.state import State

STEP = 1e-4  # step of the differences of an objective: in rad, in sizes of a body, and both over the duration
BY = ("position", "rotation", "velocity", "angular velocity")  # parts of a state
ROTATION = 1  # index of the rotation among these
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])  # times a quaternion: its conjugate
SAME_TIME = 1e-6  # distance of a time from its node that is allowed, over dt
ROUND_OFF = 1e-12  # by which a time may exceed the end, relative


class StateGradient(NamedTuple):
    """The gradient of a number with respect to a state of nb bodies.

    position : (nb, 3) by m, world
    rotation : (nb, 3) by rad, a rotation vector in body axes
    velocity : (nb, 3) by m/s, world
    angular_velocity : (nb, 3) by rad/s, body

    Only its product with changes of the state that keep the joints closed is meaningful.
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray

    def __repr__(self) -> str:
        largest = (f"{np.abs(part).max():.3g} by {by}" for by, part in zip(BY, self, strict=True))
        return f"StateGradient: {count_text(self.position.shape[-2], 'body', 'bodies')}, largest {', '.join(largest)}"


class ByStates(NamedTuple):
    """An objective, () or (m,), and its gradient with respect to K states of nb bodies and n vertices.

    by_bodies : (m or 1, K, nb, 12)
    by_vertices : (m or 1, K, 2, n, 3) by places, m, and velocities, m/s, of all vertices
    """

    value: np.ndarray
    by_bodies: np.ndarray
    by_vertices: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Gradient(Shown):
    """The value of an objective, and its derivatives by name: ``g["coupler.mass"]``.

    Attributes
    ----------
    value : float, or (m,) if the objective returns m numbers
    by : dict of name to float, array, or `StateGradient` for "start"; with a first axis of m for m numbers
    states : list of State
        The states of the run that the objective was evaluated at.
    """

    value: float | np.ndarray
    by: Mapping[str, Any]
    states: Sequence[State]

    def __getitem__(self, name: str) -> Any:
        return self.by[known_name(name, self.by, "the gradient has no", ArgumentError)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by)

    def _facts(self) -> Iterable[str]:
        yield f"value {value_text(self.value)}"
        yield from (f"{name} {value_text(value)}" for name, value in self.by.items() if name != START)


def nodes_at(times: ArrayLike, dt: float, steps: int) -> list[int]:
    """Return the numbers of the nodes at ``times`` (K,), s, of a run of ``steps`` steps of ``dt``, s.

    Raises ArgumentError if they do not rise, or are not times of nodes.
    """
    wanted = array_of(times, (None,), "times", ArgumentError) / dt
    at = np.rint(wanted).astype(int)
    if (
        not at.size
        or (np.abs(wanted - at) > SAME_TIME).any()
        or (np.diff(at) <= 0).any()
        or at[0] < 0
        or at[-1] > steps
    ):
        raise ArgumentError(f"times must rise, from 0 to {steps * dt:g} s, by whole steps of {dt:g} s")
    return at.tolist()


def bound(objective: Callable[..., Any], mechanism: Mechanism) -> Callable[..., Any]:
    """Return an objective of a mechanism and states as one of states alone, with its ``gradient`` if it has one."""
    of_states, gradient = partial(objective, mechanism), getattr(objective, "gradient", None)
    if gradient is not None:
        of_states.gradient = (  # type: ignore[attr-defined]
            partial(gradient, mechanism) if callable(gradient) else gradient
        )
    return of_states


def by_itself(
    objective: Callable[..., Any], number: Number, mechanism: Mechanism, states: Sequence[State], alone: bool
) -> list["float | np.ndarray"]:
    """Return the derivatives by ``number`` of an objective of the ``mechanism`` and of states, with the states held.

    One for each number that the objective returns. ``alone``: see the module.
    """

    def values(changed: Mechanism) -> list[float]:
        return value_of(partial(objective, changed), states, alone).reshape(-1).tolist()

    return by_scalars(number, mechanism, values, len(values(mechanism)))


def times_at(times: ArrayLike, end: float) -> list[float]:
    """Return ``times`` (K,), s, checked to rise within a run up to ``end``, s. Raises ArgumentError."""
    wanted = array_of(times, (None,), "times", ArgumentError)
    if not wanted.size or (np.diff(wanted) <= 0).any() or wanted[0] < 0 or wanted[-1] > end * (1.0 + ROUND_OFF):
        raise ArgumentError(f"times must rise, from 0 to {end:g} s")
    return np.minimum(wanted, end).tolist()


def by_states(
    objective: Callable[..., Any],
    states: Sequence[State],
    alone: bool,
    length: float,
    duration: float,
    label: str = "the objective",
) -> ByStates:
    """Return the objective and its gradient with respect to the states.

    By the attribute ``gradient`` of the objective if it has one, else by differences.

    alone : see the module
    length, duration : m, s, scales of the steps of differences: size of the largest body, duration of the run
    label : name of the objective in errors

    Raises ArgumentError if the objective or its attribute ``gradient`` returns wrong values.
    """
    value, by_user = value_of(objective, states, alone, label=label), getattr(objective, "gradient", None)
    if by_user is not None:
        return ByStates(value, *_gradient_of_user(by_user, value, states, alone, f"the gradient of {label}"))
    steps = STEP * np.array([length, 1.0, length / duration, 1.0 / duration])
    gradient = np.zeros((value.size, len(states), len(states[0].position), 4, 3))

    def with_state(n: int, state: State) -> np.ndarray:
        return value_of(objective, [*states[:n], state, *states[n + 1 :]], alone, value.shape, label)

    def of_moved(n: int, part: int, bodies: Sequence[int], changes: np.ndarray) -> np.ndarray:
        return with_state(n, _moved(states[n], part, bodies, changes))

    for n, part in np.ndindex(len(states), 4):
        for i in _bodies_seen(partial(of_moved, n, part), value, gradient.shape[2], float(steps[part])):
            for k, unit in enumerate(np.eye(3)):

                def of_changed(share: float, n: int = n, part: int = part, i: int = i, unit: np.ndarray = unit) -> Any:
                    return of_moved(n, part, [i], share * unit[None])

                gradient[:, n, i, part, k] = differences(of_changed, float(steps[part]))
    of_meshes = [state for state in states if isinstance(state, MeshState)]
    through = by_vertices(with_state, value, of_meshes, steps[::2]) if of_meshes else _no_vertices(value, states)
    return ByStates(value, gradient.reshape(*gradient.shape[:3], 12), through)


def _no_vertices(value: np.ndarray, states: Sequence[State]) -> np.ndarray:
    """Return the empty gradient (m or 1, K, 2, 0, 3) of an objective ``value`` by states without vertices."""
    return np.zeros((value.size, len(states), 2, 0, 3))


def _bodies_seen(of_moved: Callable[..., np.ndarray], value: np.ndarray, count: int, step: float) -> list[int]:
    """Return the bodies, among ``count``, with one part of whose state the objective changes; others do not matter.

    ``of_moved(bodies, changes)``: the objective with that part changed by (n, 3) for n bodies. ``value``: without a
    change. ``step``: of the changes.
    """
    # different vectors for all: objectives of distances and angles between bodies do not change by common motions
    changes = step * np.random.default_rng(0).uniform(-0.5, 0.5, (count, 3))

    def is_seen(bodies: Sequence[int]) -> bool:
        try:
            return not np.array_equal(of_moved(bodies, changes[bodies]), value)
        except MechanismError:  # at a bound: differences are taken from one side
            return True

    return [i for i in range(count) if is_seen([i])] if is_seen(range(count)) else []


def _moved(state: State, part: int, bodies: Sequence[int], changes: np.ndarray) -> State:
    """Return ``state`` with ``part`` (index in `BY`) of ``bodies`` (n,) changed by ``changes`` (n, 3).

    As `changed_state`, at less expense.
    """
    arrays = [state.position, state.quat_wxyz, state.velocity, state.angular_velocity]
    arrays[part] = arrays[part].copy()
    if part != ROTATION:
        arrays[part][bodies] += changes
        return state.of_bodies(*arrays)
    for i, turn in zip(bodies, changes.tolist(), strict=True):
        angle = hypot(*turn)
        c, s = cos(0.5 * angle), sin(0.5 * angle) / angle if angle else 0.5
        (w, x, y, z), (a, b, d) = arrays[part][i].tolist(), (s * each for each in turn)
        arrays[part][i] = (
            w * c - (x * a + y * b + z * d),
            w * a + c * x + (y * d - z * b),
            w * b + c * y + (z * a - x * d),
            w * d + c * z + (x * b - y * a),
        )
    return state.of_bodies(*arrays)


def _gradient_of_user(
    gradient: object, value: np.ndarray, states: Sequence[State], alone: bool, label: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients by bodies and by vertices, see `ByStates`, that the function ``gradient`` of a user returns.

    ``value``: of the objective, which must be one number. ``label``: name of the gradient in errors. Raises
    ArgumentError.
    """
    nb, four = len(states[0].position), "four arrays, by position, rotation, velocity, angular velocity"
    if value.ndim:
        raise ArgumentError(f"{label} is for an objective that is one number, got {value.size} of them: leave it out")
    returned = call(function_of(gradient, label, ArgumentError), label, states[0] if alone else list(states))
    by_state = [returned] if alone else sequence_of(returned, label, "one StateGradient a time", ArgumentError)
    if len(by_state) != len(states):
        raise ArgumentError(f"{label} must give {len(states)} entries, one a time, got {len(by_state)}")
    by_bodies, through = np.empty((1, len(states), nb, 12)), _no_vertices(value, states)
    if isinstance(states[0], MeshState):
        through = np.zeros((1, len(states), *states[0].all_vertices.shape))
    for n, each in enumerate(by_state):
        parts = sequence_of(each, label, four, ArgumentError)
        state = states[n]
        if isinstance(state, MeshState) and len(parts) == 6:
            through[0, n] = gradient_of_user_by_vertices(parts[4:], state, label)
            parts = parts[:4]
        if len(parts) != 4:
            raise ArgumentError(f"{label} must have {four}")
        pairs = zip(BY, parts, strict=True)
        by_bodies[0, n] = np.hstack([array_of(part, (nb, 3), f"{label} by {by}", ArgumentError) for by, part in pairs])
    return by_bodies, through


def value_of(
    objective: Callable[..., Any],
    states: Sequence[State],
    alone: bool,
    shape: tuple[int, ...] | None = None,
    label: str = "the objective",
) -> np.ndarray:
    """Return the objective, () or (m,), of ``states``; ``alone``: see the module, ``label``: its name in errors.

    Raises ArgumentError if it is not finite, or does not have the ``shape`` of an earlier value.
    """
    returned = call(objective, label, states[0] if alone else list(states))
    shapes = ((), (None,)) if shape is None else (shape,)
    value = in_a_shape(returned, shapes, label, ArgumentError, wanted="one number, or an array (m,) of them")
    if value.ndim and not value.size:
        raise ArgumentError(f"{label} is an array without numbers")
    return value


def changed_state(state: State, change: np.ndarray) -> State:
    """Return ``state`` changed by ``change`` (nb, 12): position, rotation vector, velocity and angular velocity.

    m, world; rad, body axes; m/s, world; rad/s, body axes.
    """
    dx, turn, dv, dw = np.split(change, 4, axis=1)
    quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
    return state.of_bodies(state.position + dx, quat, state.velocity + dv, state.angular_velocity + dw)


def motion_between(first: State, state: State) -> np.ndarray:
    """Return the motion (nb, 6) from the poses of ``first`` to ``state``: m, world, and rad, up to pi, body axes."""
    turned = quat_product(first.quat_wxyz * CONJUGATE, state.quat_wxyz)
    shortest = np.where(turned[:, :1] < 0, -turned, turned)  # both signs of a quaternion are one pose
    return np.hstack([state.position - first.position, vector_from_quat(shortest)])


def stacked(parts: Sequence[Any], alone: bool) -> Any:
    """Return the derivatives ``parts`` of m numbers as one with a first axis of m; the only one if ``alone``."""
    if alone:
        return parts[0]
    if isinstance(parts[0], StateGradient):
        return StateGradient(*(np.array(arrays) for arrays in zip(*parts, strict=True)))
    return np.array(parts)
