"""Objectives of runs: functions of states at nodes, and their gradients by these."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.display import Shown, value_text
from varint.errors import ArgumentError
from varint.gradients.numbers import START, differences
from varint.model.checks import array_of, call, finite, known_name
from varint.model.rotation import quat_from_vector, quat_product, vector_from_quat
from varint.model.state import State

STEP = 1e-4  # of the differences of an objective: rad, sizes of a part, and these over the duration
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
SAME_TIME = 1e-6  # of dt: a time that is as near as this to a node is its


class StateGradient(NamedTuple):
    """The gradient of a number by a state of nb bodies.

    position : (nb, 3) by m, world
    rotation : (nb, 3) by rad, a rotation vector in body axes
    velocity : (nb, 3) by m/s, world
    angular_velocity : (nb, 3) by rad/s, body

    Only its product with changes that keep the joints closed says something.
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Gradient(Shown):
    """The value of an objective, and its derivatives by name: ``g["coupler.mass"]``.

    value : float
    by : dict of name to float, array, or `StateGradient` for "start"
    states : list of State
        Of the run, those that the objective is of.
    """

    value: float
    by: Mapping[str, Any]
    states: Sequence[State]

    def __getitem__(self, name: str) -> Any:
        return self.by[known_name(name, self.by, "the gradient has no", ArgumentError)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by)

    def _facts(self) -> Iterable[str]:
        yield f"value {self.value:.6g}"
        yield from (f"{name} {value_text(value)}" for name, value in self.by.items() if name != START)


def nodes_at(times: ArrayLike, dt: float, steps: int) -> list[int]:
    """Numbers of the nodes at ``times``."""
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


def by_states(
    objective: Callable[..., float], states: Sequence[State], alone: bool, length: float, duration: float
) -> np.ndarray:
    """(K, nb, 12) gradient of the objective by the states; ``alone``: of the one state, not of a list."""
    own = getattr(objective, "gradient", None)
    if own is not None:
        given = [own(states[0])] if alone else own(list(states))
        return np.array([np.concatenate([np.asarray(part, dtype=float) for part in each], axis=1) for each in given])
    steps = np.repeat(STEP * np.array([length, 1.0, length / duration, 1.0 / duration]), 3)
    found = np.empty((len(states), len(states[0].position), 12))
    for n, i, k in np.ndindex(*found.shape):

        def value(share: float, n: int = n, i: int = i, k: int = k) -> float:
            change = np.zeros(found.shape[1:])
            change[i, k] = share
            changed = [changed_state(state, change) if m == n else state for m, state in enumerate(states)]
            return value_of(objective, changed, alone)

        found[n, i, k] = differences(value, float(steps[k]))
    return found


def value_of(objective: Callable[..., float], states: Sequence[State], alone: bool) -> float:
    """The objective, of the one state where ``alone``; raises ArgumentError where it is no finite number."""
    given = states[0] if alone else list(states)
    return finite(call(objective, "the objective", given), "the objective", ArgumentError)


def changed_state(state: State, change: np.ndarray) -> State:
    """A state changed by (nb, 12): position, rotation vector, velocity and angular velocity."""
    dx, turn, dv, dw = np.split(change, 4, axis=1)
    quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
    return State(state.position + dx, quat, state.velocity + dv, state.angular_velocity + dw)


def motion_between(first: State, state: State) -> np.ndarray:
    """(nb, 6) from the poses of ``first`` to those of ``state``: m, world, and rotation vectors, body axes."""
    turned = vector_from_quat(quat_product(first.quat_wxyz * CONJUGATE, state.quat_wxyz))
    return np.hstack([state.position - first.position, turned])
