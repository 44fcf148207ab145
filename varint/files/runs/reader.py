"""Reads run files, also while they are written and after a kill; nothing in them is trusted.

Every link, type, shape and size is looked at before anything is read, so that no other file is opened and no more
memory is taken than the file has on the disk, and 100 MB for zeros that it has not; checksums then say whether the
numbers are those that were written.
"""

import ctypes
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np

from varint.base.checks import is_nested_deep
from varint.base.display import described, names_text
from varint.base.errors import FileError, MechanismError
from varint.files.own.mechanism_data import from_data
from varint.files.runs.contents import (
    AT_DIAGNOSTICS,
    FORMAT,
    LONGEST_MESSAGE,
    TEXTS,
    TURNS,
    Checkpoint,
    Progress,
    block_checksum,
    checksum_of,
    digest_of,
)
from varint.files.runs.settings import checked_settings
from varint.files.runs.space import bytes_of_holes, size_text
from varint.mechanism.mechanism import Mechanism
from varint.results.diagnostics import DIAGNOSTICS
from varint.results.record import Counts, HeldNodes, Nodes, Record

SUPERBLOCK = b"\x89HDF\r\n\x1a\n\x03"  # how the files begin
SWMR_WRITE = 4  # its flag of a file being written, or left so by a kill
END_OF_FILE = (8, 28)  # bytes and place of the length of the file
PATIENCE = 25  # looks at a file that a writer may be about to change, 0.02 s apart
READ_ATTEMPTS = 22  # the waits between them double, from 1 ns
MOST_HOLES = 10**8  # bytes of zeros that a file declares and does not take on the disk
HELD = 1 << 26  # bytes of nodes that are read at once; larger ones when asked for
PART = 1 << 24  # bytes, at least, in a part of the nodes
MOST_NAMES = 1000  # of arrays in a checkpoint
OF_CHECKPOINTS = {  # shape and type
    "progress": ((4 + len(Counts._fields),), "<i8"),
    "wall_time": ((), "<f8"),
    "message": ((), f"|S{LONGEST_MESSAGE}"),
    "checksum": ((), "<i8"),
    "state/recorded": ((1,), "<i8"),
}
KINDS = ("<f8", "<c16", "<i8", "<i4", "|i1", "|b1")  # of arrays


class RunHead:
    """The part of an open run file that does not change while it is written.

    path : Path
    file : h5py.File
    texts : dict of attribute to bytes
    description : bytes
        Of the mechanism, JSON.
    settings, layout, load
        As in `Record`.
    """

    def __init__(self, path: Path, file: h5py.File) -> None:
        self.path, self.file = path, file
        if self._text("format") != FORMAT.encode():
            raise FileError(f"'{path}' is not a run of varint, or was written by another version: expected '{FORMAT}'")
        self.texts = {name: self._text(name) for name in TEXTS}
        self.description = self._array("mechanism").item()
        self.load = self._array("steady_load") if "steady_load" in file else None
        if self._text("digest") != digest_of(self.texts, self.description, self.load).encode():
            raise ValueError("its settings, mechanism or loads are not those that were written")
        self.settings = checked_settings(_object(self.texts["settings"]))
        self.layout = _object(self.texts["layout"])

    @property
    def left_open(self) -> bool:
        """Return whether the file is being written or its writer was killed: one checkpoint may be half written."""
        return bool(self.file.id.get_intent() & h5py.h5f.ACC_SWMR_READ)

    @property
    def status(self) -> int:
        """Return the status in the newest checkpoint, whole or not, see `Record`."""
        (shape, kind), at = OF_CHECKPOINTS["progress"], "checkpoint/{}/progress"
        return int(max(tuple(self.dataset(at.format(turn), kind, shape)[()]) for turn in TURNS)[2])

    @property
    def size(self) -> int:
        """Return the bytes of the file, which a writer may extend."""
        return os.fstat(self.file.id.get_vfd_handle()).st_size

    @cached_property
    def mechanism(self) -> Mechanism:
        """Return the simulated mechanism."""
        try:
            return from_data(json.loads(self.description), f"'{self.path}'")
        except MechanismError as problem:
            raise ValueError(str(problem)) from None

    def _text(self, name: str) -> bytes:
        attribute = h5py.h5a.open(self.file.id, name.encode())
        kind, space = attribute.get_type(), attribute.get_space()
        if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str() or space.get_simple_extent_npoints() != 1:
            raise ValueError(f"attribute '{name}' is not a text")
        if attribute.get_storage_size() > self.size:
            raise ValueError(f"attribute '{name}' is longer than the file")
        return bytes(self.file.attrs[name])

    def _array(self, name: str) -> np.ndarray:
        dataset = self._linked(name)
        if dataset.dtype.str not in KINDS and dataset.dtype.kind != "S":
            raise ValueError(f"'{name}' holds neither numbers nor a text")
        self._check_size(name, dataset)
        if dataset.id.get_storage_size() < dataset.nbytes:
            raise ValueError(f"'{name}' is not wholly in the file")
        return np.asarray(dataset[()], dtype=dataset.dtype)

    def _linked(self, name: str) -> h5py.Dataset:
        """Return the dataset ``name``. Raises ValueError unless it lies in this file itself."""
        parent: Any = self.file
        for part in name.split("/"):
            if not isinstance(parent, h5py.Group) or not isinstance(parent.get(part, getlink=True), h5py.HardLink):
                raise ValueError(f"'{name}' is missing")
            parent = parent[part]
        if not isinstance(parent, h5py.Dataset) or parent.shape is None:
            raise ValueError(f"'{name}' is not an array")
        plist = parent.id.get_create_plist()
        if plist.get_layout() == h5py.h5d.VIRTUAL or plist.get_external_count() or plist.get_nfilters():
            raise ValueError(f"'{name}' is not stored as runs are")
        return parent

    def dataset(self, name: str, kind: str, shape: tuple) -> h5py.Dataset:
        """Return the dataset ``name`` of that type and shape (None: any length), wholly on the disk.

        Raises ValueError.
        """
        dataset = self._linked(name)
        fits = len(dataset.shape) == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(shape, dataset.shape, strict=True)
        )
        if dataset.dtype.str != kind or not fits:
            raise ValueError(f"'{name}' has type {dataset.dtype.str} and shape {dataset.shape}")
        self._check_size(name, dataset)
        return dataset

    def _check_size(self, name: str, dataset: h5py.Dataset) -> None:
        """Raise ValueError if the file is shorter than the dataset declares."""
        stored = dataset.id.get_storage_size()
        if stored > self.size:
            raise ValueError(f"'{name}' is not wholly in the file")
        if dataset.chunks and int(np.prod(dataset.chunks)) * dataset.dtype.itemsize > self.size:
            raise ValueError(f"'{name}' is longer than the file")


class RunReader(RunHead):
    """An open run file.

    checkpoint : Checkpoint
        The one that counts.
    nodes, diagnostics : Table
        None where there are no diagnostics.
    """

    def __init__(self, path: Path, file: h5py.File) -> None:
        super().__init__(path, file)
        self.checkpoint = self._newest()
        progress = self.checkpoint.progress
        self.nodes = NodeTable(self, "", _object(self.texts["nodes"]), progress.records)
        self.diagnostics: NodeTable | None = None
        if columns := _object(self.texts["diagnostics"]):
            self.diagnostics = NodeTable(self, AT_DIAGNOSTICS, columns, progress.diagnosed)
        recorded = self.diagnostics.shapes if self.diagnostics else {}
        asked = {"t": ((), "<f8")} | {name: (item, "<f8") for name, item in DIAGNOSTICS.items()}
        if recorded != (asked if self.settings.get("diagnostics_every") else {}):
            raise ValueError("its diagnostics are not those of its settings")

    def _newest(self) -> Checkpoint:
        """Return the checkpoint that counts."""
        if sum(self._linked(name).nbytes for turn in TURNS for name in self._names(turn)) > self.size:
            raise ValueError("its checkpoints are longer than the file")  # one array under several names
        for _ in range(PATIENCE if self.left_open else 1):
            checkpoints = [checkpoint for turn in TURNS if (checkpoint := self._checkpoint(turn))]
            if len(checkpoints) == len(TURNS) or (checkpoints and self.left_open):
                return max(checkpoints, key=lambda checkpoint: checkpoint.progress.turn)
            time.sleep(0.02)  # a writer changes one at a time
        raise ValueError("its checkpoints are not those that were written")

    def _names(self, turn: str) -> list[str]:
        """Return the names of the datasets of a checkpoint."""
        group = f"checkpoint/{turn}"
        self._linked(f"{group}/checksum")
        self._linked(f"{group}/state/recorded")
        names = [f"{group}/{name}" for name in self.file[group] if name != "state"]
        names += [f"{group}/state/{name}" for name in self.file[group]["state"]]
        if len(names) > MOST_NAMES:
            raise ValueError(f"a checkpoint of it has {len(names)} arrays")
        return names

    def _checkpoint(self, turn: str) -> Checkpoint | None:
        """Return a checkpoint; None if it is not whole."""
        group = f"checkpoint/{turn}"
        arrays = {name.removeprefix(f"{group}/"): self._array(name) for name in self._names(turn)}
        for name, (shape, kind) in OF_CHECKPOINTS.items():
            if arrays[name].shape != shape or arrays[name].dtype.str != kind:
                raise ValueError(f"'{group}/{name}' is not what was written")
        if arrays["checksum"] != checksum_of(arrays):
            return None
        turn_, records, status, *counts, diagnosed = (int(number) for number in arrays["progress"])
        return Checkpoint(
            Progress(turn_, records, status, Counts(*counts), diagnosed),
            float(arrays["wall_time"]),
            arrays["message"].item().decode(),
            {name.removeprefix("state/"): array for name, array in arrays.items() if name.startswith("state/")},
        )


KindOfReader = TypeVar("KindOfReader", bound=RunHead)


class NodeTable:
    """Arrays of a run file that have the same rows: its nodes, or its diagnostics.

    run : RunReader
    at : str
        Before the names of the datasets.
    shapes : dict of name to (shape of a row, type); ``stored`` names those that have a dataset
    records : int
        Rows that count.
    """

    def __init__(self, run: RunReader, at: str, columns: dict, records: int) -> None:
        self.run, self.at, self.records = run, at, records
        self.shapes = {str(name): _row_of(name, row) for name, row in columns.items()}
        self.stored = [name for name, (item, _) in self.shapes.items() if 0 not in item]
        self._sums = self._blocks()

    @property
    def width(self) -> int:
        """Return bytes of a row."""
        return sum(int(np.prod(item)) * np.dtype(kind).itemsize for item, kind in self.shapes.values())

    def time_of(self, records: int) -> float:
        """Time of the last of the first ``records`` rows, s."""
        block = int(np.searchsorted(self._sums[:, 0], records))
        begin = int(self._sums[block - 1, 0]) if block else 0
        return float(self.rows("t", block, block + 1)[records - 1 - begin])

    def rows(self, name: str, first: int = 0, last: int | None = None) -> np.ndarray:
        """Return the rows of the array ``name`` in the blocks from ``first`` to before ``last``.

        Raises ValueError unless their checksums are right.
        """
        last = len(self._sums) if last is None else last
        ends = self._sums[:, 0]
        begin, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
        item, kind = self.shapes[name]
        if name not in self.stored:
            return np.zeros((end - begin, *item), kind)
        array = self.run.dataset(self.at + name, kind, (None, *item))[begin:end]
        column = 1 + self.stored.index(name)
        start = begin
        for stop, wanted in self._sums[first:last, [0, column]]:
            if block_checksum(array[start - begin : stop - begin]) != wanted:
                raise ValueError(f"nodes {start} to {stop - 1} of '{self.at}{name}' are not those that were written")
            start = stop
        return array

    def parts(self, records: int) -> Iterator[HeldNodes]:
        """Yield the first ``records`` rows, some blocks at a time."""
        ends, first, begin = self._sums[:, 0], 0, 0
        while begin < records:
            last = 1 + min(int(np.searchsorted(ends, begin + max(1, PART // self.width))), len(ends) - 1)
            yield HeldNodes({name: self.rows(name, first, last)[: records - begin] for name in self.shapes})
            first, begin = last, int(ends[last - 1])

    def _blocks(self) -> np.ndarray:
        """Return the rows of the dataset ``blocks`` that count."""
        records = self.records
        blocks = self.run.dataset(f"{self.at}blocks", "<i8", (None, 1 + len(self.stored)))
        sums = blocks[: blocks.id.get_storage_size() // (8 * blocks.shape[1])]
        count = int(np.searchsorted(sums[:, 0], records)) + 1
        sums = sums[:count]
        if records < 1 or len(sums) < count or sums[-1, 0] != records or (np.diff(sums[:, 0], prepend=0) <= 0).any():
            raise ValueError("its blocks are not those that were written")
        for name in self.stored:
            item, kind = self.shapes[name]
            dataset = self.run.dataset(self.at + name, kind, (None, *item))
            row = int(np.prod(item)) * dataset.dtype.itemsize
            if len(dataset) < records or dataset.id.get_storage_size() < records * row:
                raise ValueError(f"nodes of '{self.at}{name}' are missing")
        return sums


class StoredNodes(Mapping[str, np.ndarray]):
    """The first rows of a table of a run file, read array by array when asked for.

    A run that goes on keeps them, but for a last state between two of its nodes. Raises FileError where the file is
    gone, holds another run, or does not have that state any more. Pickled and copied they are in memory.
    """

    def __init__(self, table: NodeTable) -> None:
        self._path, self._shapes, self._at = table.run.path.absolute(), table.shapes, table.at
        self._records, self._fingerprint = table.records, table.run.texts["fingerprint"]
        self._end = table.time_of(self._records)
        self._known: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._shapes:
            raise KeyError(name)
        if name not in self._known:
            with self._opened() as table:
                self._known[name] = table.rows(name)[: self._records]
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def __repr__(self) -> str:
        return described(self, [names_text(self)])

    def __reduce__(self) -> tuple:
        return HeldNodes, (dict(self),)

    def parts(self) -> Iterator[HeldNodes]:
        """Yield the same nodes in order, in parts that fit in memory."""
        with self._opened() as table:
            yield from table.parts(self._records)

    @contextmanager
    def _opened(self) -> Iterator[NodeTable]:
        with open_run(self._path) as run:
            table = run.diagnostics if self._at else run.nodes
            same = table is not None and run.texts["fingerprint"] == self._fingerprint
            if table is None or not same or table.records < self._records:
                raise FileError(f"'{self._path}' holds another run by now: its nodes cannot be read any more")
            if table.time_of(self._records) != self._end:
                raise FileError(
                    f"the run in '{self._path}' went on, and has no node at t = {self._end:g} s any more: load it again"
                )
            yield table


def read(path: str | Path) -> Record:
    """Read a run, finished or not, even one that is being written; many nodes only when they are asked for.

    Raises FileError if the file cannot be read, is damaged, or holds no run.
    """
    with open_run(path) as run:
        progress = run.checkpoint.progress
        nodes = _nodes(run.nodes)
        diagnostics = None if run.diagnostics is None else _nodes(run.diagnostics)
        _check_nodes(run)
        return Record(
            mechanism=run.mechanism,
            settings=run.settings,
            layout=run.layout,
            nodes=nodes,
            diagnostics=diagnostics,
            load=run.load,
            counts=progress.counts,
            status=progress.status,
            message=run.checkpoint.message,
            wall_time=run.checkpoint.wall_time,
            fingerprint=run.texts["fingerprint"].decode(),
            checkpoint=run.checkpoint.state,
        )


def _nodes(table: NodeTable) -> Nodes:
    """Return the nodes of a table, in memory if they are few."""
    if table.records * table.width > HELD:
        return StoredNodes(table)
    return HeldNodes({name: table.rows(name) for name in table.shapes})


def load_settings(path: str | Path) -> dict:
    """Return the settings of a run. Raises FileError like `read`."""
    with open_head(path) as run:
        return run.settings


def open_run(path: str | Path) -> AbstractContextManager[RunReader]:
    """Open a run file. Raises FileError, also if reading from it finds it damaged."""
    return _open(path, RunReader)


def open_head(path: str | Path) -> AbstractContextManager[RunHead]:
    """Open the part that does not change while a run is written, much faster. Raises FileError like `open_run`."""
    return _open(path, RunHead)


@contextmanager
def _open(path: str | Path, kind: type[KindOfReader]) -> Iterator[KindOfReader]:
    path = Path(path)
    try:
        if not path.is_file():
            raise FileError(f"cannot read '{path}': {'it is a folder' if path.is_dir() else 'no such file'}")
        with _opened(path) as file:
            yield kind(path, file)
    except FileError:
        raise
    except PermissionError as problem:
        raise FileError(f"cannot read '{path}': {problem.strerror}") from None
    except MemoryError:
        raise FileError(f"'{path}' is damaged or not a run of varint: it takes more memory than there is") from None
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as problem:
        raise FileError(f"'{path}' is damaged or not a run of varint: {problem}") from None


def _opened(path: Path) -> h5py.File:
    """Return the file open for reading, also while it is written.

    In the mode for that, HDF5 by default reads past the end of a file cut short, and tries again for
    ever where the file is damaged.
    """
    for _ in range(PATIENCE):
        with open(path, "rb") as file:
            head = file.read(48)
            size = file.seek(0, os.SEEK_END)
            holes = bytes_of_holes(file.fileno())
        if head[:9] != SUPERBLOCK or len(head) < 48:
            raise ValueError("not in its format")
        if holes > MOST_HOLES:
            raise ValueError(
                f"{size_text(holes)} of it are holes, zeros that the disk does not have; if it is a sparse copy of a"
                " run, copy it anew with 'cp --sparse=never'"
            )
        if not head[11] & SWMR_WRITE:
            return h5py.File(path, "r")
        length, place = END_OF_FILE
        if int.from_bytes(head[place : place + length], "little") <= size:
            break
        time.sleep(0.02)  # a writer may be about to extend it
    else:
        raise ValueError(f"it was cut short to {size} bytes")
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts  # h5py does not wrap it
    set_attempts.argtypes = (ctypes.c_int64, ctypes.c_uint)
    set_attempts(access.id, READ_ATTEMPTS)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, access))


def _object(text: bytes) -> dict:
    data = json.loads(text)
    if not isinstance(data, dict) or is_nested_deep(data):
        raise ValueError("a part of it is not a JSON object, or nested too deep")
    return data


def _row_of(name: str, row: Any) -> tuple[tuple[int, ...], str]:
    item, kind = row
    if kind not in KINDS or not all(type(width) is int and 0 <= width < 2**31 for width in item):
        raise ValueError(f"nodes of '{name}' have no type or shape of numbers")
    return tuple(item), kind


def _check_nodes(run: RunReader) -> None:
    """Check that the arrays belong to the mechanism."""
    nb, nf = len(run.mechanism.bodies), len(run.mechanism.forces)
    states = int(np.count_nonzero(run.mechanism.compiled.plan.laws.state >= 0))
    wanted = {"t": (), "position": (nb, 3), "quat_wxyz": (nb, 4), "velocity": (nb, 3), "angular_velocity": (nb, 3)}
    wanted |= {"work": (nf,), "command": (nf,), "law_state": (states,)}
    if run.load is None:
        wanted["load"] = (nb, 6)
    elif run.load.shape != (1, nb, 6) or run.load.dtype.kind != "f" or not np.isfinite(run.load).all():
        raise ValueError("its loads are not those of its mechanism")
    unresolved = run.checkpoint.state.get("ending", np.array([-1]))
    if unresolved.shape != (1,) or unresolved.dtype.kind != "i":
        raise ValueError("'ending' of its checkpoint is no number of a body")
    if "scheme" in run.settings:
        shape = run.nodes.shapes.get("unresolved_body")
        bodies = run.nodes.rows("unresolved_body") if shape == ((), "<i8") else np.full(1, nb)
        unresolved = np.append(unresolved, bodies)
    if unresolved.min() < -1 or unresolved.max() >= nb:
        raise ValueError("'unresolved_body' does not belong to its mechanism")
    for name, item in wanted.items():
        if run.nodes.shapes.get(name) != (item, "<f8"):
            raise ValueError(f"'{name}' does not belong to its mechanism")
