"""The gradient of an objective of a run, by the start and by the numbers of the description.

The run is done once and its stages are kept. The gradient of the objective by its states goes back along them
(kernels/adjoint.py), exactly. What a number of the description changes is then the derivative of one scalar, by
differences of the description: of the residuals of all stages, each with its dual.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.display import Shown, value_text
from varint.errors import ArgumentError, AssemblyError, MechanismError
from varint.gradients.adjoint import Adjoint
from varint.gradients.local import Local
from varint.gradients.numbers import START, STEP_SIZE, Number, differences, in_the_same_axes, number_of, parameter
from varint.gradients.taped import TapedRun
from varint.integrators.schemes import Scheme
from varint.integrators.schemes import scheme as find_scheme
from varint.mechanism import Mechanism
from varint.model.checks import (
    array_of,
    call,
    finite,
    function_of,
    in_a_shape,
    known_name,
    of_type,
    positive,
    sequence_of,
)
from varint.model.rotation import quat_from_vector, quat_product
from varint.model.state import State
from varint.running import checked_times
from varint.simulation import check_forces, checked_start

STEP = 1e-4  # of the differences of an objective: rad, sizes of a part, and these over the duration
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


def gradient(
    mechanism: Mechanism | Callable[..., Mechanism],
    objective: Callable[..., float],
    duration: float,
    dt: float,
    *,
    with_respect_to: Sequence[str],
    times: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    state: State | None = None,
    order: int | None = None,
    scheme: str | None = None,
    tol: float = 1e-12,
    force: Mapping[str, ArrayLike] | None = None,
    torque: Mapping[str, ArrayLike] | None = None,
) -> Gradient:
    """The derivatives of an objective of a run by its start and by the numbers of its mechanism (docs/gradients.md).

    Those of the steps are exact, those of description and objective are central differences of fourth order.

    Parameters
    ----------
    mechanism : Mechanism, or a function of the ``parameters`` that makes one
    objective : function
        Of the last State, or of a list of those at ``times``; gives a number. Where it has an attribute ``gradient``,
        a function of the same that gives a `StateGradient` or a list of them, that is taken in place of differences.
    duration, dt, order, scheme, tol, force, torque
        As of `simulate`; no order 1.
    with_respect_to : sequence of str
        "start"; "gravity"; "dt", of a run of as many steps; a number of a body, joint or force: "coupler.mass",
        "crank pin.point", "crank pin.point[0]", "motor.effort", also where that is one value a node; a load on a body:
        "coupler.force", "coupler.torque"; or one of the ``parameters``. By an inertia along its symmetric changes.
    times : (K,), optional
        s, rising; whole steps.
    parameters : dict, optional
        Name to number or array: the arguments of ``mechanism``, where that is a function.
    state : State, optional
        Where the run starts; ``mechanism.state()`` where not given, which changes with the numbers. A state that is
        given stays, but for what closes the joints.

    Raises
    ------
    ArgumentError
        An unknown name; a number that cannot change, as one that opens an overconstrained loop, or the motions of a
        joint that is a product of exponentials; order 1; inputs that are functions of the state; inputs and loads that
        change with time where a hard stop is met.
    ConvergenceError
        A step could not be solved; it carries no trajectory.
    """
    function_of(objective, "objective", ArgumentError)
    made, own = _made(mechanism, parameters)
    names = [with_respect_to] if isinstance(with_respect_to, str) else with_respect_to
    names = sequence_of(names, "with_respect_to", "names", ArgumentError)
    loads = {name: load for name in names if (load := _load_of(made, name, force, torque))}
    others = {START, STEP_SIZE, *loads}
    numbers = {name: own[name] if name in own else number_of(made, name) for name in names if name not in others}
    method = find_scheme(order, scheme)
    _check(made, method)
    duration, dt, steps = checked_times(duration, positive(dt, "dt", ArgumentError))
    first = checked_start(made, made.state() if state is None else state)
    at = [steps] if times is None else _nodes(times, dt, steps)
    run = TapedRun(made, method, first, dt, positive(tol, "tol", ArgumentError), steps, at, (force, torque))
    states = [node.state for node in run.nodes]
    adjoint = Adjoint(run, _by_states(objective, states, times is None, made.compiled.length, duration))
    by: dict[str, Any] = {}
    local = Local(adjoint, state is None)
    for name in names:
        if name == START:
            by[name] = StateGradient(*np.split(adjoint.by_first_state(), 4, axis=1))
        elif name == STEP_SIZE:
            by[name] = adjoint.by_step()
        elif name in loads:
            by[name] = adjoint.given.by_load(*loads[name])
        else:
            by[name] = _by_number(numbers[name], adjoint, local, state)
    return Gradient(_value_of(objective, states, times is None), by, states)


def _load_of(mechanism: Mechanism, name: str, force: Mapping | None, torque: Mapping | None) -> tuple | None:
    """(slot, columns, nodes) of "NAME.force" and "NAME.torque" of a body; nodes 0: it is constant."""
    if not isinstance(name, str):
        return None
    body, _, what = name.rpartition(".")
    given = {"force": (force, slice(0, 3)), "torque": (torque, slice(3, 6))}
    if what not in given or body not in mechanism.body_index:
        return None
    loads, columns = given[what]
    value = np.shape((loads or {}).get(body, ()))
    return int(mechanism.compiled.slot[mechanism.body_index[body]]), columns, value[0] if len(value) == 2 else 0


def _made(given: object, parameters: Mapping[str, ArrayLike] | None) -> tuple[Mechanism, dict[str, Number]]:
    """The mechanism, and the parameters of the function that made it."""
    if isinstance(given, Mechanism):
        if parameters is not None:
            raise ArgumentError("parameters= are those of a function that makes the mechanism, got a Mechanism")
        return given, {}
    build = function_of(given, "mechanism, if it is no Mechanism,", ArgumentError)
    given_values = of_type({} if parameters is None else parameters, Mapping, "parameters", ArgumentError)
    shapes, wanted = ((), (None,), (None, None)), "a number or an array"
    values = {
        name: in_a_shape(value, shapes, f"parameter {name!r}", ArgumentError, wanted=wanted)
        for name, value in given_values.items()
    }
    numbers = {name: parameter(build, values, name) for name in values}
    plain = {name: float(value) if value.ndim == 0 else value for name, value in values.items()}
    built = call(partial(build, **plain), "the function that makes the mechanism")
    return of_type(built, Mechanism, "what the function makes", ArgumentError), numbers


def _check(mechanism: Mechanism, method: Scheme) -> None:
    """Raise ArgumentError for what has no derivative."""
    check_forces(mechanism, method)
    if method.staggered:
        raise ArgumentError("a gradient needs order 2 or more")


def _nodes(times: ArrayLike, dt: float, steps: int) -> list[int]:
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


def _by_number(number: Number, adjoint: Adjoint, local: Local, state: State | None) -> "float | np.ndarray":
    """The derivative by a number of the description, of its shape; ``state`` as of `gradient`."""
    if number.series is not None:
        elements = np.flatnonzero(adjoint.run.compiled.force == number.series)
        by_input = adjoint.given.by_series(elements, bool(adjoint.run.mechanism.forces[number.series].constraint))
        return by_input if number.value.ndim else float(by_input.sum())
    near = local.by(number)
    if near is not None:
        return near if near.ndim else float(near)
    found = []
    for k, direction in enumerate(number.directions()):

        def scalar(share: float, direction: np.ndarray = direction) -> float:
            changed = in_the_same_axes(number.replaced(number.value + share * direction), adjoint.run.mechanism)
            return adjoint.scalar(changed, start_of(changed, state))

        try:
            found.append(differences(scalar, number.step))
        except (AssemblyError, MechanismError) as problem:
            what = f"component {k} of '{number.name}'" if number.value.ndim else f"'{number.name}'"
            advice = f"; ask for others by '{number.name}[0]' ..." if number.value.ndim == 1 else ""
            raise ArgumentError(f"{what} cannot change by {number.step:g}: {problem}{advice}") from problem
    return float(found[0]) if number.value.ndim == 0 else np.reshape(found, number.value.shape)


def start_of(mechanism: Mechanism, state: State | None) -> State:
    """Where a run starts: ``state`` with its joints closed, and couplings as they are there; see `gradient`."""
    return mechanism.state() if state is None else dataclasses.replace(mechanism, forces=[]).assemble(state)


def _by_states(
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
            return _value_of(objective, changed, alone)

        found[n, i, k] = differences(value, float(steps[k]))
    return found


def _value_of(objective: Callable[..., float], states: Sequence[State], alone: bool) -> float:
    """The objective, of the one state where ``alone``; raises ArgumentError where it is no finite number."""
    given = states[0] if alone else list(states)
    return finite(call(objective, "the objective", given), "the objective", ArgumentError)


def changed_state(state: State, change: np.ndarray) -> State:
    """A state changed by (nb, 12): position, rotation vector, velocity and angular velocity."""
    dx, turn, dv, dw = np.split(change, 4, axis=1)
    quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
    return State(state.position + dx, quat, state.velocity + dv, state.angular_velocity + dw)
