"""`Reduced`: a mechanism in the coordinates of its spanning tree (REDMAX), and `simulate`, its short form."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import by_name, choice, not_negative, of_type, positive, whole_number
from varint.base.errors import ArgumentError, StateError, UnresolvedWarning
from varint.kinematics.restarts import check_restart, method_name
from varint.kinematics.start_at_stops import stops_settings
from varint.kinematics.turns import turns_settings, with_followed
from varint.mechanism.mechanism import Mechanism
from varint.meshes.mesh_state import vertices_of
from varint.methods.reduced.charts import EXPONENTIAL, ORDERS
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.contact_solvers import CONES, CONTACT_SOLVERS, REGISTRY
from varint.methods.reduced.couplings import prescribed_motions
from varint.methods.reduced.equations import LARGEST_RATE, Equations
from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS, Task, integrator_named
from varint.methods.reduced.integrators.base import Integrator, KindOfIntegrator
from varint.methods.reduced.program import load_solver
from varint.methods.reduced.record import trajectory
from varint.methods.reduced.run import ReducedRun
from varint.methods.reduced.start import check_reduced_stops, start_of
from varint.methods.reduced.states import ReducedState, maximal_state
from varint.methods.reduced.trajectory import ReducedTrajectory
from varint.model.bounds import bounded
from varint.model.known_forces import USES, Use, is_contact, is_hard, refuse
from varint.model.state import State
from varint.results.contact_forces import check_depth
from varint.results.dissipation import AmplifiedError, ranges_of
from varint.results.inputs.at_nodes import starts_of_motions
from varint.results.inputs.at_times import InputsAtTimes
from varint.results.inputs.courses import Course, Span, courses_by_rows, moved_by_rows, still_rows
from varint.results.record import Record
from varint.results.resolution import find_unresolved
from varint.results.undamped import find_turned, find_undamped
from varint.runs.method import Method, register, solve
from varint.runs.parts import Arguments, parts_of, with_arguments
from varint.runs.problem import Problem, Recording
from varint.runs.retrials import trial_of
from varint.runs.run import Run
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory

LEAST_RTOL = 2.5e-14
LESS = 0.9  # times the longest step that amplifies no motion: the one that is proposed
DISSIPATES = "'bdf1', 'bdf2', 'sdirk2' or 'radau', which end it"
TOLERANCES = np.array([1e-4, 1e-6, 1e-8])  # at which comparisons run integrators with error control


@register
@dataclass(frozen=True, eq=False)
class Reduced(Method):
    """The same mechanism in the coordinates of its spanning tree (REDMAX), the cut joints as constraints.

    Parameters
    ----------
    integrator : str
        One of `varint.methods.reduced.integrators.INTEGRATORS`: with error control, or in steps of ``dt``; integrators
        for stiff forces dissipate energy numerically.
    dt : float, optional
        Spacing of the nodes, s, and size of the steps without error control; where not given, the nodes are the
        steps that the integrator chooses.
    rtol, atol : float
        Largest error of a step, relative and absolute (m, rad, m/s, rad/s, J); ``atol`` is ``rtol / 100`` where not
        given.
    baumgarte : float
        Rate b at which gaps of the cut joints close, 1/s: g'' + 2 b g' + b^2 g = 0 with error control, whose steps are
        no longer than a few 1 / b, and g' + b g = 0 in steps of ``dt``; with "euler" b dt has to be below 2.
    prescribed : dict, optional
        Name of a tree joint to a function of time that gives its coordinates, their rates and the rates of these,
        (q, qdot, qddot), each a number or (dof,): hybrid dynamics. From the start on the joint is where it says.
    chart : str
        Coordinates of free rotations: "exponential", rotation vectors, or one of the twelve orders of Euler angles,
        such as "xyz" or "zxz", which is replaced by another near its singularity.
    stages : int, optional
        Of "gauss", from 1 to 6, 3 where not given: the order is twice that.
    tol : float, optional
        Of the variational integrators: largest change of the rates, m/s, rad/s, in the last iteration of a step; 1e-10
        where not given.
    contact_solver : str
        Of "euler": the law and the procedure of hard contacts and hard stops, one of
        `varint.methods.reduced.contact_solvers.CONTACT_SOLVERS`. "cones" is exact; the others are methods of the
        literature to compare with it, without restitution and, but for "bisp", without joint friction (docs/redmax.md).

    Raises
    ------
    ArgumentError
    """

    integrator: str = DEFAULT
    dt: float | None = None
    rtol: float = 1e-8
    atol: float | None = None
    baumgarte: float = 5.0
    prescribed: Mapping[str, Callable] | None = None
    chart: str = EXPONENTIAL
    stages: int | None = None
    tol: float | None = None
    contact_solver: str = CONES

    formulation: ClassVar[str] = "reduced"
    called: ClassVar[str] = "varint.Reduced, the reduced coordinates"
    option: ClassVar[str] = "--integrator"
    gradient_in: ClassVar[str] = "varint.derivatives.reduced.gradient"

    def __post_init__(self) -> None:
        if self.dt is not None:
            object.__setattr__(self, "dt", positive(self.dt, "dt", ArgumentError))
        object.__setattr__(self, "baumgarte", not_negative(self.baumgarte, "baumgarte", ArgumentError))
        bounded(self.baumgarte, "baumgarte", LARGEST_RATE, ArgumentError)
        choice(self.chart, (EXPONENTIAL, *ORDERS), "chart", ArgumentError)
        object.__setattr__(self, "rtol", checked_rtol(self.rtol))
        if self.atol is not None:
            object.__setattr__(self, "atol", positive(self.atol, "atol", ArgumentError))
        kind = integrator_named(self.integrator)
        if kind.fixed and self.dt is None:
            raise ArgumentError(f"integrator {self.integrator!r} needs dt=, the size of its steps")
        if self.stages is not None:
            _check_support("stages", kind, lambda each: each.stage_counts[1])
            most = kind.stage_counts[1]
            object.__setattr__(self, "stages", whole_number(self.stages, "stages", 1, ArgumentError, most))
        if self.tol is not None:
            _check_support("tol", kind, lambda each: each.tol)
            object.__setattr__(self, "tol", positive(self.tol, "tol", ArgumentError))
        choice(self.contact_solver, CONTACT_SOLVERS, "contact_solver", ArgumentError)
        if self.contact_solver != CONES:
            _check_support("contact_solver", kind, lambda each: each.contacts)

    @classmethod
    def integrators(cls) -> tuple[str, ...]:
        """See `Method`."""
        return tuple(INTEGRATORS)

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        chosen = {"stages": self.stages, "tol": self.tol}
        more = "".join(f" {name}={value:g}" for name, value in chosen.items() if value is not None)
        more += "" if self.contact_solver == CONES else f" {self.contact_solver}"
        return f"REDMAX {self.integrator}" + ("" if self.baumgarte else " b=0") + more

    def takes(self, name: str) -> bool:
        """See `Method`."""
        return super().takes(name) and (name != "tol" or integrator_named(self.integrator).tol > 0.0)

    def refined(self, dt: np.ndarray) -> tuple[str, np.ndarray]:
        """See `Method`."""
        return ("dt", dt) if integrator_named(self.integrator).fixed else ("rtol", TOLERANCES)

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        mechanism, dt = problem.mechanism, self.dt
        steps = 1 if dt is None else problem.steps(dt)
        end = problem.duration if dt is None else steps * dt
        atol = 0.01 * self.rtol if self.atol is None else self.atol
        kind, times = integrator_named(self.integrator), recording.times(end)
        stages, tol = self.stages or kind.stage_counts[0], self.tol or kind.tol
        task = Task(end, dt, self.rtol, atol, stages, tol, self.contact_solver)
        if times is not None and kind.fixed:
            free = ", ".join(repr(name) for name, other in INTEGRATORS.items() if not other.fixed)
            raise ArgumentError(f"output_times need an integrator with error control, {free}, got {self.integrator!r}")
        user_functions = by_name(self.prescribed, mechanism.joint_index, "prescribed", "joint", ArgumentError)
        span = Span(steps, dt, end)
        motions = prescribed_motions(mechanism, span)
        moved = _moved(problem, span)
        refuse(mechanism, self.use)
        pushed = (has(mechanism, force) for force in mechanism.forces for has in (is_hard, is_contact))
        if kind.contacts and any(pushed):
            load_solver()  # a package that may be missing: before anything is written
        acting = steps, dt or problem.duration, problem.force, problem.torque, motions
        equations = Equations(
            mechanism,
            lambda compiled: InputsAtTimes(mechanism, compiled, *acting),
            self.baumgarte,
            motions | user_functions,
            self.chart,
            moved,
        )
        if not equations.nq:
            raise ArgumentError(f"mechanism '{mechanism.name}' has no coordinate: nothing can move")
        start = problem.start()
        if kind.remembers:
            check_restart(start, method_name({"integrator": self.integrator}))
        q, qdot = start_of(equations, start, motions, self.integrator)
        check_reduced_stops(equations, q, qdot, start)
        equations.couplings.check(q)
        equations.targets[:] = equations.couplings.targets(q, equations.start_memory)
        equations.start_memory = {**equations.start_memory, **equations.couplings.memory(equations.targets)}
        if kind.locates:
            equations.place_and_move(q, qdot)
            check_depth(mechanism, equations.state(), equations.compiled.length)
        vertices = vertices_of(mechanism, problem.state)
        integrator = started(kind, equations, q, qdot, task._replace(vertices=vertices))
        run = ReducedRun(equations, integrator, dt, steps, recording.stride, times)
        settings = {
            "formulation": self.formulation,
            "integrator": self.integrator,
            "order": integrator.order,
            "duration": problem.duration,
            "dt": dt,
            "rtol": task.rtol,
            "atol": task.atol,
            "baumgarte": self.baumgarte,
            "every": recording.every,
            "diagnostics_every": recording.diagnostics_every,
            "output_times": None if times is None else len(times),
            "steps": steps,
            **turns_settings(equations.turns, equations.start_memory),
            **stops_settings(start),
            "chart": self.chart,
            "prescribed": [drive.name for drive in equations.drives],
            **({"stages": stages} if stages else {}),
            **({"tol": tol} if tol else {}),
            **({} if self.contact_solver == CONES else {"contact_solver": self.contact_solver}),
        }
        inputs = equations.inputs
        assert inputs is not None
        load = None if inputs.loads.varies else inputs.loads.recorded(np.zeros(1))
        soft = [] if vertices is None else [vertices]
        at_start = equations.compiled.law_start
        memory = [] if np.array_equal(equations.law_state, at_start) else [equations.law_state.copy()]
        arrays = (q, qdot, *soft, *memory, *inputs.arrays(), *([] if times is None else [times]))
        return run, Job(mechanism, settings, arrays, load, recording)

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """Warn where a run with error control did not resolve its motion; `Trajectory.unresolved` has it of any run."""
        kind, dt = integrator_named(self.integrator), trajectory.settings["dt"]
        if trajectory._step_tolerance is not None:
            unresolved = find_unresolved(trajectory, dt, trial_of(trajectory))
        else:
            stages = trajectory.settings.get("stages", 0)
            task = Task(0.0, dt, 0.0, 0.0, stages)
            factor = functools.partial(kind.factor, task)
            method = f"integrator {kind.name!r}"
            unresolved = find_undamped(trajectory, dt, factor, method, DISSIPATES)
            unresolved = unresolved or find_turned(trajectory, method)
        if unresolved is not None:
            warnings.warn(unresolved.message, UnresolvedWarning, stacklevel=stacklevel)

    @property
    def use(self) -> Use:
        """See `Method`."""
        kind = integrator_named(self.integrator)
        if self.contact_solver != CONES and not REGISTRY[self.contact_solver].joint_friction:
            return USES["contact solvers"]
        implicit, explicit = ("stiff steps", "located steps") if kind.locates else ("implicit steps", "reduced steps")
        steps = implicit if kind.differentiates else explicit
        return USES["contact steps" if kind.contacts else "tree steps" if kind.trees_only else steps]

    @staticmethod
    def trajectory(record: Record) -> ReducedTrajectory:
        """See `Method`."""
        return trajectory(record)

    @staticmethod
    def part(record: Record, **since: Any) -> ReducedTrajectory:
        """See `Method`."""
        return ReducedTrajectory(record, **since)


@with_arguments
def simulate(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Reduced,
    dt: float | Recording | None = None,
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
    stages: int | None = None,
    tol: float | None = None,
    contact_solver: str = CONES,
    output: str | Path | None = None,
    resume: bool | str = False,
    progress: Callable[[float, float], object] | None = None,
    overwrite: bool = False,
) -> ReducedTrajectory:
    """Simulate a mechanism in reduced coordinates: short for ``varint.simulate(Problem, Reduced, Recording)``.

    Parameters
    ----------
    mechanism, duration, state, force, torque
        See `Problem`; or a `Problem`, a `Reduced` and a `Recording` in place of mechanism, duration and dt.
    dt, integrator, rtol, atol, baumgarte, prescribed, chart, stages, tol, contact_solver
        See `Reduced`.
    every, diagnostics_every, output_times, output, resume, overwrite, progress
        See `Recording`. When a run goes on, functions in ``prescribed`` must be the same as before: they are not in the
        file.

    Raises
    ------
    ArgumentError, StateError, FileError
        Before the first step.
    ConvergenceError
        A step could not be solved; carries the trajectory up to there.
    """
    problem, method, recording = parts_of(arguments, Reduced)
    trajectory = solve(problem, of_type(method, Reduced, "method", ArgumentError), recording)
    method.report(trajectory, stacklevel=4)
    return cast(ReducedTrajectory, trajectory)


def _check_support(name: str, kind: type[Integrator], supports: Callable[[type[Integrator]], float]) -> None:
    """Raise ArgumentError where a ``kind`` of integrators does not support the argument ``name``."""
    if not supports(kind):
        owners = ", ".join(repr(other) for other, each in INTEGRATORS.items() if supports(each))
        raise ArgumentError(f"{name} belongs to integrator {owners}, not to {kind.name!r}: leave it out")


def _moved(problem: Problem, span: Span) -> dict[str, Course]:
    """Return courses of the rows of prescribed motions and constraints on velocities, by the names of these forces."""
    mechanism = problem.mechanism
    still = still_rows(mechanism)
    if not moved_by_rows(mechanism):
        return still
    state = problem.start()
    of_type(state, (State, ReducedState), "state", StateError)
    at = maximal_state(mechanism, state) if isinstance(state, ReducedState) else state
    at = replace(at, memory=with_followed(mechanism, mechanism.compiled, at, at.memory))
    return courses_by_rows(mechanism, span, starts_of_motions(mechanism, at)) | still


def _refuse_amplified(kind: type[Integrator], equations: Equations, dt: float) -> None:
    """Raise AmplifiedError for a dissipative force that steps of ``dt``, s, amplify, by inertias at several poses."""
    ranges = ranges_of(equations.mechanism, equations.state(), dt, kind.stable)
    if ranges is not None and ranges.largest >= kind.stable:
        raise AmplifiedError(
            f"{ranges.described(equations.mechanism, dt)}. Integrator {kind.name!r} amplifies such motion at values"
            f" from {kind.stable:g}. Take {DISSIPATES}, or dt below {LESS * dt * kind.stable / ranges.largest:.2g} s"
        )


def checked_rtol(rtol: float) -> float:
    """Return the largest relative error of a step; raises ArgumentError."""
    rtol = positive(rtol, "rtol", ArgumentError)
    if rtol < LEAST_RTOL:
        raise ArgumentError(f"rtol must be at least {LEAST_RTOL:g}, which is near round-off, got {rtol:g}")
    return rtol


def started(
    kind: type[KindOfIntegrator], equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task
) -> KindOfIntegrator:
    """Return the integrator at the start; raises ArgumentError, StateError."""
    kind.check(equations, task)
    if task.dt is not None and math.isfinite(kind.stable):
        equations.place_and_move(q, qdot)
        _refuse_amplified(kind, equations, task.dt)
    try:
        return kind(equations, q, qdot, task)
    except NotFinite:
        body = equations.hardest_accelerated(0.0, q, qdot)
        raise StateError(
            f"accelerations at the start are not finite, first of body '{body}': check its mass, velocity and forces"
        ) from None
