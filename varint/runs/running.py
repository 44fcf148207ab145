"""The procedure of every run, in either formulation: start, march in blocks, record in memory or in a file, answer."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from varint.base.checks import call
from varint.base.errors import ArgumentError, ConvergenceError, FileError, VarintError
from varint.base.printable import tell
from varint.files.runs.contents import UNFINISHED, difference, fingerprint, is_resumable
from varint.files.runs.lock import locked
from varint.files.runs.made_with import check_resumable, resumed_settings
from varint.files.runs.space import WantedSpace, check_disk, check_memory, tell_size
from varint.mechanism.mechanism import Mechanism
from varint.results.half_turns import HalfTurns
from varint.results.inputs.replaced_rates import warn_of_replaced_rates
from varint.results.record import DONE, HeldNodes, Record, joined
from varint.results.recorded_motion import RecordedMotion
from varint.runs.problem import Recording
from varint.runs.run import Block, Failure, Run

if TYPE_CHECKING:  # else imported where a run has a file: h5py takes long
    from varint.files.runs.writer import RunWriter

BLOCK_SECONDS = 0.25  # between two looks at the file and the progress
LARGEST_BLOCK = 1 << 25  # bytes of recorded nodes in one block
MOST_GROWTH, MOST_GROWTH_IN_A_FILE = 64.0, 8.0  # from one block to the next; the last is lost on a full disk
ROUND_OFF = 1e-12  # of a time
KindOfTrajectory = TypeVar("KindOfTrajectory", bound=RecordedMotion)
FOLLOWER: ContextVar[Callable[[Record], object] | None] = ContextVar("FOLLOWER", default=None)


@dataclass(frozen=True, eq=False)
class Job:
    """Task of a run and the place of its record.

    settings : dict
        See `Record`.
    inputs : tuple of arrays
        Arrays of the start and of all that acts from outside: a run that goes on must have the same.
    load : (1, nb, 6), see `Record`; None where the nodes hold it
    recording : Recording
    coefficients : (n,) of the scheme; None where the method has no array of them
    """

    mechanism: Mechanism
    settings: dict
    inputs: tuple
    load: np.ndarray | None
    recording: Recording
    coefficients: np.ndarray | None = None


def carry_out(run: Run, job: Job, state: object) -> Record:
    """Run ``run`` to its end, or to where a step fails; ``state``: of the problem, None for that of the mechanism.

    Raises FileError where the file cannot be written, or holds another run than the one to go on with.
    """
    with interruptible() as pause:
        first = run.start()
        warn_of_replaced_rates(job.mechanism, state, run.state)
        _tell(run, job, first)
        return _in_memory(run, job, first, pause) if job.recording.output is None else _to_file(run, job, first, pause)


def _in_memory(run: Run, job: Job, first: Block, pause: Callable[[], None]) -> Record:
    largest = max(array.nbytes for array in first.nodes.values())
    if wanted := _to_record(run, job, first, largest):  # one array is there twice when blocks are joined
        check_memory(wanted)
    blocks = [first]
    spent = _march(run, job, lambda block, spent: blocks.append(block), 0.0, pause)
    made_of = job.mechanism, job.settings, run.layout
    diagnostics = [block.diagnostics for block in blocks if block.diagnostics]
    tables = joined([block.nodes for block in blocks]), job.load, run.reached.counts
    end = run.checkpoint()
    record = Record(*made_of, *tables, *_ended(run), spent, end, job.inputs)
    return replace(record, diagnostics=joined(diagnostics)) if diagnostics else record


def _to_file(run: Run, job: Job, first: Block, pause: Callable[[], None]) -> Record:
    from varint.files.runs.reader import read

    assert job.recording.output is not None
    path = Path(os.path.realpath(job.recording.output))  # links are followed, not replaced
    job.recording.check_place(is_resumable(job.settings))
    if job.recording.resume and not path.exists():
        raise FileError(f"there is no run in '{job.recording.output}' to resume: leave out resume=True to begin one")
    with locked(path):
        job.recording.check_place(is_resumable(job.settings))  # another run may have ended there meanwhile
        writer, spent = (
            _reopened(run, job, path, first) if job.recording.resume else (_opened(run, job, path, first), 0.0)
        )
        if writer is None:
            tell(f"the run in '{job.recording.output}' is finished")
            return read(path)
        try:

            def keep(block: Block, spent: float) -> None:
                state = run.checkpoint() if run.failure is None else None
                writer.append(block.nodes, state, run.reached.counts, spent, block.diagnostics)

            _march(run, job, keep, spent, pause)
            writer.finish(*_ended(run))
        except KeyboardInterrupt:
            reached = f"interrupted at t = {run.reached.time:.6g} s"
            path_shown = f"'{job.recording.output}'"
            then = f"resume=True goes on with {path_shown}" if is_resumable(job.settings) else f"{path_shown} has these"
            raise KeyboardInterrupt(f"{reached}; {then}") from None
        finally:
            writer.close()
        return read(path)


def _to_record(run: Run, job: Job, first: Block, more: int = 0) -> WantedSpace | None:
    """Return the size of the remaining record, from the ``first`` node and ``more`` bytes; None for unknown steps."""
    if job.settings["dt"] is None or job.settings.get("turn"):
        return None
    if times := job.settings["output_times"]:
        return WantedSpace(times, 1, _width(first.nodes) + more, True)
    steps, finer = int(run.reached.total - run.reached.done), None
    if first.diagnostics:
        finer = job.settings["diagnostics_every"], _width(first.diagnostics)
    return WantedSpace(steps, job.recording.every, _width(first.nodes) + more, bool(job.recording.resume), finer)


def _ended(run: Run) -> tuple[int, str]:
    """Return the status, 1 after a failure, else 0, and its message."""
    return (1, run.failure.message) if run.failure else (0, DONE)


def answer(trajectory: KindOfTrajectory, failure: Failure | None) -> KindOfTrajectory:
    """Return the trajectory; raises ConvergenceError with it where a step failed."""
    if failure:
        where = failure._asdict()
        raise ConvergenceError(where.pop("message"), **where, trajectory=trajectory)
    return trajectory


def _opened(run: Run, job: Job, path: Path, first: Block) -> "RunWriter":
    from varint.files.runs.writer import Content, RunWriter

    mark = fingerprint(job.mechanism, job.settings, job.inputs)
    if wanted := _to_record(run, job, first):
        check_disk(path, wanted, path.stat().st_size if path.exists() else 0)
        tell_size(path, wanted)
    content = Content(job.mechanism, job.settings, run.layout, mark, job.load, first.nodes, first.diagnostics or {})
    return RunWriter.create(path, content, run.checkpoint())


def _width(rows: Mapping[str, np.ndarray]) -> int:
    """Return the bytes of a row."""
    return sum(array[0].nbytes for array in rows.values())


def _reopened(run: Run, job: Job, path: Path, first: Block) -> "tuple[RunWriter | None, float]":
    """Return the writer of the nodes to come, None if the file is whole, and seconds spent on the recorded ones."""
    from varint.files.runs.reader import open_run
    from varint.files.runs.writer import RunWriter

    with open_run(path) as stored:
        if stored.texts["fingerprint"].decode() != fingerprint(job.mechanism, job.settings, job.inputs):
            differs = difference((stored.mechanism, stored.settings), (job.mechanism, job.settings))
            raise FileError(
                f"'{job.recording.output}' holds another run: {differs}. To go on, all but the duration must be the"
                " same; overwrite=True begins anew"
            )
        check_resumable(stored.settings, job.settings["made_with"], job.recording.resume, job.recording.output)
        checkpoint = stored.checkpoint
        if checkpoint.progress.status > 0:
            raise FileError(f"the run in '{job.recording.output}' cannot go on: {checkpoint.message}")
        recorded = int(checkpoint.state["recorded"][0])
        if not 0 < recorded <= stored.nodes.records:
            raise ValueError("its checkpoint does not belong to its nodes")
        if stored.diagnostics and not 0 < int(checkpoint.state["diagnosed"][0]) <= stored.diagnostics.records:
            raise ValueError("its checkpoint does not belong to its diagnostics")
        at_checkpoint, reached = stored.nodes.time_of(recorded), stored.nodes.time_of(stored.nodes.records)
        before = stored.settings
        whole = checkpoint.progress.status == 0 and before["duration"] == job.settings["duration"]
        whole = whole and not stored.left_open
    _restore(run, checkpoint.state, at_checkpoint, path)
    reached = max(reached, run.reached.time)
    if reached > run.reached.end:
        past = f"{job.settings['duration']:g} s already, at {reached:g} s"
        raise ArgumentError(f"the run in '{job.recording.output}' is past {past}")
    if whole and run.finished:
        return None, checkpoint.wall_time
    if wanted := _to_record(run, job, first):
        check_disk(path, wanted)
        tell_size(path, wanted)
    return RunWriter.reopen(path, resumed_settings(before, job.settings, run.reached.time)), checkpoint.wall_time


def _restore(run: Run, saved: Mapping[str, np.ndarray], recorded: float, path: Path) -> None:
    """Go back to a checkpoint behind a node recorded at that time, s; raises FileError if it is not of this run."""
    try:
        _check_state(saved, run.checkpoint(), path)
        run.restore(saved)
        if not run.reached.time >= recorded * (1 - ROUND_OFF):
            raise ValueError("its checkpoint does not belong to its nodes")
    except (ValueError, ArithmeticError) as problem:
        if isinstance(problem, VarintError) or hasattr(problem, "__notes__"):  # of a function of the user's
            raise
        raise FileError(f"'{path}' is damaged or not a run of varint: {problem}") from None


def _check_state(saved: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], path: Path) -> None:
    """Check that a checkpoint has the arrays of the run; raises ValueError, FileError."""
    if saved.keys() != expected.keys():
        other = ", ".join(sorted(saved.keys() ^ expected.keys()))
        raise FileError(
            f"'{path}' cannot go on here: another version of varint wrote it, whose checkpoints differ in {other}; go"
            " on with that version, or begin anew with overwrite=True"
        )
    for name, array in expected.items():
        stored = saved[name]
        least = -1 if stored.dtype.kind == "i" else -np.inf  # counts and numbers of bodies
        if stored.dtype != array.dtype or stored.shape != array.shape or not np.isfinite(stored).all():
            raise ValueError(f"'{name}' of its checkpoint does not belong to its mechanism")
        if stored.size and stored.real.min() < least:
            raise ValueError(f"'{name}' of its checkpoint counts below zero")


def _march(
    run: Run, job: Job, keep: Callable[[Block, float], object], spent: float, pause: Callable[[], None]
) -> float:
    """March to the end, giving each block and the seconds of stepping so far to ``keep``; return the seconds in all."""
    row = 8 * 13 * len(job.mechanism.bodies)
    stride = job.settings["diagnostics_every"] or job.recording.every
    largest = max(1, LARGEST_BLOCK * stride // row)
    growth = MOST_GROWTH if job.recording.output is None else MOST_GROWTH_IN_A_FILE
    size, half_turns = 1, HalfTurns(job.mechanism)
    pause()
    while not run.finished and run.failure is None:
        began = time.perf_counter()
        block = run.advance(size)
        stepped = time.perf_counter()
        if run.failure is None and (beyond := half_turns.passed(block.nodes)):
            run.failure = Failure(beyond.message, beyond.time)
        spent += block.seconds
        keep(block, spent)
        _tell(run, job, block)
        if job.recording.progress:
            call(
                job.recording.progress,
                "progress, a function that is called as progress(done, total)",
                run.reached.done,
                run.reached.total,
            )
        pause()
        around = time.perf_counter() - stepped  # the cost of a block that does not depend on its steps
        factor = np.clip(max(BLOCK_SECONDS, around) / max(stepped - began, 1e-9), 0.5, growth)
        size = int(np.clip(size * factor, 1, largest))
    tail = run.tail()
    if len(tail.nodes["t"]):
        keep(tail, spent)
        _tell(run, job, tail)
    return spent


@contextmanager
def followed(by: Callable[[Record], object] | None) -> Iterator[None]:
    """Give ``by`` the nodes of each block of a run as they come, in an unfinished `Record` of these alone.

    It acts on runs within the context. None: no function gets them.
    """
    token = FOLLOWER.set(by)
    try:
        yield
    finally:
        FOLLOWER.reset(token)


def _tell(run: Run, job: Job, block: Block) -> None:
    follower = FOLLOWER.get()
    if follower is not None and len(block.nodes["t"]):
        nodes = HeldNodes(block.nodes)
        follower(
            Record(job.mechanism, job.settings, run.layout, nodes, job.load, run.reached.counts, UNFINISHED, "", 0.0)
        )


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Hold back an interrupt from the keyboard until ``pause()`` is called, so that it ends no block in its middle.

    A second one is not held back. Outside the main thread, and with a user-defined handler, no interrupt is held back.
    """
    asked: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        if asked:
            signal.default_int_handler(number, frame)
        asked.append(number)

    def pause() -> None:
        if asked:
            raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pause
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield pause
        pause()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
