"""The work of one member: build it, run it or go on with it, keep its run, work out its row."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from varint.base.checks import is_whole
from varint.base.errors import ConvergenceError, FileError
from varint.files.runs.made_with import ANY, MEMBER
from varint.files.runs.reader import open_run
from varint.mechanism.mechanism import Mechanism
from varint.methods.simulation import load
from varint.model.state import State
from varint.runs.method import Method, register, solve
from varint.runs.parts import of_class
from varint.runs.problem import Problem, Recording, checked_times
from varint.runs.trajectory import Trajectory
from varint.studies.ensembles.figures import ERROR, MESSAGE, STATUS, STOPPED, Measure, error_row, row_of, row_of_figures
from varint.studies.ensembles.marks import entry_of, run_misfit, run_path
from varint.studies.ensembles.member_parameters import parts_of
from varint.studies.ensembles.short_members import short_figures
from varint.studies.ensembles.source import Source, built, label_of

HELD = 1 << 26  # bytes of a run that may be in memory until it is written
PATIENCE = 2.0  # s of a run that is in memory alone
NODE = 8 * 20  # bytes of a body at a node, about


@dataclass(frozen=True, eq=False)
class MemberTask:
    """Settings common to all members.

    source : Source
    method : subclass of Method
    common : dict
        Arguments of the run.
    folder : Path or None
        Absolute; where the runs are kept.
    measure : function or None
    unresolved_fails : bool
        Whether a member whose steps did not resolve its motion counts as stopped.
    origin, measured : str
        Digests of the source of the mechanisms and of ``measure``, see `varint.studies.ensembles.origin`.
    lenient : bool
        Whether runs of other versions, and of unknown ones, are kept and gone on with.
    """

    source: Source
    method: type[Method]
    common: Mapping[str, Any]
    folder: Path | None
    measure: Measure | None
    unresolved_fails: bool
    origin: str = ""
    measured: str = ""
    lenient: bool = False

    def described(self) -> dict[str, Any]:
        """Return the description in ``ensemble.json``, which distinguishes ensembles, but for their members."""
        measure = None if self.measure is None else label_of(self.measure)
        return {"build": self.source.label, "formulation": self.method.formulation, **self.common, "measure": measure}


class TooLong(Exception):
    """A run in memory has gone on for so long that it is worth a file to go on from."""


def run_member(task: MemberTask, build: Callable, number: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a member, see `varint.studies.ensembles.figures`; every error of it is in the row."""
    try:
        row = _row(task, build, number, parameters)
    except Exception as problem:  # the others shall run all the same
        return error_row(problem)
    if task.unresolved_fails and row["unresolved"] is not None and row[STATUS] != ERROR:
        row[STATUS] = STOPPED
    return row | {MESSAGE: " ".join(row[MESSAGE].split())}


def _row(task: MemberTask, build: Callable, number: int, parameters: Mapping[str, Any]) -> dict[str, Any]:
    if task.folder is not None:
        return row_of(_kept(task, build, run_path(task.folder, number), parameters), task.measure, parameters)
    mechanism, state, arguments = _made(task, build, parameters)
    figures = None if task.measure else short_figures(task.method, mechanism, state, arguments)
    if figures is not None:
        return row_of_figures(figures)
    run = partial(_simulate, task.method, mechanism, state, arguments, entry_of(task, parameters))
    return row_of(_reached(run), task.measure, parameters)


def _made(task: MemberTask, build: Callable, parameters: Mapping[str, Any]) -> tuple[Mechanism, State, dict[str, Any]]:
    """Return the mechanism of a member, its start and the arguments of its run."""
    register(task.method)  # where a process has not met it
    parts = parts_of(parameters, task.method.formulation)
    return *built(build, parts.build, parts.start), {**task.common, **parts.run}


def _kept(task: MemberTask, build: Callable, path: Path, parameters: Mapping[str, Any]) -> Trajectory:
    """Return the run of a member, in the file ``path`` from here on."""
    exists = path.exists()
    started = exists and not run_misfit(task, parameters, path)
    if started:
        try:
            if _has_ended(path):
                return load(path)
        except FileError:  # damaged behind its head, which alone was compared: done anew
            started = False
    mechanism, state, arguments = _made(task, build, parameters)
    run = partial(_simulate, task.method, mechanism, state, arguments, entry_of(task, parameters))
    path.parent.mkdir(parents=True, exist_ok=True)
    if not started and _is_small(mechanism, arguments):
        try:
            trajectory = _reached(partial(run, progress=_patient()))
        except TooLong:
            pass  # and once more, into a file from its start
        else:
            trajectory.save(path, overwrite=exists)
            return trajectory
    if started and task.method.resumable:
        return _reached(partial(run, output=path, resume=ANY if task.lenient else True))
    return _reached(partial(run, output=path, overwrite=exists))


def _has_ended(path: Path) -> bool:
    with open_run(path) as run:
        return run.checkpoint.progress.status >= 0


def _simulate(
    kind: type[Method],
    mechanism: Mechanism,
    state: State,
    arguments: Mapping[str, Any],
    entry: Mapping[str, str],
    **recording: Any,
) -> Trajectory:
    """Run a member and return its trajectory; ``recording``: arguments of a `Recording` beside the member's."""
    problem = Problem(mechanism, state=state, **of_class(Problem, arguments))
    kept = Recording(**of_class(Recording, arguments), **recording)
    return solve(problem, kind(**of_class(kind, arguments)), kept, {MEMBER: dict(entry)})


def _reached(run: Callable[[], Trajectory]) -> Trajectory:
    """Return the trajectory of ``run``, up to where it could go."""
    try:
        return run()
    except ConvergenceError as problem:
        return problem.trajectory


def _is_small(mechanism: Mechanism, arguments: Mapping[str, Any]) -> bool:
    """Return whether the run can be in memory until it is written; not where an integrator chooses the nodes."""
    if arguments.get("dt") is None:
        return False
    _, _, steps = checked_times(arguments["duration"], arguments["dt"])
    every = arguments.get("every", 1)
    nodes = steps / every if is_whole(every) and every > 0 else steps
    return nodes * NODE * len(mechanism.bodies) <= HELD


def _patient() -> Callable[[float, float], None]:
    """Return a function of the progress that raises TooLong after a while."""
    end = time.monotonic() + PATIENCE

    def look(done: float, total: float) -> None:
        if done < total and time.monotonic() > end:
            raise TooLong

    return look
