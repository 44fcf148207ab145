"""Writes run files as the run goes, so that they are whole at any moment: killed, interrupted or out of space.

HDF5 ends the process where a write of its own fails. So all that it will need is reserved on the disk before each
block, where a lack of space is an error like any other, and a file whose disk fails after all is taken away from it.
"""

import errno
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import IO, NamedTuple

import h5py
import numpy as np

from varint.base.errors import FileError, VarintError
from varint.files.own.mechanism_data import to_data
from varint.files.runs.contents import (
    AT_DIAGNOSTICS,
    FORMAT,
    NOT_FINISHED,
    NOT_RESUMABLE,
    TURNS,
    UNFINISHED,
    Checkpoint,
    Progress,
    block_checksum,
    digest_of,
    is_resumable,
    rows_in_chunk,
)
from varint.files.runs.image import LIBRARY, Stored, image_of
from varint.files.runs.lock import is_at
from varint.files.runs.reader import END_OF_FILE, open_run
from varint.mechanism.mechanism import Mechanism
from varint.results.record import Counts, HeldNodes

MARGIN = 1 << 20  # bytes of HDF5's own tables that a block may add
ROWS_OF_BLOCKS = 128  # in a chunk
OF_A_FRESH = re.compile(r"\.[0-9a-f]{8}\.new")  # end of the name of a file that takes the place of another
FAILED_WRITES = (OSError, RuntimeError, ValueError)  # h5py raises all three where one fails


class Content(NamedTuple):
    """Contents of a new file of a run, but for its checkpoint.

    mechanism, settings, layout
        As in `Record`.
    mark : str
        From `fingerprint`.
    load : (1, nb, 6)
        Where it is constant; None where ``nodes`` hold it.
    nodes : dict of name to (T, ...)
        The first ones, or all.
    diagnostics : dict of name to (D, ...)
        Those of the same steps; empty if there is nothing.
    """

    mechanism: Mechanism
    settings: dict
    layout: dict
    mark: str
    load: np.ndarray | None
    nodes: Mapping[str, np.ndarray]
    diagnostics: Mapping[str, np.ndarray]

    def progress(self, status: int, counts: Counts) -> Progress:
        """Return the progress of a file that holds this content alone."""
        return Progress(0, len(self.nodes["t"]), status, counts, len(self.diagnostics.get("t", ())))


class GrowingTable:
    """The datasets of a table of a file, below ``at``; attribute ``columns`` of the file lists them."""

    def __init__(self, file: h5py.File, at: str, columns: str) -> None:
        names = [name for name, (item, _) in json.loads(file.attrs[columns]).items() if 0 not in item]
        self.datasets = {name: file[at + name] for name in names}
        self.blocks = file[f"{at}blocks"]

    def extend(self, rows: Mapping[str, np.ndarray]) -> None:
        """Add a block of rows."""
        before = len(self.datasets["t"])
        records = before + len(rows["t"])
        for name, dataset in self.datasets.items():
            dataset.resize(records, axis=0)
            dataset[before:] = rows[name]
        self.blocks.resize(len(self.blocks) + 1, axis=0)
        self.blocks[-1] = [records, *(block_checksum(rows[name]) for name in self.datasets)]

    def growth(self, count: int) -> int:
        """Return bytes that ``count`` more rows take."""
        grown = 0
        for dataset in self.datasets.values():
            rows, records = dataset.chunks[0], len(dataset)
            chunks = -(-(records + count) // rows) - -(-records // rows)
            grown += chunks * int(np.prod(dataset.chunks)) * dataset.dtype.itemsize
        return grown


class RunWriter:
    """Writes one run, to a file that nobody else writes, see `varint.files.runs.lock.locked`.

    Made by `create` or `reopen`. Every method raises FileError where the file cannot be written; what it held before
    stays in it.
    """

    def __init__(self, path: Path, fresh: Path, last: Checkpoint) -> None:
        """Open ``fresh``, a whole run file whose last checkpoint is ``last``, which `_put` moves to ``path``."""
        self.path, self.at, self.last = path, fresh, last
        self.handle = os.open(fresh, os.O_RDWR | os.O_CLOEXEC)
        os.fsync(self.handle)
        self.file = h5py.File(fresh, "r+", libver=LIBRARY)
        # held open: HDF5 may write what is left of a dataset when its handle goes, where no error can be raised
        self.nodes = GrowingTable(self.file, "", "nodes")
        self.diagnostics = GrowingTable(self.file, AT_DIAGNOSTICS, "diagnostics") if last.progress.diagnosed else None
        self.checkpoints = [{name: self.file[f"checkpoint/{turn}/{name}"] for name in last.arrays()} for turn in TURNS]
        self.file.swmr_mode = True
        self.reserved = self.file.id.get_filesize()
        self.time = float(self.nodes.datasets["t"][last.progress.records - 1])

    @classmethod
    def create(cls, path: Path, content: Content, state: Mapping[str, np.ndarray]) -> "RunWriter":
        """Create a file at ``path``, in place of an older one; ``state``, to resume from, fixes names and shapes."""
        message = NOT_FINISHED if is_resumable(content.settings) else NOT_RESUMABLE
        first = Checkpoint(content.progress(UNFINISHED, Counts()), 0.0, message, state)
        with _fresh(path) as fresh:
            _write_first(path, fresh, content, first)
            writer = cls(path, fresh, first)
            try:
                writer._put()
            except BaseException:
                writer.close()
                raise
            return writer

    @classmethod
    def reopen(cls, path: Path, settings: dict) -> "RunWriter":
        """Go on writing the run at ``path`` with new ``settings``; its counted part is copied to a fresh file."""
        with _fresh(path) as fresh, open_run(path) as old:
            checkpoint, mark = old.checkpoint, old.texts["fingerprint"].decode()
            recorded = int(checkpoint.state["recorded"][0])
            diagnosed = int(checkpoint.state["diagnosed"][0]) if old.diagnostics else 0
            parts = old.nodes.parts(recorded)
            finer = old.diagnostics.parts(diagnosed) if old.diagnostics else iter(())
            rows = next(parts), next(finer, HeldNodes())
            content = Content(old.mechanism, settings, old.layout, mark, old.load, *rows)
            counts = content.progress(UNFINISHED, checkpoint.progress.counts)
            first = Checkpoint(counts, checkpoint.wall_time, NOT_FINISHED, checkpoint.state)
            _write_first(path, fresh, content, first)
            writer = cls(path, fresh, first)
            writer.time = old.nodes.time_of(recorded)
            try:
                for pair in zip_longest(parts, finer, fillvalue=HeldNodes()):
                    writer.append(pair[0], checkpoint.state, checkpoint.progress.counts, checkpoint.wall_time, pair[1])
                writer._put()
            except BaseException:
                writer.close()
                raise
            return writer

    def append(
        self,
        nodes: Mapping[str, np.ndarray],
        state: Mapping[str, np.ndarray] | None,
        counts: Counts,
        wall_time: float,
        diagnostics: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Add recorded ``nodes`` and ``diagnostics``, and the ``state`` behind them; None keeps the one before.

        Either may be empty.
        """
        progress, count = self.last.progress, len(nodes.get("t", ()))
        finer = len(diagnostics.get("t", ())) if diagnostics else 0
        state = self.last.state if state is None else state
        with self._writing(count, finer):
            if count:
                self.nodes.extend(nodes)
            if self.diagnostics and diagnostics and finer:
                self.diagnostics.extend(diagnostics)
            if count or finer:
                self.file.flush()
                os.fsync(self.handle)
            following = Progress(
                progress.turn + 1, progress.records + count, UNFINISHED, counts, progress.diagnosed + finer
            )
            self._commit(Checkpoint(following, wall_time, self.last.message, state))
        if count and self.at == self.path:
            self.time = float(nodes["t"][-1])

    def finish(self, status: int, message: str) -> None:
        """Mark the run as ended, 0 for success."""
        progress = self.last.progress
        with self._writing(0, 0):
            following = progress._replace(turn=progress.turn + 1, status=status)
            self._commit(Checkpoint(following, self.last.wall_time, message, self.last.state))

    def close(self) -> None:
        """Close the file, and return reserved space to the disk."""
        try:
            self.file.close()
            os.ftruncate(self.handle, self._end())
            os.fsync(self.handle)
        except FAILED_WRITES as problem:
            self._abandon()
            raise self._lack(problem) from None
        finally:
            os.close(self.handle)

    def _put(self) -> None:
        """Move the file to its place; from here on a kill leaves a readable one there."""
        os.fsync(self.handle)
        _move(self.at, self.path)
        self.at = self.path

    def _commit(self, checkpoint: Checkpoint) -> None:
        datasets = self.checkpoints[checkpoint.progress.turn % 2]
        for name, array in checkpoint.arrays().items():
            datasets[name][...] = array
        self.file.flush()
        self.last = checkpoint

    @contextmanager
    def _writing(self, count: int, finer: int) -> Iterator[None]:
        """Reserve space for ``count`` more nodes and ``finer`` diagnostics; errors name the file and the free space."""
        try:
            if not is_at(self.handle, self.at):
                raise FileError(
                    f"'{self.path}' was deleted or replaced while the run wrote it, so that nothing more can be stored"
                    " there: run again, with another output"
                )
            grown = MARGIN if count or finer else 0
            grown += self.nodes.growth(count) + (self.diagnostics.growth(finer) if self.diagnostics else 0)
            _reserve(self.handle, self.reserved, self.file.id.get_filesize() + grown)
        except OSError as problem:
            raise problem if isinstance(problem, FileError) else self._lack(problem) from None
        try:
            yield
            self.reserved = self.file.id.get_filesize()
        except FAILED_WRITES as problem:
            self._abandon()
            raise self._lack(problem) from None
        except BaseException:  # an interrupt, say: the checkpoint may be half written, as after a kill
            self._abandon()
            raise

    def _lack(self, problem: Exception) -> FileError:
        why = _reason(problem)
        free = shutil.disk_usage(self.path.parent).free
        return FileError(
            f"cannot write '{self.path}': {why}; {free / 1e6:.3g} MB are free there. It holds the run up to"
            f" t = {self.time:g} s: make room, then"
            f" {'go on with resume=True' if self.last.message == NOT_FINISHED else 'run again with overwrite=True'}"
        )

    def _abandon(self) -> None:
        """Let HDF5 write the rest to nowhere, and leave the file as it is on the disk."""
        if self.file:
            with _nowhere() as nowhere:
                os.dup2(nowhere.fileno(), self.file.id.get_vfd_handle())
            with suppress(*FAILED_WRITES):  # there is nothing left to do for it
                self.file.close()
            if os.fstat(self.handle).st_size < self._end():
                os.ftruncate(self.handle, self._end())  # takes no space; readers expect that length

    def _end(self) -> int:
        """Return the length of the file as HDF5 has noted it there, bytes."""
        return int.from_bytes(os.pread(self.handle, *END_OF_FILE), "little")


def write_at_once(path: Path, content: Content, last: Checkpoint) -> None:
    """Write a file of a run that has come to ``last``, with all its nodes, in place of one at ``path``."""
    with _fresh(path) as fresh:
        _write_first(path, fresh, content, last, True)
        with open(fresh, "rb") as file:
            os.fsync(file.fileno())
        _move(fresh, path)


def _move(fresh: Path, path: Path) -> None:
    """Put a file in the place of another, with its mode."""
    if path.exists():
        shutil.copymode(path, fresh)
    os.replace(fresh, path)


@contextmanager
def _fresh(path: Path) -> Iterator[Path]:
    """Yield a path beside ``path`` for its replacement, and remove files of killed processes. Errors name ``path``."""
    name_of_run = path.name
    fresh = path.with_name(f"{name_of_run}.{secrets.token_hex(4)}.new")
    try:
        for name in os.listdir(path.parent):
            if name.startswith(name_of_run) and OF_A_FRESH.fullmatch(name, len(name_of_run)):
                path.with_name(name).unlink(missing_ok=True)
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        yield fresh
    except VarintError:
        raise
    except FAILED_WRITES as problem:
        raise FileError(f"cannot write '{path}': {_reason(problem)}") from None
    finally:
        with suppress(OSError):  # a name that is too long, which was told
            fresh.unlink(missing_ok=True)


def _nowhere() -> IO[bytes]:
    """Return a file that is removed when closed, in memory if possible."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("varint"), "w+b")
    return tempfile.TemporaryFile()


def _reason(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or (str(problem) or type(problem).__name__).splitlines()[0]


def _reserve(handle: int, begin: int, end: int) -> None:
    """Make sure that the bytes of a file from ``begin`` to ``end`` have their place on the disk; raises OSError."""
    begin = min(begin, os.fstat(handle).st_size)
    if end <= begin:
        return
    try:
        _allocate(handle, begin, end)
    except OSError:
        os.ftruncate(handle, begin)
        raise


def _allocate(handle: int, begin: int, end: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            return os.posix_fallocate(handle, begin, end - begin)
        except OSError as problem:
            if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):  # not known there
                raise
    for at in range(os.fstat(handle).st_size, end, MARGIN):
        os.pwrite(handle, bytes(min(MARGIN, end - at)), at)


def _write_first(path: Path, fresh: Path, content: Content, first: Checkpoint, ended: bool = False) -> None:
    """Write a run file with ``content`` and the checkpoint ``first`` to ``fresh``; errors name ``path``.

    Where nobody goes on writing to the file, as the run has ``ended``, both checkpoints are one, by two names.
    """
    mechanism, settings, layout, mark, load, nodes, diagnostics = content
    objects = {"settings": settings, "layout": layout, "nodes": _columns(nodes), "diagnostics": _columns(diagnostics)}
    texts = {"format": FORMAT.encode(), "fingerprint": mark.encode()}
    texts |= {name: json.dumps(value).encode() for name, value in objects.items()}
    description = json.dumps(to_data(mechanism)).encode()
    texts["digest"] = digest_of(texts, description, load).encode()
    stored = {} if load is None else {"steady_load": Stored(load)}
    stored |= _table("", nodes, len(mechanism.bodies))
    if diagnostics:
        stored |= _table(AT_DIAGNOSTICS, diagnostics, 1)
    arrays, (one, other) = first.arrays(), (f"checkpoint/{turn}" for turn in TURNS)
    for at in [one] if ended else [one, other]:
        stored |= {f"{at}/{name}": Stored(array) for name, array in arrays.items()}
    image = image_of(texts, {"mechanism": description}, stored, {other: one} if ended else {})
    try:
        fresh.write_bytes(image)  # where a lack of space is an error, not the end of the process
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {_reason(problem)}") from None


def _columns(rows: Mapping[str, np.ndarray]) -> dict[str, list]:
    """Return shapes of a row and types, by name."""
    return {name: [array.shape[1:], array.dtype.str] for name, array in rows.items()}


def _table(at: str, rows: Mapping[str, np.ndarray], bodies: int) -> dict[str, Stored]:
    """Return the arrays of a table below ``at``, with its first ``rows``; ``bodies`` as in `rows_in_chunk`."""
    filled = {name: array for name, array in rows.items() if array[0].size}  # HDF5 has no dataset without columns
    sums = [len(rows["t"]), *map(block_checksum, filled.values())]
    stored = {at + name: Stored(array, rows_in_chunk(bodies, array[0].nbytes)) for name, array in filled.items()}
    return stored | {f"{at}blocks": Stored(np.array([sums], dtype=np.int64), ROWS_OF_BLOCKS)}
