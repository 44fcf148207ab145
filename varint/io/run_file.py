"""Runs in HDF5, written as they go and readable at any moment, even after a kill. One format for both formulations.

    /            attributes: format, settings, layout and nodes (JSON), fingerprint of run and inputs
    /mechanism   JSON
    /load        external loads, one row a recorded node, or one row where constant
    /t, /position, /quat_wxyz, /velocity, ...       as the attribute ``nodes`` lists them, one row a recorded node
    /checkpoint/0, /1                               where to go on from, in turns
    /progress    records, checkpoint in use, status (-1: unfinished), then the counts of `Counts`
    /wall_time, /message

The file is in HDF5's single-writer mode, which orders what reaches the disk; ``/progress`` is
written last and says how much of the rest counts. A checkpoint says how many records came before it (``recorded``):
a run goes on behind those.
"""

import ctypes
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from varint.errors import FileError
from varint.io.mechanism_data import from_data, to_data
from varint.io.record import Counts, Record
from varint.mechanism import Mechanism

FORMAT = "varint run 5"
UNFINISHED = -1
RECORDS, TURN, STATUS, COUNTS = 0, 1, 2, 3  # places in /progress
MAY_GROW = ("duration", "steps")  # settings that may differ when a run goes on
LIBRARY = "v110"  # of HDF5, the first with a mode for one writer and many readers; fixes the format of files
SUPERBLOCK = b"\x89HDF\r\n\x1a\n\x03"  # how they begin
SWMR_WRITE = 4  # its flag of a file being written, or left so by a kill
PATIENCE = 25  # looks at the length of a file, 0.02 s apart
READ_ATTEMPTS = 22  # the waits between them double, from 1 ns
NOT_FINISHED = "the run was not finished"


@dataclass(frozen=True, eq=False)
class Saved:
    """What is needed to go on with a run: its record up to the checkpoint, and the time of its last node, s."""

    record: Record
    checkpoint: dict
    reached: float
    fingerprint: str


class RunWriter:
    """Writes one run.

    Parameters
    ----------
    path
        Replaced if it exists.
    mechanism, settings, layout
        As in `Record`.
    mark : str
        From `fingerprint`.
    load : (T or 1, nb, 6)
        At the nodes that will be recorded, or one for all; None where ``nodes`` hold it.
    nodes : dict of name to (records, ...)
        Those of the start.
    checkpoint : dict
        Of the start; fixes names and shapes.

    Raises
    ------
    FileError
        The file cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        mechanism: Mechanism,
        settings: dict,
        layout: dict,
        mark: str,
        load: np.ndarray | None,
        nodes: Mapping[str, np.ndarray],
        checkpoint: Mapping[str, np.ndarray],
    ) -> None:
        self.path = Path(path)
        rows = max(1, 2**16 // (8 * 4 * len(mechanism.bodies)))
        shapes = {name: [array.shape[1:], array.dtype.str] for name, array in nodes.items()}
        with _reporting(f"cannot write '{self.path}'"):
            texts = {"settings": settings, "layout": layout, "nodes": shapes}
            attributes = {"format": FORMAT, "fingerprint": mark} | {key: json.dumps(texts[key]) for key in texts}
            self.file = h5py.File(self.path, "w", libver=LIBRARY)
            for name, text in attributes.items():
                self.file.attrs[name] = np.bytes_(text)  # of fixed length: others lie in a heap without checksum
            self.file.create_dataset("mechanism", data=np.bytes_(json.dumps(to_data(mechanism))))
            if load is not None:
                self.file.create_dataset("load", data=load, compression="gzip")  # most bodies have none
            for name in _stored(self.file):
                item, kind = shapes[name]
                self.file.create_dataset(name, (0, *item), chunks=(rows, *item), maxshape=(None, *item), dtype=kind)
            for turn in "01":
                for name, array in checkpoint.items():
                    self.file.create_dataset(f"checkpoint/{turn}/{name}", data=array)
            self.file["progress"] = np.array([0, 0, UNFINISHED, *Counts()])
            self.file["wall_time"] = 0.0
            self.file.create_dataset("message", data=np.bytes_(NOT_FINISHED), dtype="S1000")
            self.file.swmr_mode = True

    @classmethod
    def reopen(cls, path: str | Path, settings: dict) -> "RunWriter":
        """Go on writing a run, with its new ``settings``; what counts of it is copied to a clean file first."""
        writer = cls.__new__(cls)
        writer.path = Path(path)
        fresh = writer.path.with_name(writer.path.name + ".resume")
        with _reporting(f"cannot go on with '{path}'"), _reader(path) as old:
            writer.file = h5py.File(fresh, "w", libver=LIBRARY)
            for name in old:
                old.copy(name, writer.file)
            writer.file.attrs.update(old.attrs)
            writer.file.attrs["settings"] = np.bytes_(json.dumps(settings))
            records = int(old[f"checkpoint/{int(old['progress'][TURN])}/recorded"][0])
            for name in _stored(old):
                writer.file[name].resize(records, axis=0)
            writer.file["progress"][RECORDS] = records
            writer.file["progress"][STATUS] = UNFINISHED
            writer.file["message"][()] = np.bytes_(NOT_FINISHED)
            writer.file.swmr_mode = True  # before the old file goes: from here on a kill leaves a readable file
            os.replace(fresh, writer.path)
        return writer

    def append(self, nodes: dict, checkpoint: dict | None, counts: Counts, wall_time: float) -> None:
        """Add recorded ``nodes`` and move the checkpoint behind them; None keeps the one before."""
        file = self.file
        records, turn = (int(number) for number in file["progress"][: TURN + 1])
        count = len(nodes["t"])
        with _reporting(f"cannot write '{self.path}'"):
            for name in _stored(file):
                file[name].resize(records + count, axis=0)
                file[name][records:] = nodes[name]
            if checkpoint is not None:
                turn = 1 - turn
                for name, array in checkpoint.items():
                    file[f"checkpoint/{turn}/{name}"][...] = array
            file["wall_time"][()] = wall_time
            file.flush()
            file["progress"][...] = [records + count, turn, UNFINISHED, *counts]
            file.flush()

    def finish(self, status: int, message: str) -> None:
        """Mark the run as ended, 0 for success."""
        with _reporting(f"cannot write '{self.path}'"):
            self.file["message"][()] = np.bytes_(message.encode())
            self.file.flush()
            self.file["progress"][STATUS] = status
            self.file.flush()

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def fingerprint(mechanism: Mechanism, settings: dict, inputs: Iterable[np.ndarray]) -> str:
    """Same run, same fingerprint. The duration may grow when a run goes on, so it does not count."""
    kept = {key: value for key, value in settings.items() if key not in MAY_GROW}
    digest = hashlib.sha256(json.dumps([to_data(mechanism), kept]).encode())
    for array in inputs:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def read(path: str | Path) -> Record:
    """Read a run, finished or not, even one that is being written.

    Raises FileError if the file cannot be read, is damaged, or holds no run.
    """
    with _open(path) as file:
        return _record(file, path, int(file["progress"][RECORDS]))


def load_settings(path: str | Path) -> dict:
    """Arguments of a run. Raises FileError like `read`."""
    with _open(path) as file:
        return json.loads(file.attrs["settings"])


def load_saved(path: str | Path) -> Saved:
    """What is needed to go on with a run. Raises FileError like `read`."""
    with _open(path) as file:
        records, turn = (int(number) for number in file["progress"][: TURN + 1])
        group = file[f"checkpoint/{turn}"]
        checkpoint = {name: group[name][...] for name in group}
        record = _record(file, path, int(checkpoint["recorded"][0]))
        mark = file.attrs["fingerprint"].decode()
        return Saved(record, checkpoint, float(file["t"][records - 1]), mark)


def _record(file: h5py.File, path: str | Path, records: int) -> Record:
    mechanism = from_data(json.loads(file["mechanism"][()]), f"'{path}'")
    nodes = {}
    for name, (item, kind) in json.loads(file.attrs["nodes"]).items():
        nodes[name] = file[name][:records] if 0 not in item else np.zeros((records, *item), kind)
    if records < 1 or any(len(array) != records for array in nodes.values()) or "checkpoint" not in file:
        raise ValueError("a part of it is missing")
    if not np.allclose(np.linalg.norm(nodes["quat_wxyz"], axis=-1), 1.0, rtol=0.0, atol=1e-6):
        raise ValueError("some nodes were lost")  # what was never written reads as zeros
    load = nodes.pop("load") if "load" in nodes else file["load"][:records]
    progress = [int(number) for number in file["progress"]]
    return Record(
        mechanism=mechanism,
        settings=json.loads(file.attrs["settings"]),
        layout=json.loads(file.attrs["layout"]),
        nodes=nodes,
        load=load,
        counts=Counts(*progress[COUNTS:]),
        status=progress[STATUS],
        message=file["message"][()].decode(),
        wall_time=float(file["wall_time"][()]),
    )


def _stored(file: h5py.File) -> list[str]:
    """Names of the datasets with one row a node: HDF5 has none without columns."""
    return [name for name, (item, _) in json.loads(file.attrs["nodes"]).items() if 0 not in item]


@contextmanager
def _open(path: str | Path) -> Iterator[h5py.File]:
    if not Path(path).is_file():
        raise FileError(f"cannot read '{path}': no such file")
    with _reporting(f"'{path}' is damaged or no run of varint"), _reader(path) as file:
        if file.attrs.get("format") != FORMAT.encode():
            raise FileError(f"'{path}' is no run of varint, or of another version of it: expected '{FORMAT}'")
        yield file


def _reader(path: str | Path) -> h5py.File:
    """The file open for reading, also while it is written.

    In the mode for that, HDF5 by default reads past the end of a file cut short, and tries again for
    ever where the file is damaged.
    """
    for _ in range(PATIENCE):
        with open(path, "rb") as file:
            head = file.read(48)
            size = file.seek(0, os.SEEK_END)
        if head[:9] != SUPERBLOCK or len(head) < 48:
            raise ValueError("not in its format")
        if not head[11] & SWMR_WRITE:
            return h5py.File(path, "r")
        if int.from_bytes(head[28:36], "little") <= size:
            break
        time.sleep(0.02)  # a writer may be about to extend it
    else:
        raise ValueError(f"it was cut short to {size} bytes")
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts  # h5py does not wrap it
    set_attempts.argtypes = (ctypes.c_int64, ctypes.c_uint)
    set_attempts(access.id, READ_ATTEMPTS)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, access))


@contextmanager
def _reporting(what: str) -> Iterator[None]:
    try:
        yield
    except FileError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as problem:
        raise FileError(f"{what}: {problem}") from None
