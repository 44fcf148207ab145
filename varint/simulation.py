"""`simulate`: run a mechanism and get its trajectory, in memory or in a file that survives a kill; `load` one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from varint.analysis.forces import check_laws
from varint.analysis.quantities import joint_drift
from varint.analysis.resolution import find_unresolved
from varint.analysis.trajectory import Trajectory
from varint.compile import Compiled, compile_structure
from varint.diagnosing import checked_stride, diagnosed
from varint.errors import ArgumentError, FileError, StateError, UnresolvedError, UnresolvedWarning
from varint.integrators.adaptive import AdaptiveAtTimes, AdaptiveRun, check_adaptive, default_turn
from varint.integrators.march import March
from varint.integrators.outputs import RunAtTimes
from varint.integrators.run import LARGEST_GAP, MaximalRun
from varint.integrators.schemes import Scheme
from varint.integrators.schemes import scheme as find_scheme
from varint.io.formats import FORMATS
from varint.io.run_reader import read
from varint.kernels.plan import Workspace
from varint.kinematics.assembly import unit_quaternions
from varint.loads import Commands, Loads, starts_of_motions
from varint.mechanism import Mechanism
from varint.model.checks import array_of, choice, of_type, path_of, positive
from varint.model.state import State
from varint.record import Record
from varint.running import (
    MOST_STEPS,
    Job,
    answer,
    carry_out,
    checked_output_times,
    checked_recording,
    checked_times,
    refuse_unknown,
)

ROUND_OFF = 1e-12  # of the coordinates of a state to start from
ON_UNRESOLVED = ("warn", "raise", "substep", "ignore")
CLOSURES = ("clusters", "single")
OF_REDUCED = ("integrator", "rtol", "atol", "baumgarte", "prescribed", "chart")  # arguments of the other simulate
MAXIMAL, REDUCED = "maximal", "reduced"


def simulate(
    mechanism: Mechanism,
    duration: float,
    dt: float | str,
    *,
    energy_error: float | None = None,
    state: State | None = None,
    order: int | None = None,
    scheme: str | None = None,
    tol: float = 1e-10,
    every: int = 1,
    diagnostics_every: int | None = None,
    output_times: ArrayLike | None = None,
    adaptive: bool | float = False,
    closures: str = "clusters",
    force: Mapping[str, ArrayLike] | None = None,
    torque: Mapping[str, ArrayLike] | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[float, float], object] | None = None,
    overwrite: bool = False,
    on_unresolved: str = "warn",
    **others: object,
) -> Trajectory:
    """Simulate a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
    duration, dt : float
        s; the run ends at the last whole step within the duration. ``dt="auto"``: `choose_step` chooses the step, and
        the scheme where none is given; ``settings["chosen"]`` says what and why.
    energy_error : float, optional
        With ``dt="auto"``, the largest wanted, of the largest kinetic energy; 1e-4 where not given.
    state : State, optional
        From ``mechanism.state(...)``; ``mechanism.state()`` where not given.
    order : int, optional
        Of the scheme; each order has a default one. 2 where no scheme is given.
    scheme : str, optional
        Its name, in place of the order: `varint.integrators.schemes.SCHEMES` says what each is.
    tol : float
        Largest residual of a step, m/s; a joint may be off by ``tol * dt`` metres.
    every : int
        Record each ``every``-th node, and the last one.
    diagnostics_every : int, optional
        Record energy, momenta and drift of each so many-th node, see `Trajectory.diagnostics`; divides ``every``.
    output_times : (K,), optional
        s, rising: record the start, these times and the last state, in place of the nodes. To a time between two nodes
        goes a step of the scheme of its own, which leaves the run as it is.
    adaptive : bool or float
        Whether the steps follow the motion: ``dt`` is then about the longest one, and the fastest body turns by about
        0.1 rad in a step, 0.05 at order 2, or by so many rad as are given. They stay reversible (docs/runs.md). Inputs
        of forces may be functions, but loads must be constant.
    closures : {"clusters", "single"}
        A dense node for each cluster of loops, or one for all of them (VI section 4.3): the same motion, slower.
    force, torque : dict, optional
        Body name to (3,), or (steps + 1, 3) with one value a node, linear in between. Forces at the
        centre of mass, N, world; torques N m, body axes.
    output : path, optional
        HDF5 file, .h5 or .hdf5, written as the run goes. One that exists is refused, see ``resume``, ``overwrite``.
    resume : bool
        Go on with the run in ``output``, to the same bits as if it had not stopped.
    progress : callable, optional
        Called as ``progress(steps done, steps in all)``.
    overwrite : bool
        Replace the file ``output`` where it exists.
    on_unresolved : {"warn", "raise", "substep", "ignore"}
        What to do at the end of a run where steps did not resolve the motion, see `Trajectory.unresolved`, or a
        `VelocityMotor`: give an UnresolvedWarning, raise an UnresolvedError, or nothing. "substep" does a step in which
        energy came from nowhere again in halves, as often as it takes, and warns where that does not help.

    Raises
    ------
    ArgumentError, StateError, FileError
        Before the first step; MechanismError where the law of a user's force is wrong there.
    ConvergenceError
        A step could not be solved; carries the trajectory up to there. UnresolvedError, which is one: see above.
    """
    from varint.step_choice import step_for  # which simulates

    refuse_unknown(others, simulate, dict.fromkeys(OF_REDUCED, "varint.redmax.simulate, the reduced coordinates"))
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    choice(on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)
    every = checked_recording(every, output, resume, progress, overwrite)
    _refuse_auto(adaptive, dt)
    dt, scheme, chosen = step_for(dt, energy_error, output, resume, {
        "mechanism": mechanism, "duration": duration, "state": state, "order": order, "scheme": scheme, "tol": tol,
        "force": force, "torque": torque,
    })  # fmt: skip
    dt = positive(dt, "dt", ArgumentError)
    stride = checked_stride(diagnostics_every, every)
    duration, _, steps = checked_times(duration, dt)
    method = find_scheme(order, scheme)
    turn = checked_turn(adaptive, method)
    end = steps * dt if turn is None else duration
    times = checked_output_times(output_times, end, every, diagnostics_every)
    tol = positive(tol, "tol", ArgumentError)
    check_forces(mechanism, method)
    compiled = _compiled(mechanism, closures)
    loads = Loads(mechanism, compiled, steps, force, torque)
    state = checked_start(mechanism, mechanism.state() if state is None else state)
    check_laws(mechanism, state)
    commands = Commands(mechanism, compiled, steps, dt, starts_of_motions(mechanism, state), end)
    redo = on_unresolved == "substep"
    march = March(compiled, method, dt, tol, stride if times is None else MOST_STEPS, turn, end, redo)
    run = _run_of((mechanism, march, state, steps, loads, commands), times, on_unresolved)
    settings = {
        "formulation": MAXIMAL,
        "duration": duration,
        "dt": dt,
        "turn": turn,
        "redo": redo,
        "scheme": method.name,
        "order": method.order,
        "tol": tol,
        "every": every,
        "diagnostics_every": diagnostics_every and stride,
        "output_times": None if times is None else len(times),
        "steps": steps,
        "closures": closures,
        **chosen,
    }
    start = (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)
    inputs = (*start, *loads.arrays(), *commands.arrays(), *([] if times is None else [times]))
    steady = None if loads.varies else loads.recorded(np.zeros(1))
    job = Job(mechanism, settings, inputs, steady, every, output, resume, progress, overwrite)
    record = carry_out(diagnosed(run, job, Trajectory), job)
    trajectory = answer(_trajectory(record), run.failure)
    if on_unresolved != "ignore":
        _tell_unresolved(trajectory, dt, on_unresolved == "raise")
    return trajectory


def _tell_unresolved(trajectory: Trajectory, dt: float, error: bool) -> None:
    """Warn the caller of `simulate`, or raise UnresolvedError, where steps did not resolve the motion."""
    unresolved = find_unresolved(trajectory, dt)
    if unresolved is None:
        return
    if error:
        message, time, body = unresolved
        raise UnresolvedError(message, time=time, body=body, joint=None, trajectory=trajectory)
    warnings.warn(unresolved.message, UnresolvedWarning, stacklevel=3)


def _run_of(given: tuple, times: np.ndarray | None, on_unresolved: str) -> MaximalRun:
    """The run that is recorded at ``times``, or at its nodes where they are None; raises ArgumentError."""
    march = given[1]
    if not march.adaptive:
        return MaximalRun(*given) if times is None else RunAtTimes(*given).at(times)
    run = AdaptiveRun(*given) if times is None else AdaptiveAtTimes(*given).at(times)
    check_adaptive(run)
    return run


def _refuse_auto(adaptive: bool | float, dt: float | str) -> None:
    if adaptive is not False and isinstance(dt, str):
        raise ArgumentError("adaptive steps need the longest step as a number, got dt = 'auto'")


def checked_turn(adaptive: bool | float, method: Scheme) -> float | None:
    """rad, that a step may turn the fastest body by; None where all steps are alike. Raises ArgumentError."""
    if adaptive is not False and method.staggered:
        raise ArgumentError("adaptive steps need order 2 or above: order 1 starts half a step before its first node")
    if isinstance(adaptive, bool):
        return default_turn(method.order) if adaptive else None
    return positive(adaptive, "adaptive, the turn of the fastest body in a step in rad,", ArgumentError)


def load(path: str | Path) -> Trajectory:
    """Read a run, finished or not, even one that is being written: a `ReducedTrajectory` where it was reduced.

    Raises FileError if the file cannot be read, is damaged, or holds no run.
    """
    if Path(path_of(path)).suffix in FORMATS:
        raise FileError(f"'{path}' is a file of a mechanism: varint.load_mechanism reads it")
    try:
        return trajectory_of(read(path))
    except ValueError as problem:
        raise FileError(f"'{path}' is damaged or no run of varint: {problem}") from None


def trajectory_of(record: Record) -> Trajectory:
    """What a record says: a `ReducedTrajectory` where the run was reduced. Raises ValueError where it is none."""
    if record.settings["formulation"] == REDUCED:
        from varint.redmax.record import trajectory  # slow to import, so only when needed

        return trajectory(record)
    return _trajectory(record)


def _trajectory(record: Record) -> Trajectory:
    return Trajectory(record)


def _compiled(mechanism: Mechanism, closures: str) -> Compiled:
    single = choice(closures, CLOSURES, "closures", ArgumentError) == "single"
    return compile_structure(mechanism, clustered=False) if single else mechanism.compiled


def check_forces(mechanism: Mechanism, method: Scheme) -> None:
    """That the scheme knows all forces of the mechanism."""
    for force in mechanism.forces:
        if force.reduced_only:
            from varint.redmax.integrators import with_contacts

            raise ArgumentError(f"{force.label} acts in varint.redmax.simulate(integrator='{with_contacts()[0]}') only")


def checked_start(mechanism: Mechanism, state: State, ws: Workspace | None = None) -> State:
    """``state``, from which the mechanism can start; raises ArgumentError, StateError. ``ws``: as of `joint_drift`."""
    if not isinstance(state, State):
        from varint.redmax.states import ReducedState  # slow to import, so only when needed

        if isinstance(state, ReducedState):
            raise ArgumentError(
                "state is a ReducedState: varint.redmax.maximal_state(mechanism, state) gives the State to start from"
            )
    of_type(state, State, "state", ArgumentError)
    nb = len(mechanism.bodies)
    for name, width in (("position", 3), ("quat_wxyz", 4), ("velocity", 3), ("angular_velocity", 3)):
        array_of(getattr(state, name), (nb, width), f"{name} of the state", ArgumentError)
    state = replace(state, quat_wxyz=unit_quaternions(mechanism, state.quat_wxyz, "state"))
    left = joint_drift(mechanism.compiled, state.position[None], state.quat_wxyz[None], ws)[0]
    if not left <= LARGEST_GAP * mechanism.compiled.length + ROUND_OFF * np.abs(state.position).max():
        raise StateError(f"the state leaves a joint {left:.3g} m open: mechanism.assemble(state) closes it")
    return state
