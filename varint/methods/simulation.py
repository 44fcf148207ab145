"""`simulate`: run a mechanism and get its trajectory, in memory or in a file that survives a kill; `load` one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from varint.base.callers import level_of_user
from varint.base.errors import FileError, TurnsWarning
from varint.base.paths import path_of
from varint.kinematics.turns import has_counted_angles
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.method import Variational
from varint.model.state import State
from varint.results.locked import warn_if_locked
from varint.runs.method import Method, solve, trajectory_of
from varint.runs.parts import Arguments, parts_of, with_arguments
from varint.runs.problem import Problem, Recording
from varint.runs.trajectory import Trajectory


@with_arguments
def simulate(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | None = None,
    dt: float | str | Recording | None = None,
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
    resume: bool | str = False,
    progress: Callable[[float, float], object] | None = None,
    overwrite: bool = False,
    on_unresolved: str = "warn",
) -> Trajectory:
    """Simulate a mechanism: ``simulate(problem, method, recording)``, or by keywords with the variational integrator.

    ``simulate(mechanism, 10.0, 0.01, order=4, every=10)`` is short for ``simulate(Problem(mechanism, 10.0),
    Variational(dt=0.01, order=4), Recording(every=10))``. Any other method, as ``Reduced("dop853", rtol=1e-10)``, goes
    through the second form.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method
        s; the run ends at the last whole step within the duration.
    dt : float or "auto", or Recording
        Step, s. "auto", or left out beside an ``energy_error``: `choose_step` chooses the step, and the method by
        default.
    state, force, torque
        See `Problem`.
    order, scheme, tol, adaptive, closures, energy_error, on_unresolved
        See `Variational`.
    every, diagnostics_every, output_times, output, resume, overwrite, progress
        See `Recording`.

    Raises
    ------
    ArgumentError, StateError, FileError
        Before the first step; MechanismError where the law of a user's force is wrong there.
    ConvergenceError
        A step could not be solved; carries the trajectory up to there. UnresolvedError, which is one: see
        ``on_unresolved``.
    """
    problem, method, recording = parts_of(arguments, Variational)
    trajectory = solve(problem, method, recording)
    method.report(trajectory, stacklevel=4)
    warn_if_locked(trajectory)
    return trajectory


def load(path: str | Path) -> Trajectory:
    """Read a run, finished or not, even one that is being written: a `ReducedTrajectory` where it was reduced.

    A file of an earlier version, whose forces act along angles, gives a TurnsWarning: it has no turns at the start.
    Raises FileError if the file cannot be read, is damaged, or holds no run.
    """
    from varint.files.formats import FORMATS
    from varint.files.runs.reader import read

    if Path(path_of(path)).suffix in FORMATS:
        raise FileError(f"'{path}' is a file of a mechanism: varint.load_mechanism reads it")
    try:
        run = trajectory_of(read(path))
    except ValueError as problem:
        raise FileError(f"'{path}' is damaged or not a run of varint: {problem}") from None
    if "turns" not in run.settings and has_counted_angles(run.mechanism):
        warnings.warn(
            f"'{path}' was written by an earlier version: it does not say how many turns angles have at the start, and"
            " they are the shortest there, as they were in that run",
            TurnsWarning,
            stacklevel=level_of_user(),
        )
    return run
