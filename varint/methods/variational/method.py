"""`Variational`: the variational integrator in maximal coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import choice, of_type, positive
from varint.base.errors import ArgumentError, UnresolvedError, UnresolvedWarning
from varint.kinematics.initial_state import checked_arrays, checked_start
from varint.kinematics.restarts import check_restart, method_name
from varint.kinematics.start_at_stops import stops_settings
from varint.mechanism.mechanism import Mechanism
from varint.meshes.mesh_state import vertices_of
from varint.meshes.vertex_record import check_vertices
from varint.methods.settings import shared_settings
from varint.methods.variational.adaptive_run import AdaptiveAtTimes, AdaptiveRun, check_adaptive, default_turn
from varint.methods.variational.composed_damping import refuse_amplified
from varint.methods.variational.deformable_run import DeformableRun, check_deformable
from varint.methods.variational.march import March
from varint.methods.variational.massive_paths import check_masses_of_paths
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.outputs import RunAtTimes
from varint.methods.variational.schemes import Scheme
from varint.methods.variational.schemes import scheme as find_scheme
from varint.methods.variational.step_choice import (
    COLLOCATION,
    ENERGY_ERROR,
    StepChoice,
    checked_error,
    chosen_step,
    collocations,
    schemes_of,
    step_for,
)
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.known_forces import USES, Use, refuse
from varint.model.state import State
from varint.plan import Compiled, compile_structure
from varint.plan.settled_rows import with_settled_rows
from varint.results.contact_forces import check_depth
from varint.results.forces import check_laws
from varint.results.inputs.at_nodes import Commands, Loads, starts_of_motions
from varint.results.record import Record
from varint.results.resolution import Unresolved, find_unresolved
from varint.results.undamped import BY_ORDER_2, find_undamped
from varint.runs.method import AUTO, Method, method_class, register
from varint.runs.parts import Arguments, parts_of, with_arguments
from varint.runs.problem import MOST_STEPS, Problem, Recording
from varint.runs.retrials import trial_of
from varint.runs.run import Run
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory

ON_UNRESOLVED = ("warn", "raise", "substep", "ignore")
CLOSURES = ("clusters", "single")


@register
@dataclass(frozen=True, eq=False)
class Variational(Method):
    """The variational integrator in maximal coordinates.

    Parameters
    ----------
    dt : float or "auto"
        Step, s; the run ends at the last whole step within the duration. "auto": `choose_step` chooses the step, and
        the scheme by default; ``settings["chosen"]`` holds the choice and its reason.
    order : int, optional
        Of the scheme; each order has a default one. 2 where no scheme is given. 1: the equations as printed in VI.
    scheme : str, optional
        Its name, in place of the order: `varint.methods.variational.schemes.SCHEMES` lists them.
    tol : float
        Largest residual of a step, m/s; a joint may be off by ``tol * dt`` metres. Parts that move by nanometres a
        second need a smaller one.
    adaptive : bool or float
        Whether the steps follow the motion: ``dt`` is then about the longest one, and the fastest body turns by about
        0.1 rad in a step, 0.05 at order 2, or by so many rad as are given. They stay reversible (docs/runs.md). Inputs
        of forces may be functions, but loads must be constant.
    closures : {"clusters", "single"}
        A dense node for each cluster of loops, or one for all of them (VI section 4.3): the same motion, slower.
    energy_error : float, optional
        The largest energy error that the step is chosen for, over the largest kinetic energy; 1e-4 with ``dt="auto"``
        alone.
    on_unresolved : {"warn", "raise", "substep", "ignore"}
        Action at the end of a run where steps did not resolve the motion, see `Trajectory.unresolved`, or a
        `VelocityMotor`: give an UnresolvedWarning, raise an UnresolvedError, or nothing. "substep" does a step in which
        energy came from nowhere again in halves, as often as it takes, and warns where that does not help.

    Raises
    ------
    ArgumentError
    """

    dt: float | str = AUTO
    order: int | None = None
    scheme: str | None = None
    tol: float = 1e-10
    adaptive: bool | float = False
    closures: str = CLOSURES[0]
    energy_error: float | None = None
    on_unresolved: str = ON_UNRESOLVED[0]

    formulation: ClassVar[str] = "maximal"
    called: ClassVar[str] = "varint.Variational, the maximal coordinates"
    option: ClassVar[str] = "the schemes in maximal coordinates"

    def __post_init__(self) -> None:
        choice(self.on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)
        if self.dt is None:
            if self.energy_error is None:
                raise ArgumentError("dt is missing: give a step, s, or energy_error=, which chooses one")
            object.__setattr__(self, "dt", AUTO)
        if not isinstance(self.dt, str):
            if self.energy_error is not None:
                raise ArgumentError("energy_error chooses the step: leave out dt, or give dt='auto'")
            object.__setattr__(self, "dt", positive(self.dt, "dt", ArgumentError))
        elif self.adaptive is not False:
            raise ArgumentError(f"adaptive steps need the longest step as a number, got dt = {self.dt!r}")
        elif self.dt != AUTO:
            raise ArgumentError(f"dt must be a number, s, or '{AUTO}', got {self.dt!r}")
        elif self.energy_error is not None:
            checked_error(self.energy_error)
        checked_turn(self.adaptive, find_scheme(self.order, self.scheme))
        object.__setattr__(self, "tol", positive(self.tol, "tol", ArgumentError))
        choice(self.closures, CLOSURES, "closures", ArgumentError)

    @property
    def title(self) -> str:
        """The name of the method's series in a comparison."""
        return f"VI {self.scheme}" if self.scheme else f"VI order {find_scheme(self.order, self.scheme).order}"

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        mechanism = problem.mechanism
        taken, chosen = self._taken(problem, recording, self._may_collocate(problem, recording))
        if not isinstance(taken, Variational):
            other, job = taken.prepare(problem, recording)
            return other, replace(job, settings=job.settings | chosen)
        dt, scheme = taken.dt, taken.scheme
        assert not isinstance(dt, str)
        steps = problem.steps(dt)
        method = find_scheme(self.order, scheme)
        turn = checked_turn(self.adaptive, method)
        end = steps * dt if turn is None else problem.duration
        times = recording.times(end)
        refuse(mechanism, self.use)
        check_masses_of_paths(mechanism, method.staggered)
        redo = self.on_unresolved == "substep"
        check_deformable(mechanism, method, recording, redo)
        compiled, begun = self._compiled(problem), checked_arrays(mechanism, problem.start())
        check_depth(mechanism, begun, compiled.length)  # before what follows compiles contacts
        compiled = with_settled_rows(mechanism, compiled, dt)
        loads = Loads(mechanism, compiled, steps, problem.force, problem.torque)
        state = checked_start(mechanism, begun)
        if turn is not None or method.staggered:
            check_restart(state, method_name({"turn": turn, "scheme": method.name}))
        check_laws(mechanism, state)
        refuse_amplified(mechanism, method, dt, state, turn is not None)
        commands = Commands(mechanism, compiled, steps, dt, starts_of_motions(mechanism, state), end)
        if soft_meshes(mechanism):
            from varint.methods.variational.deformable_march import DeformableMarch  # scipy.sparse takes long

            soft = DeformableMarch(mechanism, compiled, method, dt, self.tol, recording.stride)
            run: MaximalRun = DeformableRun(mechanism, soft, state, steps, loads, commands)
        else:
            stride = recording.stride if times is None else MOST_STEPS
            march = March(compiled, method, dt, self.tol, stride, turn, end, redo)
            run = _run_of((mechanism, march, state, steps, loads, commands), times)
        settings = {
            "formulation": self.formulation,
            "dt": dt,
            "turn": turn,
            "redo": redo,
            "scheme": method.name,
            "order": method.order,
            "tol": self.tol,
            **shared_settings(problem, recording, steps, times, state),
            **stops_settings(state),
            "closures": self.closures,
            **chosen,
        }
        start = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
        vertices = vertices_of(mechanism, state)
        of_vertices = [] if vertices is None else [vertices]
        of_vertices += [*state.memory.values()]
        inputs = (*start, *of_vertices, *loads.arrays(), *commands.arrays(), *([] if times is None else [times]))
        steady = None if loads.varies else loads.recorded(np.zeros(1))
        return run, Job(mechanism, settings, inputs, steady, recording, method.stages)

    def with_step(self, problem: Problem) -> Variational:
        """See `Method`; "auto" is chosen, among schemes."""
        taken, _ = self._taken(problem, Recording(), False)
        assert isinstance(taken, Variational)
        return taken

    def _taken(self, problem: Problem, recording: Recording, collocate: bool) -> tuple[Method, dict]:
        """Return the method with a step, and the record of its choice."""
        if not isinstance(self.dt, str):
            return self, {}
        wanted = ENERGY_ERROR if self.energy_error is None else self.energy_error
        return step_for(wanted, self.scheme, recording, self._made, lambda: self._chosen(problem, wanted, collocate))

    def _made(self, name: str, dt: float) -> Method:
        """Return `Lobatto`, or these arguments with a scheme, in steps of ``dt``, s."""
        if name.startswith(COLLOCATION):
            taken: Method = _lobatto()(
                dt=dt, order=int(name.removeprefix(COLLOCATION)), on_unresolved=self.on_unresolved
            )
            return taken
        order = self.order if name == self.scheme else None
        return replace(self, dt=dt, scheme=name, order=order, energy_error=None)

    def _chosen(self, problem: Problem, wanted: float, collocate: bool) -> StepChoice:
        """Return the step and the method by trial runs; ``collocate``: whether `Lobatto` may be taken."""
        problem = replace(problem, state=checked_start(problem.mechanism, problem.start()))
        schemes = schemes_of(self.order, self.scheme)
        if collocate:
            schemes = collocations(_lobatto().orders, _lobatto().cost(problem.mechanism)) + schemes
        return chosen_step(problem, wanted, schemes, self.tol, self._made)

    def _may_collocate(self, problem: Problem, recording: Recording) -> bool:
        """Return whether "auto" may take `Lobatto`: it supports the mechanism and all the arguments."""
        default = Variational(dt=self.dt, energy_error=self.energy_error, on_unresolved=self.on_unresolved)
        plain = vars(self) == vars(default) and self.on_unresolved != "substep" and recording.output_times is None
        if not plain or problem.force or problem.torque:
            return False
        if any(traits & {"hard", "contacts"} for traits in problem.mechanism.force_traits):
            return False  # events cost more than trials show
        try:
            _lobatto()(dt=1.0).check(problem.mechanism)
        except ArgumentError:
            return False
        return True

    def _compiled(self, problem: Problem) -> Compiled:
        """Return the mechanism for the kernel, without bodies that others carry, unless a load acts on one of them."""
        mechanism = problem.mechanism
        if self.closures == "single":
            return compile_structure(mechanism, clustered=False)
        if soft_meshes(mechanism):  # which know the bodies that hold their vertices
            return mechanism.compiled
        loads = [load for load in (problem.force, problem.torque) if load is not None]
        loaded = {name for load in loads if isinstance(load, Mapping) for name in load}
        return mechanism.compiled if loaded & mechanism.merged.welded(mechanism) else mechanism.merged

    @staticmethod
    def trajectory(record: Record) -> Trajectory:
        """See `Method`; raises ValueError where the motion of deformable bodies is missing."""
        check_vertices(record.mechanism, record.nodes)
        return Trajectory(record)

    @property
    def use(self) -> Use:
        """See `Method`."""
        if self.adaptive is not False:
            return USES["adaptive steps"]
        composed = len(find_scheme(self.order, self.scheme).stages) > 1
        return USES["composed steps" if composed else "steps"]

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """See `Method`."""
        if trajectory.settings["formulation"] != self.formulation:  # which "auto" took
            _lobatto()(dt=trajectory.settings["dt"], on_unresolved=self.on_unresolved).report(
                trajectory, stacklevel + 1
            )
            return
        if self.on_unresolved == "ignore":
            return
        trial = trial_of(trajectory)
        unresolved = find_unresolved(trajectory, trajectory.settings["dt"], trial) or _find_undamped(trajectory)
        if unresolved is None:
            return
        if self.on_unresolved == "raise":
            message, time, body = unresolved
            raise UnresolvedError(message, time=time, body=body, joint=None, trajectory=trajectory)
        warnings.warn(unresolved.message, UnresolvedWarning, stacklevel=stacklevel)


def _find_undamped(trajectory: Trajectory) -> Unresolved | None:
    """Return the `Unresolved` of a run of several stages a step, or with deformable bodies, that leaves damped motions.

    Other steps end them, see `varint.step.damping`, but for those of elements of beams.
    """
    scheme, dt, called = (
        find_scheme(None, trajectory.settings["scheme"]),
        trajectory.settings["dt"],
        "deformable bodies",
    )
    if len(scheme.stages) > 1:
        called = f"scheme '{scheme.name}' of order {scheme.order}"
        return find_undamped(trajectory, dt, scheme.factor, called, BY_ORDER_2)
    if soft_meshes(trajectory.mechanism):
        return find_undamped(trajectory, dt, scheme.factor, "runs with deformable bodies", "a smaller damping")
    return find_undamped(trajectory, dt, scheme.factor, f"order {scheme.order}", "", beams=True)


def _lobatto() -> Any:
    """Return the class `Lobatto`, whose file imports this one."""
    return method_class("lobatto")


@with_arguments
def choose_step(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | None = None,
    *,
    energy_error: float = ENERGY_ERROR,
    state: State | None = None,
    order: int | None = None,
    scheme: str | None = None,
    tol: float = 1e-10,
    force: Mapping[str, ArrayLike] | None = None,
    torque: Mapping[str, ArrayLike] | None = None,
) -> StepChoice:
    """Return the method and the step of `simulate` that keep the energy to ``energy_error`` at the least cost.

    The method is a scheme of `Variational`, or `Lobatto` where it takes the mechanism and is cheaper. Trial runs go
    over the first part of the motion, until its fastest part was seen. The error of a method falls with a power of its
    step, which the trials of a few steps show. The same arguments give the same choice to the bit. Motions that get
    much faster after the trials have larger errors.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method
        s, of the run to come; beside a Problem a `Variational`.
    energy_error : float
        The largest error of the energy, or of its balance where work is done, over the largest kinetic energy.
    state, order, scheme, tol, force, torque
        As in `simulate`. With ``order`` or ``scheme`` only the step of `Variational` is chosen; loads are constant.
        Functions that command forces are called in the trials too.

    Raises
    ------
    ArgumentError, StateError
        As `simulate`; where inputs have one value a node; where no step of any scheme keeps the energy so well.
    """
    problem, method, _ = parts_of(arguments, Variational)
    of_type(method, Variational, "method", ArgumentError)
    wanted = checked_error(method.energy_error)
    return method._chosen(problem, wanted, method._may_collocate(problem, Recording()))


def _run_of(parts: tuple, times: Any) -> MaximalRun:
    """Return the run that is recorded at ``times``, or at its nodes where they are None; raises ArgumentError."""
    march: March = parts[1]
    if not march.adaptive:
        return MaximalRun(*parts) if times is None else RunAtTimes(*parts).at(times)
    run = AdaptiveRun(*parts) if times is None else AdaptiveAtTimes(*parts).at(times)
    check_adaptive(run)
    return run


def checked_turn(adaptive: bool | float, method: Scheme) -> float | None:
    """Return the largest turn of the fastest body in a step, rad; None where all steps are alike.

    Raises ArgumentError.
    """
    if adaptive is not False and method.staggered:
        raise ArgumentError("adaptive steps need order 2 or above: order 1 starts half a step before its first node")
    if isinstance(adaptive, bool):
        return default_turn(method.order) if adaptive else None
    return positive(adaptive, "adaptive, the turn of the fastest body in a step in rad,", ArgumentError)
