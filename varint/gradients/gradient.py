"""The gradient of an objective of a run, by the start and by the numbers of the description.

The run is done once and its stages are kept. The gradient of the objective by its states goes back along them
(kernels/adjoint.py), exactly. What a number of the description changes is then the derivative of one scalar, by
differences of the description (adjoint.py), or is known at once (local.py).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.errors import ArgumentError
from varint.gradients.adjoint import Adjoint, scalars
from varint.gradients.local import Local
from varint.gradients.numbers import START, STEP_SIZE, Number, by_differences, check_names, made_of, number_of, start_of
from varint.gradients.objective import Gradient, StateGradient, bound, by_itself, by_states, nodes_at, stacked
from varint.gradients.taped import TapedRun
from varint.integrators.schemes import Scheme
from varint.integrators.schemes import scheme as find_scheme
from varint.mechanism import Mechanism
from varint.model.checks import flag, function_of, positive, sequence_of
from varint.model.state import State
from varint.running import checked_times
from varint.simulation import check_forces, checked_start


def gradient(
    mechanism: Mechanism | Callable[..., Mechanism],
    objective: Callable[..., Any],
    duration: float,
    dt: float,
    *,
    with_respect_to: Sequence[str],
    times: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    state: State | None = None,
    of_mechanism: bool = False,
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
        Of the last State, or of a list of those at ``times``; gives a number, or an array (m,) of numbers, which share
        the run: derivatives then have a first axis of m. Where an objective that is one number has an attribute
        ``gradient``, a function of the same that gives a `StateGradient` (or four such arrays), or a list of one a
        time, that is taken in place of differences.
    of_mechanism : bool
        Whether the objective takes the mechanism before the state or states: that of an energy, a reaction or a joint
        coordinate, which depend on the numbers themselves too.
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
        An unknown name; a number that cannot change, as one that opens an overconstrained loop; order 1; inputs that
        are functions of the state; inputs and loads that change with time where a hard stop is met.
    ConvergenceError
        A step could not be solved; it carries no trajectory.
    """
    function_of(objective, "objective", ArgumentError)
    made, own = made_of(mechanism, parameters)
    names = [with_respect_to] if isinstance(with_respect_to, str) else with_respect_to
    names = sequence_of(names, "with_respect_to", "names", ArgumentError)
    check_names(names)
    loads = {name: load for name in names if (load := _load_of(made, name, force, torque))}
    others = {START, STEP_SIZE, *loads}
    numbers = {name: own[name] if name in own else number_of(made, name) for name in names if name not in others}
    method = find_scheme(order, scheme)
    _check(made, method)
    duration, dt, steps = checked_times(duration, positive(dt, "dt", ArgumentError))
    first = checked_start(made, made.state() if state is None else state)
    at = [steps] if times is None else nodes_at(times, dt, steps)
    run = TapedRun(made, method, first, dt, positive(tol, "tol", ArgumentError), steps, at, (force, torque))
    states = [node.state for node in run.nodes]
    alone = times is None
    of_states = bound(objective, made) if flag(of_mechanism, "of_mechanism", ArgumentError) else objective
    value, by_state = by_states(of_states, states, alone, made.compiled.length, duration)
    adjoints = [Adjoint(run, each) for each in by_state]
    local = [Local(adjoint, state is None) for adjoint in adjoints]
    by: dict[str, Any] = {}
    for name in names:
        if name == START:
            found: list[Any] = [StateGradient(*np.split(each.by_first_state(), 4, axis=1)) for each in adjoints]
        elif name == STEP_SIZE:
            found = [adjoint.by_step() for adjoint in adjoints]
        elif name in loads:
            found = [adjoint.given.by_load(*loads[name]) for adjoint in adjoints]
        else:
            found = _by_number(numbers[name], adjoints, local, state)
        if of_mechanism and name in numbers:
            found = [
                a + b for a, b in zip(found, by_itself(objective, numbers[name], made, states, alone), strict=True)
            ]
        by[name] = stacked(found, not value.ndim)
    return Gradient(value if value.ndim else float(value), by, states)


def _load_of(mechanism: Mechanism, name: str, force: Mapping | None, torque: Mapping | None) -> tuple | None:
    """(slot, columns, nodes) of "NAME.force" and "NAME.torque" of a body; nodes 0: it is constant."""
    body, _, what = name.rpartition(".")
    given = {"force": (force, slice(0, 3)), "torque": (torque, slice(3, 6))}
    if what not in given or body not in mechanism.body_index:
        return None
    loads, columns = given[what]
    value = np.shape((loads or {}).get(body, ()))
    return int(mechanism.compiled.slot[mechanism.body_index[body]]), columns, value[0] if len(value) == 2 else 0


def _check(mechanism: Mechanism, method: Scheme) -> None:
    """Raise ArgumentError for what has no derivative."""
    check_forces(mechanism, method)
    if method.staggered:
        raise ArgumentError("a gradient needs order 2 or more")


def _by_number(
    number: Number, adjoints: Sequence[Adjoint], local: Sequence[Local], state: State | None
) -> list["float | np.ndarray"]:
    """The derivatives by a number of the description, of its shape; ``state`` as of `gradient`."""
    run = adjoints[0].run
    if number.series is not None:
        elements = np.flatnonzero(run.compiled.force == number.series)
        moves = bool(run.mechanism.forces[number.series].constraint)
        by_input = [adjoint.given.by_series(elements, moves) for adjoint in adjoints]
        return [each if number.value.ndim else float(each.sum()) for each in by_input]
    near = [each.by(number) for each in local]
    if near[0] is not None:
        return [each if number.value.ndim else float(each) for each in near if each is not None]
    return by_differences(number, run.mechanism, lambda changed: scalars(adjoints, changed, start_of(changed, state)))
