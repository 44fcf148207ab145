"""Members in threads of this process. To start a worker process takes as long as some hundred short members."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from varint.studies.ensembles.figures import error_row
from varint.studies.ensembles.processes import Member, Row
from varint.studies.ensembles.source import Builder, opened
from varint.studies.ensembles.work import MemberTask, run_member

THREADS = "threads"  # in place of a number of workers


def in_threads(workers: object) -> bool:
    """Return whether the argument ``workers`` of an ensemble asks for threads."""
    return isinstance(workers, str) and workers == THREADS


class Threads:
    """Runs members in a number of threads; their steps run side by side, and ``build`` is called by one at a time."""

    def __init__(self, count: int) -> None:
        self.count = count

    def rows(self, task: MemberTask, members: Sequence[Member]) -> Iterator[tuple[int, Row]]:
        """Number and row of each member, as they end. Where the caller stops, the present members end first."""
        waiting, ended = deque(members), queue.SimpleQueue[tuple[int, Row]]()

        def work(build: Callable) -> None:
            while True:
                try:
                    number, parameters = waiting.popleft()
                except IndexError:
                    return
                try:
                    row = run_member(task, build, number, parameters)
                except BaseException as problem:  # as SystemExit, which would end a worker process
                    row = error_row(problem)
                ended.put((number, row))

        with opened(task.source) as function:
            build = _one_at_a_time(Builder(function))
            threads = [threading.Thread(target=work, args=(build,)) for _ in range(min(self.count, len(members)))]
            for thread in threads:
                thread.start()
            try:
                for _ in range(len(members)):
                    yield ended.get()
            finally:
                waiting.clear()
                for thread in threads:
                    thread.join()


def _one_at_a_time(function: Callable) -> Callable:
    lock = threading.Lock()

    def called(**arguments: Any) -> Any:
        with lock:
            return function(**arguments)

    return called
