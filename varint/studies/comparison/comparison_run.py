"""`compare`: the same motion by the variational integrator and in reduced coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from varint.base.callers import level_of_user
from varint.base.checks import call, choice, function_of, is_alone, of_type, positive, sequence_of
from varint.base.errors import ArgumentError, ConvergenceError, UnresolvedWarning
from varint.extras.peer_method import Peer
from varint.kinematics.initial_state import checked_start
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS
from varint.methods.reduced.method import Reduced
from varint.methods.reduced.trajectory import ReducedTrajectory
from varint.methods.stepped import Own, Step
from varint.methods.variational.method import Variational
from varint.methods.variational.schemes import ORDERS, scheme
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.results.resolution import find_unresolved
from varint.runs.method import Method, is_of_user, method_class, methods_by_integrator, registered, solve
from varint.runs.parts import Arguments, check_support, of_class, preferring, refuse_beside, with_arguments
from varint.runs.problem import MOST_STEPS, Problem, Recording
from varint.runs.trajectory import Trajectory
from varint.studies.comparison.comparison_result import Comparison, Settings
from varint.studies.comparison.differences import Quantities, differences, largest
from varint.studies.comparison.peer_lines import known_peers
from varint.studies.comparison.series import make_series

CHECK = 10.0  # times the tolerance of the reference: the run that tells its error
TOL = 1e-12  # of a step of VI, m/s
BAUMGARTE = 5.0  # 1/s
REPETITIONS, ENOUGH = 10, 0.5  # of a run for its wall time, and s of stepping after which there are no more
WHOLE = 1e-9  # how far from a whole number a ratio of steps may be, over itself


class SeriesTask(NamedTuple):
    """Runs of one `Series`; ``run(value, duration)`` makes one run."""

    name: str
    parameter: str
    values: np.ndarray
    run: Callable[[float, float], Trajectory]


@with_arguments
def compare(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | Sequence[Method] = 1.0,
    dt: float | Sequence[float] = (0.01, 0.005, 0.0025),
    *,
    state: State | None = None,
    order: int | Sequence[int] = 2,
    integrators: Sequence[str | Step | Method] = (DEFAULT,),
    peers: Sequence[str | Peer] = (),
    rtol: float = 1e-12,
    progress: Callable[[int, int, str], object] | None = None,
) -> Comparison:
    """Run a mechanism in maximal and in reduced coordinates, and compare differences and costs.

    The reference is REDMAX, by its default integrator, at the tolerance ``rtol``; its own error is taken to be the
    difference from a run at ten times that. Against it stand VI at each ``dt``, and REDMAX by the ``integrators``: in
    steps of ``dt``, or with error control at 1e-4, 1e-6 and 1e-8. Mechanisms with loops get one more series of the
    default integrator with nothing that closes the gaps of the loops (VI Fig. 4b).

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method, or a sequence of them
        s; beside a Problem the methods, in steps of each ``dt``, in place of ``order`` and ``integrators``.
    dt : float or sequence
        Steps, s, falling. The first divides the duration and is divided by the others: its nodes are common to all.
    state : State, optional
        ``mechanism.state()`` where not given.
    order : int or sequence
        Of VI.
    integrators : sequence of str, function or Method
        Methods beside the variational integrator: names of integrators in reduced coordinates, of `varint.Maximal`, as
        "kkt" or "kkt:baumgarte", or of registered methods; methods, as ``varint.Reduced("radau")``; and functions
        ``f(state, dt)`` of a `State` and a step, s, that return the `State` after it, called by their ``__name__``. One
        whose numbers are not finite is reported as stopped; one that returns no state with unit quaternions raises an
        ArgumentError. docs/own_methods.md has examples.
    peers : sequence of str or Peer
        Other simulators, in steps of each ``dt``: names, as "mujoco" or "mujoco:rk4", or ``varint.Peer("mujoco")``. One
        that is not installed, or has no counterpart of a joint or a force, gets a line that says so; docs/compare.md.
    rtol : float
        Of the reference.
    progress : callable, optional
        Called before each run as ``progress(runs done, runs in all, name of the run)``.

    Raises
    ------
    ArgumentError, StateError
        Before the first run.
    ConvergenceError
        The reference could not be computed. Another run that stops is reported as such.
    """
    problem, methods = posed_series(arguments)
    mechanism, duration = problem.mechanism, problem.duration
    told = _told if progress is None else function_of(progress, "progress", ArgumentError)
    rtol = positive(rtol, "rtol", ArgumentError)
    steps = dividing(dt, duration)
    orders = () if methods else known_orders(order)
    names, methods_beside = _known_integrators(methods or integrators, steps[0])
    state = checked_start(mechanism, problem.start())
    lines, simulators = known_peers(mechanism, peers, steps[0])
    compiling = _enough_to_compile(mechanism, steps, duration)
    tasks = _tasks(mechanism, state, steps, (orders, names, (*methods_beside, *simulators)))
    done, total = 0, 2 + sum(len(task.values) for task in tasks)

    def tell(name: str) -> None:
        nonlocal done
        call(told, "progress, a function that is called as progress(done, total, name)", done, total, name)
        done += 1

    reference, between = _reference(reduced(mechanism, state, steps, DEFAULT), rtol, duration, tell)
    series = []
    for task in tasks:
        stopped_or_done(task.run, task.values[0], compiling)  # which is no stepping time
        runs, wall_time = _timed_runs(task, duration, tell)
        series.append(make_series(task.name, task.parameter, task.values, runs, wall_time, reference, largest(between)))
    asked = orders, names, tuple(method.title for method in methods_beside)
    settings = Settings(duration, tuple(steps.tolist()), *asked, rtol, CHECK * rtol, TOL, BAUMGARTE)
    return Comparison(mechanism, settings, reference, between, tuple(series), lines)


def _warn_of_open_joints(runs: Sequence[Trajectory]) -> None:
    """Warn of the first of ``runs`` by a method of the user whose joints are open."""
    for run in runs:
        if is_of_user(run) and (unresolved := find_unresolved(run, run.settings["dt"])):
            text = f"in steps of {run.settings['dt']:g} s, {unresolved.message}"
            warnings.warn(text, UnresolvedWarning, stacklevel=level_of_user())
            return


def _reference(
    exact: SeriesTask, rtol: float, duration: float, tell: Callable[[str], None]
) -> tuple[ReducedTrajectory, Quantities]:
    """Return the run that all others are compared with, and its difference from one at a larger tolerance."""
    tell("reference")
    reference = exact.run(rtol, duration)
    assert isinstance(reference, ReducedTrajectory)
    tell("error of the reference")
    return reference, differences(exact.run(CHECK * rtol, duration), reference)


def posed_series(arguments: Arguments) -> tuple[Problem, tuple[Method, ...]]:
    """Return the problem of a study of several methods, and the methods beside it, empty where there are keywords.

    Raises ArgumentError.
    """
    problem, methods = arguments.values["mechanism"], arguments.values["duration"]
    if not isinstance(problem, Problem):
        return Problem(**of_class(Problem, arguments.values)), ()
    refuse_beside(arguments, ("state", "order", "integrators"))
    listed = (methods,) if isinstance(methods, Method) else _several(methods, "methods", "methods")
    if not listed:
        raise ArgumentError(f"{arguments.name} of a Problem needs a method, as varint.Variational(order=4)")
    for method in listed:
        check_support(arguments, problem, of_type(method, Method, "method", ArgumentError))
    return problem, tuple(preferring(method, {"tol": TOL}) for method in listed)


def _told(done: int, total: int, name: str) -> None:
    """Do nothing: the default of ``progress``."""


def _enough_to_compile(mechanism: Mechanism, steps: np.ndarray, duration: float) -> float:
    """Return the duration, s, of the untimed run that compiles the code: two steps.

    The whole ``duration`` if inputs with one value a node fit that only. Raises ArgumentError if such inputs cannot fit
    all ``steps``, s.
    """
    for force in mechanism.forces:
        if isinstance(force, Commanded) and isinstance(force.input, np.ndarray) and force.input.ndim:
            if len(steps) > 1:
                raise ArgumentError(
                    f"{force.label} has one {force.command_name} a node, which fits one dt only: compare at that one,"
                    " or give it as a function"
                )
            return duration
    return 2 * steps[0]


def _several(value: object, argument: str, of: str) -> tuple[Any, ...]:
    """Return the parts of a list, or ``value`` alone."""
    return (value,) if is_alone(value) else sequence_of(value, argument, of, ArgumentError)


def dividing(dt: float | Sequence[float], duration: float) -> np.ndarray:
    """Return steps (K,), s, that divide ``duration`` exactly: ``dt``, corrected by its round-off.

    Raises ArgumentError for steps that do not fall, or do not divide the duration and the largest step.
    """
    dt = [positive(value, "dt", ArgumentError) for value in _several(dt, "dt", "steps")]
    if not dt:
        raise ArgumentError("dt is empty: give the steps to compare, from the largest to the smallest")
    if any(small >= large for large, small in pairwise(dt)):
        raise ArgumentError(f"dt must fall from one to the next, got {', '.join(f'{value:g}' for value in dt)}")
    if duration / dt[-1] > MOST_STEPS:
        raise ArgumentError(f"duration {duration:g} s is more than 2^53 steps of dt = {dt[-1]:g} s")
    steps = [round(duration / dt[0])]
    if abs(duration / dt[0] - steps[0]) > WHOLE * steps[0]:
        raise ArgumentError(f"dt = {dt[0]:g} s does not divide the duration, {duration:g} s")
    for value in dt[1:]:
        parts = round(dt[0] / value)
        if abs(dt[0] / value - parts) > WHOLE * parts:
            raise ArgumentError(f"dt = {value:g} s does not divide {dt[0]:g} s, the largest, whose nodes all must meet")
        steps.append(parts * steps[0])
    return duration / np.array(steps)


def known_orders(order: int | Sequence[int]) -> tuple[int, ...]:
    orders = tuple(scheme(number).order for number in _several(order, "order", "whole numbers"))
    if not orders:
        raise ArgumentError(f"order is empty: give one or more of {', '.join(map(str, ORDERS))}")
    return orders


def _known_integrators(
    integrators: str | Step | Method | Sequence[str | Step | Method], dt: float
) -> tuple[tuple[str, ...], tuple[Method, ...]]:
    """Return the names of integrators in reduced coordinates, and the other methods, in steps of ``dt``, s.

    Raises ArgumentError for unknown names, and for two methods of one title.
    """
    listed = (
        (integrators,)
        if _is_method(integrators)
        else _several(integrators, "integrators", "names, methods and functions")
    )
    if not listed:
        raise ArgumentError(f"integrators is empty: give one or more, as {DEFAULT}")
    known = (*methods_by_integrator(), *registered())
    named = [one for one in listed if not _is_method(one)]
    for one in named:
        choice(one.partition(":")[0] if isinstance(one, str) else one, known, "integrators", ArgumentError)
    names = tuple(name for name in named if name in INTEGRATORS)
    others = [_method(one, dt) for one in listed if _is_method(one) or one not in INTEGRATORS]
    titles = [*names, *(method.title for method in others)]
    for title in titles[len(names) :]:
        if titles.count(title) > 1:
            raise ArgumentError(f"integrators: two are called '{title}', give each function a __name__ of its own")
    return names, tuple(others)


def _is_method(one: object) -> bool:
    return callable(one) or isinstance(one, Method)


def _method(one: Any, dt: float) -> Method:
    """Return the method of a name, of a function or of itself."""
    if isinstance(one, Method):
        return replace(one, **{"dt": dt})
    if callable(one):
        return Own(dt, one)
    if one in registered():
        return method_class(one)(**{"dt": dt})
    return methods_by_integrator()[one.partition(":")[0]](**{"integrator": one, "dt": dt})


def _tasks(
    mechanism: Mechanism,
    state: State,
    dt: np.ndarray,
    asked: tuple[tuple[int, ...], tuple[str, ...], tuple[Method, ...]],
) -> list[SeriesTask]:
    """Return one task for each order of VI, integrator of REDMAX and other method, and for unstabilised loops.

    ``asked``: orders, names of integrators and methods.
    """
    orders, names, methods = asked
    tasks = [variational(mechanism, state, dt, number) for number in orders]
    tasks += [reduced(mechanism, state, dt, name) for name in names]
    tasks += [stepping(mechanism, state, dt, method) for method in methods]
    if mechanism.compiled.topology.cluster_of:
        tasks.append(reduced(mechanism, state, dt, DEFAULT, baumgarte=0.0))
    return tasks


def variational(mechanism: Mechanism, state: State, dt: np.ndarray, order: int) -> SeriesTask:
    """Return the series of the variational integrator of that order."""
    return stepping(mechanism, state, dt, Variational(dt[0], order, tol=TOL, on_unresolved="ignore"))


def reduced(
    mechanism: Mechanism, state: State, dt: np.ndarray, integrator: str, baumgarte: float = BAUMGARTE
) -> SeriesTask:
    """Return the series of an integrator in reduced coordinates."""
    return stepping(mechanism, state, dt, Reduced(integrator, dt[0], baumgarte=baumgarte))


def stepping(mechanism: Mechanism, state: State, dt: np.ndarray, method: Method) -> SeriesTask:
    """Return the series of a method, recorded at the nodes that are common to all."""
    parameter, values = method.refined(dt)

    def run(value: float, duration: float) -> Trajectory:
        every = round(dt[0] / value) if parameter == "dt" else 1
        return solve(Problem(mechanism, duration, state), replace(method, **{parameter: value}), Recording(every))

    return SeriesTask(method.title, parameter, values, run)


def stopped_or_done(run: Callable[[float, float], Trajectory], value: float, duration: float) -> Trajectory:
    """Return the trajectory of ``run``, up to where it could go."""
    try:
        return run(value, duration)
    except ConvergenceError as problem:
        return problem.trajectory


def _timed_runs(task: SeriesTask, duration: float, tell: Callable[[str], None]) -> tuple[list[Trajectory], list[float]]:
    """Return the runs of ``task`` and their wall times, s; ``tell`` is called with the name of each before it.

    Warns of open joints.
    """
    runs, wall_time = [], []
    for value in task.values:
        tell(f"{task.name}, {task.parameter} = {value:g}")
        run, seconds = _timed(task.run, value, duration)
        runs.append(run)
        wall_time.append(seconds)
    _warn_of_open_joints(runs)
    return runs, wall_time


def _timed(run: Callable[[float, float], Trajectory], value: float, duration: float) -> tuple[Trajectory, float]:
    """Return the trajectory of ``run`` and the least wall time of some repetitions, s, up to one that stops."""
    trajectory = stopped_or_done(run, value, duration)
    times = [trajectory.wall_time]
    while trajectory.success and len(times) < REPETITIONS and sum(times) < ENOUGH:
        trajectory = stopped_or_done(run, value, duration)
        times.append(trajectory.wall_time)
    return trajectory, min(times)
