"""Members on a Dask cluster, by the address of its scheduler."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cloudpickle

from varint.base.distribution import install_command
from varint.base.errors import ArgumentError
from varint.studies.ensembles.figures import ERROR, MESSAGE, STATUS, error_row
from varint.studies.ensembles.processes import Member, Row
from varint.studies.ensembles.source import opened
from varint.studies.ensembles.work import MemberTask, run_member

PATIENCE = 30  # s, for the scheduler and for the first worker


def rows(scheduler: str, task: bytes, members: Sequence[Member]) -> Iterator[tuple[int, Row]]:
    """Number and row of each member, as they end, by the workers of the cluster.

    ``task``: a pickled `MemberTask`. A member whose worker dies is tried on others, as often as the cluster allows, and
    in the end once more, with no other beside it. Raises ArgumentError where the package is missing, or no worker
    answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ArgumentError(f"scheduler= needs the package distributed: {install_command('dask')}") from None
    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        why = problem or type(problem).__name__
        raise ArgumentError(f"no Dask scheduler answers at {scheduler!r}: {why}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise ArgumentError(f"the Dask cluster at {scheduler!r} has no workers: start some") from None
        beside_a_death = []
        for number, row in _rows(client, task, members):
            if row is None:
                beside_a_death.append(number)
            else:
                yield number, row
        parameters_of = dict(members)
        for number in beside_a_death:
            for _, row in _rows(client, task, [(number, parameters_of[number])]):
                yield number, row or {STATUS: ERROR, MESSAGE: "the workers of the cluster that had it died, each one"}


def _rows(client: Any, task: bytes, members: Sequence[Member]) -> Iterator[tuple[int, Row | None]]:
    """Number and row of each member; None where too many workers died that had it, by its fault or by another's."""
    from distributed import as_completed

    numbers, parameters = zip(*members, strict=True)
    futures = client.map(_row, [task] * len(members), numbers, parameters, pure=False)
    left = dict(zip(futures, numbers, strict=True))
    del futures  # each is let go when it has answered, so that the cluster keeps no row
    try:
        for future in as_completed(left, loop=client.loop):
            yield left.pop(future), _answer(future)
    finally:
        client.cancel(list(left))


def _answer(future: Any) -> Row | None:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker:
        return None
    except Exception as problem:  # of a worker that cannot read the task, say
        return error_row(problem)


def _row(task: bytes, number: int, parameters: Mapping[str, Any]) -> Row:
    """Return the row of a member, computed in a worker of the cluster."""
    known = _loaded(task)
    with opened(known.source) as build:
        return run_member(known, build, number, parameters)


@lru_cache(maxsize=4)
def _loaded(task: bytes) -> MemberTask:
    return cloudpickle.loads(task)
