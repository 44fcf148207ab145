"""A run as a function from parameters to arrays of states, and its gradient by the cotangents of these."""

import dataclasses
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import choice, function_of, is_whole, known_name, positive, sequence_of, shown
from varint.base.errors import ArgumentError, UnresolvedWarning
from varint.derivatives import StateGradient, gradient
from varint.derivatives.numbers import check_parameters_of, made_of, number_of, with_numbers
from varint.derivatives.objective import CONJUGATE, nodes_at
from varint.extras.bridges.rollout_parameters import check_parameters, numbers_by_name
from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.methods.simulation import simulate
from varint.methods.variational.method import ON_UNRESOLVED
from varint.model.joints.base import Z
from varint.model.motion import Turn
from varint.model.rotation_vectors import quat_product
from varint.model.state import State
from varint.results.resolution import find_unresolved
from varint.runs.problem import checked_times

OPTIONS = ("order", "scheme", "tol", "state", "force", "torque", "on_unresolved")  # of `simulate` and of `gradient`
TOL = 1e-12  # m/s, as in `gradient`
FIRST_ONLY = "a rollout has first derivatives only, in reverse: take differences of these for second ones"


class _StateArrays(NamedTuple):
    position: Any
    quat_wxyz: Any
    velocity: Any
    angular_velocity: Any


class RolloutStates(_StateArrays):
    """Arrays, of the library that was asked, with the states of nb bodies at K times, or their cotangents.

    position : (K, nb, 3) m, world
    quat_wxyz : (K, nb, 4) body to world, unit
    velocity : (K, nb, 3) m/s, world
    angular_velocity : (K, nb, 3) rad/s, body
    """

    # attributes that are no part of the tuple, so that tuples made anew by JAX lack them
    mechanism: Mechanism | None = None
    parameters: Collection[str] | None = None  # names of numbers of the mechanism; None where a function made it

    def path(self, body: int | str, place: Any) -> Any:
        """Return the path (K, 3) of a point fixed to a body, m, world, an array of the library.

        ``body``: its name or its number; in JAX the number where ``jax.jit`` returned the states, or a function makes
        the mechanism. ``place``: three numbers, also of the library, m: the point from the centre of mass, in body
        axes, as in `State.point`.
        Raises ArgumentError for an unknown body, or another place.
        """
        if isinstance(body, str):
            if self.mechanism is None:
                raise ArgumentError(f"names of bodies are not known here: give the number of {body!r}")
            names = self.mechanism.body_index
            body = names[known_name(body, names, "no body", ArgumentError)]
        last = self.position.shape[1] - 1
        if not is_whole(body) or not 0 <= int(body) <= last:
            raise ArgumentError(f"number of a body must be a whole number from 0 up to {last}, got {shown(body)}")
        place = sequence_of(place, "place", "three numbers", ArgumentError)
        if len(place) != 3 or any(np.shape(each) for each in place):
            got = len(place) if len(place) != 3 else f"shape {(3, *np.shape(place[0]))}"
            raise ArgumentError(f"place must be three numbers, got {got}")
        return self.position[:, body] + self._turned(body, place)

    def angle(self, joint: str) -> Any:
        """Return the coordinate (K,) of a hinge, rad, in (-pi, pi], an array of the library.

        Raises ArgumentError for another joint, where the axis of this one is a parameter, and where the mechanism is
        not known: a function made it, or ``jax.jit`` returned the states.
        """
        if self.mechanism is None or self.parameters is None:
            raise ArgumentError("angles are those of a rollout of a Mechanism, taken where the rollout is called")
        one = self.mechanism.joint(known_name(joint, self.mechanism.joint_index, "no joint", ArgumentError))
        if one.allowed != (Turn(Z),):
            raise ArgumentError(f"{one.label} is no hinge: take paths of points for it")
        if moved := next((name for name in self.parameters if name.startswith(f"{joint}.axis")), None):
            raise ArgumentError(f"the angle of {one.label} has no derivative by {moved!r}: take paths of points for it")
        frames = JointFrames(self.mechanism, one)
        (a_x, a_y), (b_x, b_y) = (
            [self._turned(body, axis) for axis in axes.T[:2]]
            for body, axes in ((frames.a, frames.axes_a), (frames.b, frames.axes_b))
        )
        sine, cosine = (a_y * b_x - a_x * b_y).sum(-1), (a_x * b_x + a_y * b_y).sum(-1)
        return sine.atan2(cosine) if hasattr(sine, "atan2") else sine.__array_namespace__().atan2(sine, cosine)

    def _turned(self, body: int, place: Any) -> Any:
        """Return a vector (3,) in axes of the body, or of the world for -1, as (K, 3) or (3,) in world axes."""
        units = [self._own(unit) for unit in np.eye(3)]
        if body < 0:
            return sum(part * unit for part, unit in zip(place, units, strict=True))
        scalar, vector = self.quat_wxyz[:, body, :1], self.quat_wxyz[:, body, 1:]
        after, before = np.array([1, 2, 0]), np.array([2, 0, 1])
        square = scalar**2 - (vector**2).sum(1)[:, None]
        turned = 0.0
        for k, unit in enumerate(units):  # R e_k = (w w - u u) e_k + 2 u_k u + 2 w u x e_k
            crossed = vector[:, after] * unit[before] - vector[:, before] * unit[after]
            turned = turned + place[k] * (square * unit + 2.0 * vector[:, k : k + 1] * vector + 2.0 * scalar * crossed)
        return turned

    def _own(self, vector: np.ndarray) -> Any:
        """Return a vector of numpy for products with arrays of the library: PyTorch refuses numpy's."""
        return self.position.new_tensor(vector) if hasattr(self.position, "new_tensor") else vector


@dataclasses.dataclass(frozen=True)
class Cotangents:
    """The objective whose gradient by the states is ``by``, arrays of numpy."""

    by: RolloutStates

    def __call__(self, states: Sequence[State]) -> float:
        pairs = zip(RolloutStates._fields, self.by, strict=True)
        return sum(float(np.sum(by * [getattr(state, name) for state in states])) for name, by in pairs)

    def gradient(self, states: Sequence[State]) -> list[StateGradient]:
        position, quat, *rates = self.by
        turned = [by_rotation(state.quat_wxyz, by) for state, by in zip(states, quat, strict=True)]
        return [StateGradient(*each) for each in zip(position, turned, *rates, strict=True)]


class Rollout:
    """A run of the mechanism of ``build``, or of one with other numbers; ``options`` are some of ``OPTIONS``.

    It takes arrays that numpy can read, and gives numpy's.
    """

    def __init__(
        self,
        build: Callable[..., Mechanism] | Mechanism,
        duration: float,
        dt: float,
        times: ArrayLike | None,
        options: Mapping[str, Any],
    ) -> None:
        is_built = isinstance(build, Mechanism)
        self.build = build if is_built else function_of(build, "build, if it is no Mechanism,", ArgumentError)
        self.duration, self.dt, self.steps = checked_times(duration, positive(dt, "dt", ArgumentError))
        self.nodes = [self.steps] if times is None else nodes_at(times, self.dt, self.steps)
        for name in options:
            known_name(name, OPTIONS, "a rollout has no argument", ArgumentError)
        self.options = {"tol": TOL, "on_unresolved": "warn", **options}
        choice(self.options["on_unresolved"], ON_UNRESOLVED, "on_unresolved", ArgumentError)
        self.mechanism = build if isinstance(build, Mechanism) else None  # of a function: that of the last run
        self._known: set[str] = set()
        self._warned = False
        self._last: tuple[tuple, Any] = ((None,), None)

    @property
    def described(self) -> bool:
        """Whether the mechanism was given itself, and no function that makes it."""
        return isinstance(self.build, Mechanism)

    def given(self, parameters: object, array: str, taken: Callable[[str, Any], Any]) -> dict[str, Any]:
        """Return the user's ``parameters`` as numbers by name; see `numbers_by_name`.

        Raises ArgumentError for a parameter that the rollout does not have.
        """
        numbers = numbers_by_name(parameters, array, taken)
        if isinstance(self.build, Mechanism):
            check_parameters(self.build, {name: tuple(value.shape) for name, value in numbers.items()}, self.steps)
            for name in numbers.keys() - self._known:  # raises where the mechanism lacks it
                number_of(self.build, name)
            self._known |= numbers.keys()
        else:
            check_parameters_of(self.build, numbers)
        return numbers

    def made(self, parameters: Mapping[str, Any]) -> Mechanism:
        """Return the mechanism with these parameters: built of them, or with these numbers in its description."""
        if not isinstance(self.build, Mechanism):
            return made_of(self.build, parameters)[0]
        values = {name: np.asarray(value, dtype=float) for name, value in parameters.items()}
        key = tuple((name, value.shape, value.tobytes()) for name, value in values.items())
        known, mechanism = self._last
        if known != key:  # the backward pass has the parameters of the forward one
            mechanism = with_numbers(self.build, values)
            self._last = key, mechanism
        return mechanism

    def states(self, parameters: Mapping[str, Any]) -> RolloutStates:
        """Run with these parameters and return the states at the nodes of the rollout."""
        how = self.options["on_unresolved"]
        quiet = how == "warn"
        mechanism = self.made(parameters)
        if not isinstance(self.build, Mechanism):
            self.mechanism = mechanism
        run = simulate(
            mechanism,
            self.duration,
            self.dt,
            **{**self.options, "on_unresolved": "ignore" if quiet else how},
        )
        if quiet and not self._warned and (unresolved := find_unresolved(run, self.dt)) is not None:
            self._warned = True  # once, as a descent runs hundreds of times
            warnings.warn(
                f"{unresolved.message}. Later runs of this rollout do not warn", UnresolvedWarning, stacklevel=2
            )
        return RolloutStates(*(getattr(run, name)[self.nodes] for name in RolloutStates._fields))

    def back(self, parameters: Mapping[str, Any], names: Sequence[str], cotangents: Sequence[Any]) -> list[np.ndarray]:
        """Return the cotangents of the parameters ``names`` from ``cotangents`` of the states, by one sweep back."""
        is_built = isinstance(self.build, Mechanism)
        again = "substep" if self.options["on_unresolved"] == "substep" else "ignore"  # said of the run forward
        gradients = gradient(
            self.made(parameters) if is_built else self.build,
            Cotangents(RolloutStates(*map(np.asarray, cotangents))),
            self.duration,
            self.dt,
            with_respect_to=names,
            times=np.multiply(self.nodes, self.dt),
            parameters=None if is_built else parameters,
            **{**self.options, "on_unresolved": again},
        )
        return [np.asarray(gradients[name], dtype=float) for name in names]


def by_rotation(quat: np.ndarray, by_quat: np.ndarray) -> np.ndarray:
    """Return derivatives (nb, 3) by rotation vectors, body axes, from ``by_quat`` (nb, 4) by quaternions.

    ``quat`` (nb, 4): the rotations, which change by dq = q (0, theta / 2).
    """
    return 0.5 * quat_product(quat * CONJUGATE, by_quat)[:, 1:]
