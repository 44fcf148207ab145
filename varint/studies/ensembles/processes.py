"""Members on the cores of this machine: worker processes that are asked for one member at a time.

A process that dies takes no other with it. The member that it had is tried once more, by a fresh one.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from varint.base.errors import ArgumentError
from varint.studies.ensembles.figures import ERROR, MESSAGE, STATUS

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from varint.studies.ensembles.worker import main; main()"
)
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
MOST_DEATHS = 2  # with the same member

Member = tuple[int, Mapping[str, Any]]  # its number and parameters
Row = dict[str, Any]


class Died(Exception):
    """A worker ended before it had answered."""


class Worker:
    """A process of `varint.studies.ensembles.worker`, ready for members."""

    def __init__(self, task: bytes) -> None:
        """Start a process with a pickled `MemberTask`. Raises ArgumentError if the process cannot read it."""
        command = [sys.executable, "-c", START, json.dumps(sys.path)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=os.environ | ONE_THREAD, **pipes)  # type: ignore[call-overload]
        try:
            self._send(json.dumps({"task": len(task)}).encode() + b"\n" + task)
            answer = self._receive()
        except Died as problem:
            self.close()
            raise ArgumentError(f"a worker process could not start, it {problem}") from None
        if "failed" in answer:
            self.close()
            raise ArgumentError(f"build or measure cannot be used in a worker process: {answer['failed']}")

    def row(self, member: Member) -> Row:
        """Answer of the process; raises Died."""
        number, parameters = member
        self._send(json.dumps({"number": number, "parameters": parameters}).encode() + b"\n")
        return self._receive()

    def kill(self) -> None:
        """End the process at once: files are written so that they are whole at any instant."""
        self.process.kill()

    def close(self) -> None:
        """Wait for the end of a process that has nothing to do."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):  # it was dead before
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def _receive(self) -> Row:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._death()
        return json.loads(line)

    def _death(self) -> Died:
        code = self.process.wait()
        return Died(f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}")


class Processes:
    """``count`` workers for the members of one ensemble."""

    def __init__(self, count: int) -> None:
        self.count, self.task = count, b""
        self.waiting: deque[Member] = deque()
        self.found: queue.SimpleQueue[tuple[int, Row] | BaseException] = queue.SimpleQueue()
        self.deaths: dict[int, int] = {}
        self.workers: set[Worker] = set()
        self.stopped = False
        self.lock = threading.Lock()

    def rows(self, task: bytes, members: Sequence[Member]) -> Iterator[tuple[int, Row]]:
        """Number and row of each member, as they end.

        ``task``: a pickled `Task`. Raises ArgumentError where no worker can start.
        """
        self.task = task
        self.waiting.extend(members)
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(min(self.count, len(members)))]
        try:
            for thread in threads:
                thread.start()
            for _ in members:
                item = self.found.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            with self.lock:
                self.stopped = True
                for worker in self.workers:
                    worker.kill()
            for thread in threads:
                thread.join()

    def _serve(self) -> None:
        """Give members to a worker, and to a new one after each that died, until all are done."""
        worker = None
        try:
            while (member := self._next()) is not None:
                worker = worker or self._started()
                try:
                    self.found.put((member[0], worker.row(member)))
                except Died as death:
                    self._end(worker)
                    worker = None
                    self._tell(member, str(death))
        except BaseException as problem:  # for the thread that waits for the rows
            self.found.put(problem)
        finally:
            if worker is not None:
                self._end(worker)

    def _next(self) -> Member | None:
        with self.lock:
            return self.waiting.popleft() if self.waiting and not self.stopped else None

    def _started(self) -> Worker:
        worker = Worker(self.task)
        with self.lock:
            self.workers.add(worker)
            if self.stopped:
                worker.kill()
        return worker

    def _end(self, worker: Worker) -> None:
        with self.lock:
            self.workers.discard(worker)
        worker.close()

    def _tell(self, member: Member, death: str) -> None:
        """Put a member whose worker died back, or report that it is lost."""
        number = member[0]
        with self.lock:
            self.deaths[number] = self.deaths.get(number, 0) + 1
            lost = self.deaths[number] >= MOST_DEATHS
            if not lost:
                self.waiting.appendleft(member)
        if lost:
            text = f"its process {death}, twice: too little memory is one cause, build or measure may be another"
            self.found.put((number, {STATUS: ERROR, MESSAGE: text}))
