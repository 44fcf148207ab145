"""`ensemble`: run a mechanism with many parameters; `load_ensemble`: read one."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from varint.base.checks import call, check_name, choice, flag, function_of, shown, whole_number
from varint.base.errors import ArgumentError, FailedMembersWarning, UnresolvedWarning
from varint.base.paths import path_of
from varint.base.printable import tell
from varint.files.formats.script import ENTERED
from varint.files.runs.lock import locked
from varint.files.runs.made_with import ANY
from varint.runs.method import Method, method_class
from varint.runs.problem import checked_resume
from varint.studies.ensembles import folder as folders
from varint.studies.ensembles import source as sources
from varint.studies.ensembles.cluster import rows as cluster_rows
from varint.studies.ensembles.ensemble_result import Ensemble
from varint.studies.ensembles.figures import DONE, STATUS, Measure
from varint.studies.ensembles.marks import CHANGED, MOST_NAMED, row_mark, take_out_misfits, text_of
from varint.studies.ensembles.member_checks import ON_UNRESOLVED, check_members, checked_common, parts_of_method
from varint.studies.ensembles.member_parameters import members_of
from varint.studies.ensembles.origin import origin_of, origin_of_function
from varint.studies.ensembles.processes import Member as Work
from varint.studies.ensembles.processes import Processes, Row
from varint.studies.ensembles.table import MemberTable
from varint.studies.ensembles.threads import Threads, in_threads
from varint.studies.ensembles.work import MemberTask

MOST_WORKERS = 4096
WRITERS = 4  # cores for one process more
Progress = Callable[[int, int, int], object]


def ensemble(
    build: Callable | str | Path,
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    duration: float | None = None,
    dt: float | Method | None = None,
    *,
    formulation: str = "maximal",
    output: str | Path | None = None,
    resume: bool | str = False,
    overwrite: bool = False,
    measure: Measure | None = None,
    workers: int | str | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    on_unresolved: str = "warn",
    **options: Any,
) -> Ensemble:
    """Run a mechanism with many parameters: on all cores of this machine, or on a Dask cluster.

    Parameters
    ----------
    build : function, str or path
        A function of parameters that returns a `Mechanism`, or a `Mechanism` and the `State` to start from; the name of
        a mechanism of the catalogue; or a file of a mechanism, a script with such a function ``build``.
    parameters : dict, or list of dicts
        Names to lists of values: a member for each combination, the last name fastest. Or a list with the parameters of
        each member, as `random_draws` gives. Values are numbers, texts, and lists or mappings of these. Names
        ``coordinates.JOINT``, ``rates.JOINT``, ``position.BODY``, ... are of the start, see `Mechanism.state`;
        ``duration``, ``dt`` and the ``options`` are of the run; all others are arguments of ``build``.
    duration : float, optional
        s, of all members.
    dt : float, or Method, optional
        Step of all members, s; or the method of all, as ``varint.Reduced("dop853", rtol=1e-10)``, in place of its
        arguments, formulation and ``on_unresolved``.
    formulation : {"maximal", "reduced"}, or str
        `varint.Variational`, `varint.Reduced`, or the formulation of a registered `Method`.
    output : path, optional
        Folder for the table, results.csv, and the run of each member. Without one only the table is kept, in memory.
    resume : bool or "any"
        Go on with the ensemble in ``output``: members that ended are not run again, others in progress continue, and
        members that ended in an error are tried again. Members may be added at the end. Members whose run or row is not
        theirs, as build, ``measure``, the file or the version of varint is another, are done anew, and stand in
        `Ensemble.remarks`. "any" keeps runs of other versions, and runs without a record of their origin.
    overwrite : bool
        Replace the ensemble in ``output``; other files in the folder stay.
    measure : function, optional
        Of the trajectory of a member; gives a mapping of names to numbers, more columns of the table.
    workers : int or "threads", optional
        Processes; where not given, as many as cores that this process may use, and with ``output`` a quarter more, for
        while others wait for the disk. "threads": no process, but a thread for each core; less work for many members of
        some milliseconds, but one that ends its process ends them all.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, whose workers have varint and see ``output`` under the same path.
    progress : callable, optional
        Called as ``progress(members that ended, all members, failures)``.
    on_unresolved : {"warn", "raise", "ignore"}
        One UnresolvedWarning for all members, no warning, or "raise": such members count as stopped.
    options
        Arguments of the run, of all members: every, diagnostics_every, force, torque; in maximal coordinates order,
        scheme, tol, adaptive, closures; in reduced ones integrator, rtol, atol, baumgarte, chart,
        stages, tol, contact_solver.

    An error in a member stands in its row, and harms no other: a FailedMembersWarning gives their number, and
    `Ensemble.failures` which. Ctrl-C stops it all; with ``output`` it can go on.

    Raises
    ------
    ArgumentError, FileError
        Before the first member.
    """
    members = members_of(parameters)
    if isinstance(dt, Method):
        formulation, on_unresolved, dt, options = parts_of_method(dt, formulation, on_unresolved, options)
    common = checked_common(formulation, duration, dt, options)
    choice(on_unresolved, ON_UNRESOLVED, "on_unresolved", ArgumentError)
    source = sources.source_of(build)
    check_members(members, source, formulation, common)
    if measure is not None:
        function_of(measure, "measure", ArgumentError)
    if progress is not None:
        function_of(progress, "progress", ArgumentError)
    rows = _way(workers, scheduler, output is not None)
    folder = _checked_output(output, resume, overwrite)
    task = MemberTask(source, method_class(formulation), common, folder, measure, on_unresolved == "raise")
    if folder is not None:
        measured = "" if measure is None else origin_of_function(measure)
        task = replace(task, origin=origin_of(source), measured=measured, lenient=resume == ANY)
    sent = task if in_threads(workers) else _pickled(task)
    with _table_of(task, members, overwrite) as (table, remarks):
        waiting = [(number, member) for number, member in enumerate(members) if number not in table.rows]
        _carry_out(rows(sent, waiting) if waiting else iter(()), table, progress)
    result = Ensemble(table, folder, remarks, task.described())
    _warn(result, on_unresolved)
    return result


def load_ensemble(path: str | Path) -> Ensemble:
    """Read the ensemble in a folder, finished or not, even one that is being written. Raises FileError."""
    folder = Path(os.path.realpath(path_of(path)))
    described, members = folders.read_description(folder)
    table = MemberTable(members, folder / folders.TABLE)
    table.read()
    return Ensemble(table, folder, dict.fromkeys(sorted(table.changed), CHANGED), described)


def usable_cores() -> int:
    """Number of cores of this machine that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _way(
    workers: int | str | None, scheduler: str | None, writing: bool
) -> Callable[[Any, Sequence[Work]], Iterator[tuple[int, Row]]]:
    """Return the function that computes rows of members: by threads or processes here, or by a cluster."""
    if scheduler is None and in_threads(workers):
        return Threads(usable_cores()).rows
    if scheduler is None:
        cores = usable_cores()
        count = (cores + writing * -(-cores // WRITERS)) if workers is None else workers
        if isinstance(count, str):
            raise ArgumentError(f"workers must be a whole number from 1, or 'threads', got {shown(count)}")
        return Processes(whole_number(count, "workers", 1, ArgumentError, MOST_WORKERS)).rows
    if workers is not None:
        raise ArgumentError(
            "workers are processes of this machine, a cluster has its own: leave out workers or scheduler"
        )
    address = check_name(scheduler, "scheduler", ArgumentError)
    if "://" not in address:
        raise ArgumentError(f"scheduler must be an address as 'tcp://host:8786', got {shown(scheduler)}")
    return lambda task, members: cluster_rows(address, task, members)


def _checked_output(output: str | Path | None, resume: bool | str, overwrite: bool) -> Path | None:
    if checked_resume(resume) and output is None:
        raise ArgumentError("resume needs output=, the folder of the ensemble to continue")
    if flag(overwrite, "overwrite", ArgumentError) and resume:
        raise ArgumentError(
            "overwrite=True replaces the ensemble in output=, resume=True continues it: give one of them"
        )
    return None if output is None else folders.checked_folder(output, bool(resume or overwrite))


def _pickled(task: MemberTask) -> bytes:
    for name in ENTERED & set(sys.modules):  # the other processes cannot import these
        cloudpickle.register_pickle_by_value(sys.modules[name])
    try:
        return cloudpickle.dumps(task)
    except Exception as problem:  # whatever the functions hold raises when it is asked for its parts
        raise ArgumentError(f"build or measure cannot be sent to other processes: {problem}") from problem


@contextmanager
def _table_of(
    task: MemberTask, members: Sequence[Mapping[str, Any]], overwrite: bool
) -> Iterator[tuple[MemberTable, dict[int, str]]]:
    """Lock the folder of the ensemble and yield its table with the rows that are kept, and remarks on members run anew.

    The table is written when the context ends. Raises FileError.
    """
    remarks: dict[int, str] = {}
    if task.folder is None:
        yield MemberTable(members), remarks
        return
    folders.make(task.folder)
    table = MemberTable(members, task.folder / folders.TABLE, partial(row_mark, task))
    with locked(task.folder / folders.DESCRIPTION):
        if overwrite and (others := folders.clear(task.folder)):
            tell(f"'{task.folder}' keeps files that the ensemble did not write: {', '.join(others[:MOST_NAMED])}")
        if (task.folder / folders.DESCRIPTION).exists():
            folders.check_same(task.folder, task.described(), members)
            table.read()
            remarks = take_out_misfits(task, members, table)
            if remarks:
                tell(text_of(task.folder, remarks, len(members)))
        folders.write_description(task.folder, task.described(), members)
        table.write()
        yield table, remarks
        table.write()


def _carry_out(rows: Iterator[tuple[int, Row]], table: MemberTable, progress: Progress | None) -> None:
    failures = sum(row[STATUS] != DONE for row in table.rows.values())
    try:
        for number, row in rows:
            table.add(number, row)
            failures += row[STATUS] != DONE
            if progress is not None:
                label = "progress, a function that is called as progress(done, total, failures)"
                call(progress, label, len(table.rows), len(table.members), failures)
    finally:
        if isinstance(rows, Generator):  # at once, where an error holds its frame
            rows.close()


def _warn(result: Ensemble, on_unresolved: str) -> None:
    """Warn once of all members that failed, and once of all whose steps did not resolve the motion."""
    if failures := result.failures:
        first = failures[0]
        warnings.warn(
            f"{len(failures)} of {len(result)} members failed, the first is member {first.number}: {first.message}",
            FailedMembersWarning,
            stacklevel=3,
        )
    count = np.isfinite(result.table["unresolved"]).sum()
    if on_unresolved == "warn" and count:
        warnings.warn(
            f"the steps of {count} of {len(result)} members did not resolve their motion: column 'unresolved' has the"
            " times, 'message' what to do",
            UnresolvedWarning,
            stacklevel=3,
        )
