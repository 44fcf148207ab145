"""`simulate`: run a mechanism in reduced coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from varint.courses import Course, Span, courses_by_rows, moved_by_rows
from varint.diagnosing import checked_stride, diagnosed
from varint.errors import ArgumentError, StateError
from varint.loads import starts_of_motions
from varint.mechanism import Mechanism
from varint.model.bounds import bounded
from varint.model.checks import by_name, choice, not_negative, of_type, positive
from varint.model.state import State
from varint.redmax.charts import EXPONENTIAL, ORDERS
from varint.redmax.constraints import NotFinite
from varint.redmax.contacts import is_contact
from varint.redmax.couplings import prescribed_motions
from varint.redmax.equations import LARGEST_RATE, Equations
from varint.redmax.inputs import Inputs
from varint.redmax.integrators import DEFAULT, INTEGRATORS, Task, integrator_named, with_contacts
from varint.redmax.integrators.base import Integrator, KindOfIntegrator
from varint.redmax.program import load_solver
from varint.redmax.record import trajectory
from varint.redmax.run import ReducedRun
from varint.redmax.start import start_of
from varint.redmax.states import ReducedState, maximal_state
from varint.redmax.trajectory import ReducedTrajectory
from varint.running import (
    Job,
    answer,
    carry_out,
    checked_output_times,
    checked_recording,
    checked_times,
    refuse_unknown,
)

LEAST_RTOL = 2.5e-14
OF_MAXIMAL = (
    "adaptive",
    "on_unresolved",
    "order",
    "scheme",
    "tol",
    "closures",
    "energy_error",
)  # arguments of the other simulate


def simulate(
    mechanism: Mechanism,
    duration: float,
    dt: float | None = None,
    *,
    state: State | ReducedState | None = None,
    integrator: str = DEFAULT,
    rtol: float = 1e-8,
    atol: float | None = None,
    baumgarte: float = 5.0,
    every: int = 1,
    diagnostics_every: int | None = None,
    output_times: ArrayLike | None = None,
    force: Mapping[str, ArrayLike] | None = None,
    torque: Mapping[str, ArrayLike] | None = None,
    prescribed: Mapping[str, Callable] | None = None,
    chart: str = EXPONENTIAL,
    output: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[float, float], object] | None = None,
    overwrite: bool = False,
    **others: object,
) -> ReducedTrajectory:
    """Simulate a mechanism in the coordinates of its spanning tree (REDMAX), the cut joints as constraints.

    Parameters
    ----------
    mechanism : Mechanism
    duration : float
        s
    dt : float, optional
        Spacing of the nodes, s, and size of the steps without error control; where not given, the nodes are the
        steps that the integrator chooses.
    state : State or ReducedState, optional
        ``mechanism.state()`` where not given.
    integrator : str
        One of `varint.redmax.integrators.INTEGRATORS`: with error control, or in steps of ``dt``; those take energy
        out of the motion.
    rtol, atol : float
        Largest error of a step, relative and absolute (m, rad, m/s, rad/s, J); ``atol`` is ``rtol / 100`` where not
        given.
    baumgarte : float
        Rate b at which gaps of the cut joints close, 1/s: g'' + 2 b g' + b^2 g = 0 with error control, whose steps are
        no longer than a few 1 / b, and g' + b g = 0 in steps of ``dt``; with "euler" b dt has to be below 2.
    every : int
        Record each ``every``-th node, and the last state.
    diagnostics_every : int, optional
        Record energy, momenta and drift of each so many-th node, see `Trajectory.diagnostics`; divides ``every``.
    output_times : (K,), optional
        s, rising: record the start, these times and the last state, in place of the nodes. Of integrators with
        error control, which have the motion between their steps to their order.
    force, torque : dict, optional
        As in `varint.simulate`; one value a node needs ``dt``.
    prescribed : dict, optional
        Name of a tree joint to a function of time that gives its coordinates, their rates and the rates of these,
        (q, qdot, qddot), each a number or (dof,): hybrid dynamics. From the start on the joint is where it says.
    chart : str
        Coordinates of free rotations: "exponential", rotation vectors, or one of the twelve orders of Euler angles,
        such as "xyz" or "zxz", which gives way to another near its singularity.
    output, resume, progress, overwrite
        As in `varint.simulate`; ``progress`` is told seconds in place of steps where there is no ``dt``. When a run
        goes on, functions in ``prescribed`` must be those of the run: they are not in the file.

    Raises
    ------
    ArgumentError, StateError, FileError
        Before the first step.
    ConvergenceError
        A step could not be done; carries the trajectory up to there.
    """
    refuse_unknown(others, simulate, dict.fromkeys(OF_MAXIMAL, "varint.simulate, the maximal coordinates"))
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    every = checked_recording(every, output, resume, progress, overwrite)
    stride = checked_stride(diagnostics_every, every)
    duration, dt, steps = checked_times(duration, dt)
    baumgarte = not_negative(baumgarte, "baumgarte", ArgumentError)
    bounded(baumgarte, "baumgarte", LARGEST_RATE, ArgumentError)
    choice(chart, (EXPONENTIAL, *ORDERS), "chart", ArgumentError)
    task = _checked_task(duration if dt is None else steps * dt, dt, rtol, atol)
    times = checked_output_times(output_times, task.end, every, diagnostics_every)
    kind = _checked_integrator(integrator, dt, times)
    given = by_name(prescribed, mechanism.joint_index, "prescribed", "joint", ArgumentError)
    span = Span(steps, dt, task.end)
    motions = prescribed_motions(mechanism, span)
    moved = _moved(mechanism, state, span)
    _check_contacts(mechanism, kind)
    acting = steps, dt or duration, force, torque, motions
    drives = motions | given
    equations = Equations(
        mechanism, lambda compiled: Inputs(mechanism, compiled, *acting), baumgarte, drives, chart, moved
    )
    if not equations.nq:
        raise ArgumentError(f"mechanism '{mechanism.name}' has no coordinate: nothing can move")
    q, qdot = start_of(equations, mechanism.state() if state is None else state, motions)
    equations.couplings.check(q)
    equations.targets[:] = equations.couplings.values(q)
    start = started(kind, equations, q, qdot, task)
    run = ReducedRun(equations, start, dt, steps, stride, times)
    settings = {
        "formulation": "reduced",
        "integrator": integrator,
        "order": kind.order,
        "duration": duration,
        "dt": dt,
        "rtol": task.rtol,
        "atol": task.atol,
        "baumgarte": baumgarte,
        "every": every,
        "diagnostics_every": diagnostics_every and stride,
        "output_times": None if times is None else len(times),
        "steps": steps,
        "chart": chart,
        "prescribed": [drive.name for drive in equations.drives],
    }
    inputs = equations.inputs
    assert inputs is not None
    load = None if inputs.loads.varies else inputs.loads.recorded(np.zeros(1))
    given_arrays = (q, qdot, *inputs.arrays(), *([] if times is None else [times]))
    job = Job(mechanism, settings, given_arrays, load, every, output, resume, progress, overwrite)
    return answer(trajectory(carry_out(diagnosed(run, job, ReducedTrajectory), job)), run.failure)


def _moved(mechanism: Mechanism, state: State | ReducedState | None, span: Span) -> dict[str, Course]:
    """The courses of motions that are followed by rows, by the names of the forces that prescribe them."""
    if not moved_by_rows(mechanism):
        return {}
    state = mechanism.state() if state is None else state
    of_type(state, (State, ReducedState), "state", StateError)
    at = maximal_state(mechanism, state) if isinstance(state, ReducedState) else state
    return courses_by_rows(mechanism, span, starts_of_motions(mechanism, at))


def _checked_task(end: float, dt: float | None, rtol: float, atol: float | None) -> Task:
    """What the integrator is to do, with its largest errors of a step; raises ArgumentError."""
    rtol = checked_rtol(rtol)
    return Task(end, dt, rtol, 0.01 * rtol if atol is None else positive(atol, "atol", ArgumentError))


def checked_rtol(rtol: float) -> float:
    """The largest relative error of a step; raises ArgumentError."""
    rtol = positive(rtol, "rtol", ArgumentError)
    if rtol < LEAST_RTOL:
        raise ArgumentError(f"rtol must be at least {LEAST_RTOL:g}, which is near round-off, got {rtol:g}")
    return rtol


def _checked_integrator(integrator: str, dt: float | None, times: np.ndarray | None) -> type[Integrator]:
    """The integrator of that name; raises ArgumentError where it needs ``dt``, or cannot be recorded at ``times``."""
    kind = integrator_named(integrator)
    if times is not None and kind.fixed:
        free = ", ".join(repr(name) for name, other in INTEGRATORS.items() if not other.fixed)
        raise ArgumentError(f"output_times need an integrator with error control, {free}, got {integrator!r}")
    if kind.fixed and dt is None:
        raise ArgumentError(f"integrator {integrator!r} needs dt=, the size of its steps")
    return kind


def started(
    kind: type[KindOfIntegrator], equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task
) -> KindOfIntegrator:
    """The integrator at the start; raises ArgumentError, StateError."""
    kind.check(equations, task)
    try:
        return kind(equations, q, qdot, task)
    except NotFinite:
        body = equations.hardest_accelerated(0.0, q, qdot)
        raise StateError(
            f"accelerations at the start are not finite, first of body '{body}': check its mass, velocity and forces"
        ) from None


def _check_contacts(mechanism: Mechanism, kind: type[Integrator]) -> None:
    """That the integrator knows joint friction and hard contacts, where there are any."""
    if kind.contacts:
        if any(is_contact(mechanism, force) for force in mechanism.forces):
            load_solver()
        return
    for force in mechanism.forces:
        if force.reduced_only:
            raise ArgumentError(
                f"{force.label} acts in reduced coordinates with integrator='{with_contacts()[0]}' only, not"
                f" '{kind.name}': take that one"
            )
