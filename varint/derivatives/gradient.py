"""The gradient of an objective of a run, by the start and by the numbers of the description.

The run is done once and its stages are kept, all or part by part (taped.py). The gradient of the objective by its
states goes back along them (step/derivatives/adjoint.py), exactly. What a number of the description changes is then the
derivative of one scalar, by differences of the description (changes.py), or is known at once (local.py).
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.callers import level_of_user
from varint.base.checks import flag, function_of, positive, sequence_of
from varint.base.errors import ArgumentError, UnresolvedError, UnresolvedWarning
from varint.derivatives.along_run import MotionSum, go_back
from varint.derivatives.backward import Adjoint, adjoints_of
from varint.derivatives.changes import Changed, Changes, bends
from varint.derivatives.collocation.adjoint import CollocationAdjoint
from varint.derivatives.collocation.tape import CollocationTape
from varint.derivatives.given import LoadPlace
from varint.derivatives.jumps import MOVING, InputKinks, Jumps, MotionKinks
from varint.derivatives.kinks import WHOLE, RunGradient, of_one_side, perturbed_arguments
from varint.derivatives.local import Derivative, Local
from varint.derivatives.meshes.adjoint import MeshAdjoint
from varint.derivatives.meshes.numbers import MeshNumbers
from varint.derivatives.meshes.tape import MeshTape
from varint.derivatives.mobility import Mobility
from varint.derivatives.numbers import (
    START,
    STEP_SIZE,
    Number,
    by_differences,
    check_derivative,
    check_names,
    made_of,
    number_of,
    of_shape,
    start_of,
)
from varint.derivatives.objective import (
    Gradient,
    StateGradient,
    bound,
    by_itself,
    by_states,
    nodes_at,
    stacked,
    times_at,
)
from varint.derivatives.stage_slopes import StageSlopes
from varint.derivatives.taped import MaximalTape, TapeSetting
from varint.kinematics.initial_state import checked_start
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.deformable_run import check_deformable
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.method import Variational, checked_turn
from varint.methods.variational.schemes import scheme as find_scheme
from varint.model.forces.moved import Moved
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.resolution import finer_step
from varint.runs.method import Method
from varint.runs.parts import Arguments, posed, refuse_beside, with_arguments
from varint.runs.problem import Problem, Recording, checked_times

TAKEN = "mechanism", "objective", "times", "parameters"
RESTITUTION = "restitution"  # a field of hard stops and contacts
SHARES = (1.0, 0.15, 0.02)  # of the steps of numbers, tried in turn: starts closed anew bend near singular poses


@with_arguments
def gradient(
    arguments: Arguments,
    mechanism: Mechanism | Callable[..., Mechanism] | Problem,
    objective: Callable[..., Any],
    duration: float | Method | None = None,
    dt: float | Method | None = None,
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
    adaptive: bool | float = False,
    on_unresolved: str = "warn",
    memory: float | None = None,
) -> Gradient:
    """Return the derivatives of an objective of a run by its start and by numbers of its mechanism (docs/gradients.md).

    Derivatives of the steps are exact; those of description and objective are central differences of fourth order.

    Parameters
    ----------
    mechanism : Mechanism, or a function of the ``parameters`` that makes one, or Problem
    objective : function
        Function of the last State, or of a list of the states at ``times``; returns a number, or an array (m,) of
        numbers, which share the run: derivatives then have a first axis of m. If an objective that is one number has an
        attribute ``gradient``, that replaces differences: a function of the same arguments that returns a
        `StateGradient` (or four such arrays), or a list of one for each time.
    of_mechanism : bool
        Whether the objective takes the mechanism before the state or states: needed for an energy, a reaction or a
        joint coordinate, which also depend on the numbers directly.
    duration, dt, order, scheme, tol, force, torque
        See `simulate`; no order 1. With a Problem ``duration`` is the method: a `Variational`, whose default ``tol`` is
        1e-12, a `Lobatto`, or a `Reduced`, see `varint.redmax.gradient`. ``dt`` may be a `Lobatto` too: so functions of
        ``parameters`` have gradients along collocation.
    adaptive : bool or float
        See `simulate`. Step sizes are held: the gradient is that of the steps as they were taken.
    on_unresolved : {"warn", "raise", "substep", "ignore"}
        See `simulate`; it does not warn about stiff forces such as a `VelocityMotor`. With "substep" the gradient is
        that of the steps as they were cut.
    memory : float, optional
        Bytes for stages and checkpoints; default: half of the free memory. If not all stages fit, the run is marched
        again from checkpoints: the gradient has the same bits, and takes longer.
    with_respect_to : sequence of str
        "start"; "gravity"; "dt", with the number of steps held; a number of a body, joint or force: "coupler.mass",
        "crank pin.point", "crank pin.point[0]", "motor.effort", also if it has one value a node; a load on a body:
        "coupler.force", "coupler.torque"; or one of the ``parameters``. An inertia changes symmetrically.
    times : (K,), optional
        s, rising; at whole steps, unless ``adaptive``.
    parameters : dict, optional
        Name to number or array: the arguments of ``mechanism``, if that is a function.
    state : State, optional
        Start of the run; default: ``mechanism.state()``, which changes with the numbers. A specified state is held, and
        changes only as closing the joints requires.

    Returns
    -------
    Gradient
        ``value`` of the objective; the derivative by each name, ``g["coupler.mass"]``, in the shape of the number, a
        `StateGradient` by "start"; and ``states``, at which the objective was evaluated.

    Raises
    ------
    ArgumentError
        An unknown name; a number that cannot change, as one that opens or locks an overconstrained loop; order 1;
        inputs that are `extrapolated`, and with ``adaptive`` all that are functions of the state; a hard stop reached
        with zero speed; "dt" of adaptive steps; a memory in which no step fits.
    ConvergenceError
        A step could not be solved; it carries no trajectory. UnresolvedError, which is one: see above.
    """
    if isinstance(mechanism, Problem) and isinstance(duration, Method) and duration.gradient_in:
        return _by_others(arguments, duration.gradient_in)

    def rerun(number: Number, value: np.ndarray) -> RunGradient:
        return _of_run(perturbed_arguments(arguments, number, value), quiet=True)

    return of_one_side(_of_run(arguments), rerun)


def _of_run(arguments: Arguments, quiet: bool = False) -> RunGradient:
    """Return the gradient for arguments of `gradient`; ``quiet``: without a warning of unresolved steps."""
    values = arguments.values
    mechanism, objective, times, parameters = (values[name] for name in TAKEN)
    of_mechanism, memory = values["of_mechanism"], values["memory"]
    function_of(objective, "objective", ArgumentError)
    made, by_parameter = made_of(mechanism.mechanism if isinstance(mechanism, Problem) else mechanism, parameters)
    if not isinstance(mechanism, Problem):
        arguments = _with_method(arguments.replaced(mechanism=made))
    kind = Lobatto if isinstance(arguments.values["duration"], Lobatto) else Variational
    problem, method = posed(arguments, kind, only=True)
    asked = values["with_respect_to"]
    names = [asked] if isinstance(asked, str) else asked
    names = sequence_of(names, "with_respect_to", "names", ArgumentError)
    check_names(names)
    places = {name: place for name in names if (place := _load_of(made, name, problem.force, problem.torque))}
    others = {START, STEP_SIZE, *places}
    numbers = {
        name: by_parameter[name] if name in by_parameter else check_derivative(number_of(made, name))
        for name in names
        if name not in others
    }
    collocates = isinstance(method, Lobatto)
    if collocates:
        refuse_beside(arguments, {"adaptive", "scheme", "tol"})  # of `Variational` alone
    for name, number in numbers.items():
        if collocates and number.field and isinstance(number.field.item, Moved):
            raise ArgumentError(
                f"{name!r} changes where the motion of {number.field.item.label} begins: ask for a parameter of a"
                " function that makes the mechanism with its start"
            )
    setting, at = (_collocation_setting if collocates else _setting)(problem, method, times, memory)
    if STEP_SIZE in names and setting.turn is not None:
        raise ArgumentError("adaptive steps have no derivative by 'dt': their sizes are held as they were taken")
    state = problem.state
    first = checked_start(made, problem.start())
    run: MaximalTape
    adjoint_of: type[Adjoint]
    if collocates:
        run, adjoint_of = CollocationTape(made, first, setting, at, method), CollocationAdjoint
    elif soft_meshes(made):
        run, adjoint_of = MeshTape(made, first, setting, at), MeshAdjoint
    else:
        run, adjoint_of = MaximalTape(made, first, setting, at), Adjoint
    _report_unresolved(run, "ignore" if quiet else method.on_unresolved)
    states = [run.nodes[k].state for k in run.wanted]
    alone = times is None
    of_states = bound(objective, made) if flag(of_mechanism, "of_mechanism", ArgumentError) else objective
    value, by_bodies, by_vertices = by_states(of_states, states, alone, made.compiled.length, problem.duration)
    by_nodes = np.zeros((len(by_bodies), len(run.nodes), *by_bodies.shape[2:]))
    by_nodes[:, run.wanted] = by_bodies
    adjoints = adjoints_of(run, by_nodes, places, adjoint_of)
    for adjoint, each in zip(adjoints, by_vertices, strict=True):
        if isinstance(adjoint, MeshAdjoint):
            adjoint.by_vertices[run.wanted] = each
    mobility, by_numbers = Mobility(made, run.first, state), Prepared(run, state, len(adjoints))
    mobility.check([*numbers.values()])
    derivatives: dict[str, Callable[[int, Adjoint], Any]]
    derivatives = {name: by_numbers.derivative(number) for name, number in numbers.items()}
    derivatives[START] = lambda k, adjoint: StateGradient(*np.split(adjoint.by_first_state(), 4, axis=1))
    derivatives[STEP_SIZE] = lambda k, adjoint: adjoint.by_step()
    for name in places:
        derivatives[name] = partial(_by_load, name)
    for adjoint in adjoints:
        adjoint.by.wanted[0] = by_numbers.of_rows
    jumps, inputs = Jumps(len(adjoints), run), InputKinks(len(adjoints), run, numbers)
    motions = MotionKinks(len(adjoints), run)
    go_back(run, adjoints, [*by_numbers.sums, jumps, inputs, *([motions] if {*names} & {*MOVING} else [])])
    by = {}
    for name in names:
        by_run = [derivatives[name](k, each) for k, each in enumerate(adjoints)]
        if of_mechanism and name in numbers:
            itself = by_itself(objective, numbers[name], made, states, alone)
            by_run = [through + direct for through, direct in zip(by_run, itself, strict=True)]
        by[name] = stacked(by_run, not value.ndim)
    gradient = Gradient(value if value.ndim else float(value), by, states)
    return RunGradient(
        gradient, numbers, _kinked(numbers, by_numbers.local, by_numbers.slopes, inputs.names), jumps, motions
    )


def _with_method(arguments: Arguments) -> Arguments:
    """Return ``arguments`` with a method for ``dt`` as arguments with a Problem and this method."""
    values = arguments.values
    if not isinstance(values["dt"], Lobatto) or values["duration"] is None:
        return arguments
    of_problem = {name: values[name] for name in ("mechanism", "duration", "state", "force", "torque")}
    left_out = dict.fromkeys(("dt", "state", "force", "torque"))
    return arguments.replaced(**left_out | {"mechanism": Problem(**of_problem), "duration": values["dt"]})


def _kinked(
    numbers: Mapping[str, Number], local: Local, slopes: Sequence[tuple[str, int, StageSlopes]], inputs: Sequence[str]
) -> dict[str, set[int]]:
    """Return the components of numbers, by name, by which the run stands at a kink, see `of_one_side`.

    ``local``, ``slopes``: after the backward pass, see `Local`. ``inputs``: names of inputs at a kink of a law.
    """
    components: dict[str, set[int]] = {}
    for name, k, each in slopes:
        if each.stands_at_kink():
            through = [(one, n) for one, n, other in local.through if other == name]
            for one, n in [(name, k), *through]:
                if one in numbers:
                    components.setdefault(one, set()).add(n)
    for name, number in numbers.items():
        if number.field and number.field.attribute == RESTITUTION and not number.value.any():
            components[name] = {*range(number.value.size)}  # stops and contacts that close rebound above zero
    for name in inputs:
        components.setdefault(name, set()).add(WHOLE if numbers[name].value.ndim else 0)
    return components


def _by_load(name: str, k: int, adjoint: Adjoint) -> np.ndarray:
    """Return the derivative of objective ``k``, with its ``adjoint``, by the load ``name``."""
    return adjoint.given.by_load(name)


def _by_others(arguments: Arguments, module: str) -> Gradient:
    """Return the gradient by the function ``gradient`` of another ``module``, for arguments of this one."""
    passed = ("mechanism", "objective", "duration", "with_respect_to", "times", "parameters", "of_mechanism")
    values = arguments.values
    if values["memory"] is not None:
        raise ArgumentError("memory= is of gradients of the variational integrator: leave it out")
    refuse_beside(arguments, values.keys() - passed)
    return importlib.import_module(module).gradient(**{name: values[name] for name in passed})


def _setting(
    problem: Problem, method: Variational, times: ArrayLike | None, memory: float | None
) -> tuple[TapeSetting, list]:
    """Return the setting of the run, and the instants of the objective: numbers of nodes, or times, s, if adaptive.

    ``times``, ``memory``: as in `gradient`.
    """
    scheme = find_scheme(method.order, method.scheme)
    refuse(problem.mechanism, USES["gradient" if method.adaptive is False else "adaptive gradient"])
    check_deformable(problem.mechanism, scheme, Recording(), method.on_unresolved == "substep")
    if scheme.staggered:
        raise ArgumentError("a gradient needs order 2 or more")
    if scheme.stages.size > 1:
        refuse(problem.mechanism, USES["composed steps"])
    _check_together(problem.mechanism)
    duration, dt, steps = checked_times(problem.duration, method.dt)  # type: ignore[arg-type]  # a number by now
    turn = checked_turn(method.adaptive, scheme)
    at: list[Any]
    if turn is None:
        at = [steps] if times is None else nodes_at(times, dt, steps)
    else:
        at = [duration] if times is None else times_at(times, duration)
    memory = None if memory is None else positive(memory, "memory", ArgumentError)
    end = steps * dt if turn is None else duration
    loads, redo = (problem.force, problem.torque), method.on_unresolved == "substep"
    return TapeSetting(scheme, dt, method.tol, steps, loads, turn, end, redo, memory), at


def _collocation_setting(
    problem: Problem, method: Lobatto, times: ArrayLike | None, memory: float | None
) -> tuple[TapeSetting, list]:
    """Return the setting of a run of `Lobatto`, see `_setting`."""
    refuse(problem.mechanism, USES["collocation gradient"])
    method.check(problem.mechanism)
    _, dt, steps = checked_times(problem.duration, method.dt)
    memory = None if memory is None else positive(memory, "memory", ArgumentError)
    at = [steps] if times is None else nodes_at(times, dt, steps)
    loads = problem.force, problem.torque
    return TapeSetting(find_scheme(2), dt, 0.0, steps, loads, end=steps * dt, memory=memory), [*at]


def _check_together(mechanism: Mechanism) -> None:
    """Raise ArgumentError if stops and contacts may act in the same impact."""
    pairs = zip(mechanism.forces, mechanism.force_traits, strict=True)
    named = {trait: force for force, traits in pairs for trait in traits}
    if "hard" in named and "contacts" in named:
        raise ArgumentError(
            f"{named['hard'].label} and {named['contacts'].label} may act in one impact, which gradients do not"
            " support: give the stop a stiffness, or remove one of the two"
        )


def _report_unresolved(run: MaximalTape, on_unresolved: str) -> None:
    """Warn the caller of `gradient`, or raise UnresolvedError, if steps did not resolve the motion."""
    first, name = run.unresolved, run.mechanism.name
    if first is None or on_unresolved == "ignore":
        return
    message = (
        f"the steps of '{name}' did not resolve its motion, first between t = {first.after:g} and {first.until:g} s,"
        f" where the velocity of body '{first.body}' changed most: energy came or went without work. The gradient is"
        f" that of the steps. Try dt = {finer_step(run.mechanism, run.dt):g} s"
    )
    if on_unresolved == "raise":
        raise UnresolvedError(message, time=first.after, body=first.body, joint=None, trajectory=None)
    warnings.warn(message, UnresolvedWarning, stacklevel=level_of_user())


def _load_of(mechanism: Mechanism, name: str, force: Mapping | None, torque: Mapping | None) -> LoadPlace | None:
    """Return body and kind of the load ``name``, "BODY.force" or "BODY.torque"; None for other names.

    ``force``, ``torque``: see `simulate`.
    """
    body, _, attribute = name.rpartition(".")
    by_attribute = {"force": (force, slice(0, 3)), "torque": (torque, slice(3, 6))}
    if attribute not in by_attribute or body not in mechanism.body_index:
        return None
    loads, columns = by_attribute[attribute]
    value = np.shape((loads or {}).get(body, ()))
    slot = int(mechanism.compiled.slot[mechanism.body_index[body]])
    return LoadPlace(slot, columns, value[0] if len(value) == 2 else 0)


class Prepared:
    """Derivatives by numbers of the description; ``sums``: the data that they need in the backward pass.

    ``of_rows``: whether they need the gradient by the numbers of joints' rows. ``state`` as in `gradient`.
    """

    def __init__(self, run: MaximalTape, state: State | None, objectives: int) -> None:
        self.run, self.state, self.sums, self.of_rows = run, state, list[MotionSum](), False
        self.local = Local(run, state is None, objectives, self.sums)
        self.changes = Changes(run, objectives, self.sums)
        self.slopes = self.local.slopes
        self.of_meshes = MeshNumbers(run, objectives, self.sums) if isinstance(run, MeshTape) else None

    def derivative(self, number: Number) -> Derivative:
        """Return the derivative by ``number``, of its shape, as a function of the objective: its index and adjoint."""
        meshes = self.of_meshes
        if meshes is None or (through := meshes.by(number)) is None:
            return self._of_bodies(number)
        if meshes.is_own(number):
            return through
        others = self._of_bodies(number)
        return lambda k, adjoint: others(k, adjoint) + through(k, adjoint)

    def _of_bodies(self, number: Number) -> Derivative:
        """Return the derivative by ``number`` without its direct effect on vertices of deformable bodies."""
        run = self.run
        if number.series is not None:
            elements = np.flatnonzero(run.compiled.force == number.series)
            moves = bool(run.mechanism.forces[number.series].constraint)

            def by_input(k: int, adjoint: Adjoint) -> float | np.ndarray:
                series = adjoint.given.by_series(elements, moves)
                return series if number.value.ndim else float(series.sum())

            return by_input
        near = self.local.by(number)
        self.of_rows |= near is None or self.local.of_rows
        if near is not None:
            return near

        def changed(mechanism: Mechanism) -> Changed:
            return Changed(self.changes, mechanism, start_of(mechanism, self.state))

        for share in SHARES:
            parts = by_differences(number, run.mechanism, changed, share)
            if not any(bends(part) for part in parts):
                break
        stages = [self.changes.of_stages(part, step) for part, step in zip(parts, number.steps, strict=True)]
        self.slopes += [(number.name, k, each) for k, each in enumerate(stages) if each is not None]

        def by_number(k: int, adjoint: Adjoint) -> float | np.ndarray:
            by_places = [part.of(lambda each: each.value(k, adjoint)) for part in parts]
            acts = [0.0 if each is None else float(each.totals[k]) for each in stages]
            return of_shape(number, [one + other for one, other in zip(by_places, acts, strict=True)])

        return by_number
