"""Members on a Dask cluster, by the address of its scheduler."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cloudpickle

from varint.ensembles.figures import ERROR, MESSAGE, STATUS
from varint.ensembles.processes import Member, Row
from varint.ensembles.source import opened
from varint.ensembles.work import Task, run_member
from varint.errors import ArgumentError

PATIENCE = 30  # s, for the scheduler and for the first worker


def rows(scheduler: str, task: bytes, members: Sequence[Member]) -> Iterator[tuple[int, Row]]:
    """Number and row of each member, as they end, by the workers of the cluster.

    ``task``: a pickled `Task`. A member whose worker dies is tried on others, as often as the cluster allows. Raises
    ArgumentError where the package is missing, or no worker answers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ArgumentError("scheduler= needs the package distributed: pip install varint[dask]") from None
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise ArgumentError(
            f"no Dask scheduler answers at {scheduler!r}: {problem or type(problem).__name__}"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ArgumentError(f"the Dask cluster at {scheduler!r} has no workers: start some") from None
        numbers, parameters = zip(*members, strict=True)
        futures = client.map(_row, [task] * len(members), numbers, parameters, pure=False)
        number_of = {future.key: number for future, number in zip(futures, numbers, strict=True)}
        try:
            for future in as_completed(futures):
                yield number_of[future.key], _answer(future)
                future.release()
        finally:
            client.cancel(futures)


def _answer(future: Any) -> Row:
    problem = future.exception() if future.status != "finished" else None
    if problem is None:
        return future.result()
    return {STATUS: ERROR, MESSAGE: " ".join(f"on the cluster: {type(problem).__name__}: {problem}".split())}


def _row(task: bytes, number: int, parameters: Mapping[str, Any]) -> Row:
    """In a worker of the cluster."""
    known = _loaded(task)
    with opened(known.source) as build:
        return run_member(known, build, number, parameters)


@lru_cache(maxsize=4)
def _loaded(task: bytes) -> Task:
    return cloudpickle.loads(task)
