"""Runs in HDF5, written as they go and readable at any moment, even after a kill.

    /            attributes: format, settings (JSON), fingerprint of run and inputs
    /mechanism   JSON
    /load        external loads of the whole run, one row a recorded node, or one row if constant
    /work, /command   of the forces, one row a recorded node
    /t, /position, /quat_wxyz, /velocity, /angular_velocity      one row a recorded node
    /checkpoint/0, /1                                            where to go on from, in turns
    /progress    records, Newton iterations, sub-steps, checkpoint in use, status (-1: unfinished), steps done
    /wall_time, /message

The file is in HDF5's single-writer mode, which orders what reaches the disk; ``/progress`` is
written last and says how much of the rest counts.
"""

import ctypes
import hashlib
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from varint.analysis.trajectory import Trajectory
from varint.errors import FileError
from varint.integrators.march import Block
from varint.io.mechanism_file import from_data, to_data
from varint.mechanism import Mechanism

FORMAT = "varint run 3"
NODES = {"t": (), "position": (3,), "quat_wxyz": (4,), "velocity": (3,), "angular_velocity": (3,)}
FORCES = ("work", "command")  # one column a force, where there are any
UNFINISHED = -1
LIBRARY = "v110"  # of HDF5, the first with a mode for one writer and many readers; fixes the format of files
SUPERBLOCK = b"\x89HDF\r\n\x1a\n\x03"  # how they begin
SWMR_WRITE = 4  # its flag of a file being written, or left so by a kill
PATIENCE = 25  # looks at the length of a file, 0.02 s apart
READ_ATTEMPTS = 22  # the waits between them double, from 1 ns
NOT_FINISHED = "the run was not finished"


@dataclass(frozen=True, eq=False)
class Progress:
    """What an unfinished run left: its nodes, counts (Newton iterations, sub-steps) and checkpoint."""

    status: int
    message: str
    block: Block
    counts: np.ndarray
    wall_time: float
    checkpoint: dict
    fingerprint: str


class RunWriter:
    """Writes one run.

    Parameters
    ----------
    path
        Replaced if it exists.
    mechanism, settings, inputs
        What the run is made of; ``inputs``: the arrays of its start and its loads.
    load : (T or 1, nb, 6)
        At the nodes that will be recorded.
    checkpoint : dict
        Of the start; fixes names and shapes.

    Raises
    ------
    FileError
        The file cannot be written.
    """

    def __init__(self, path, mechanism: Mechanism, settings: dict, inputs, load, checkpoint: dict):
        self.path = Path(path)
        nb = len(mechanism.bodies)
        rows = max(1, 2**16 // (8 * 4 * nb))
        with _reporting(f"cannot write '{self.path}'"):
            attributes = {"format": FORMAT, "fingerprint": fingerprint(mechanism, settings, inputs)}
            attributes["settings"] = json.dumps(settings)
            self.file = h5py.File(self.path, "w", libver=LIBRARY)
            for name, text in attributes.items():
                self.file.attrs[name] = np.bytes_(text)  # of fixed length: others lie in a heap without checksum
            self.file.create_dataset("mechanism", data=np.bytes_(json.dumps(to_data(mechanism))))
            self.file.create_dataset("load", data=load, compression="gzip")  # most bodies have none
            items = {name: (nb, *width) if width else () for name, width in NODES.items()}
            items |= dict.fromkeys(FORCES if mechanism.forces else (), (len(mechanism.forces),))
            for name, item in items.items():
                self.file.create_dataset(name, (0, *item), chunks=(rows, *item), maxshape=(None, *item), dtype=float)
            for turn in "01":
                for name, array in checkpoint.items():
                    self.file.create_dataset(f"checkpoint/{turn}/{name}", data=array)
            self.file["progress"] = np.array([0, 0, 0, 0, UNFINISHED, 0])
            self.file["wall_time"] = 0.0
            self.file.create_dataset("message", data=np.bytes_(NOT_FINISHED), dtype="S1000")
            self.file.swmr_mode = True

    @classmethod
    def reopen(cls, path, settings: dict) -> "RunWriter":
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
            for name in _recorded(old):
                writer.file[name].resize(int(old["progress"][0]), axis=0)
            writer.file["progress"][4] = UNFINISHED
            writer.file["message"][()] = np.bytes_(NOT_FINISHED)
            writer.file.swmr_mode = True  # before the old file goes: from here on a kill leaves a readable file
            os.replace(fresh, writer.path)
        return writer

    def append(self, block: Block, dt: float, steps: int, checkpoint: dict | None, counts, wall_time: float) -> None:
        """Add recorded nodes after ``steps`` steps and move the checkpoint behind them; None keeps the one before."""
        file = self.file
        records, count, turn = int(file["progress"][0]), len(block.node), int(file["progress"][3])
        with _reporting(f"cannot write '{self.path}'"):
            for name in _recorded(file):
                file[name].resize(records + count, axis=0)
                file[name][records:] = dt * block.node if name == "t" else getattr(block, name)
            if checkpoint is not None:
                turn = 1 - turn
                for name, array in checkpoint.items():
                    file[f"checkpoint/{turn}/{name}"][...] = array
            file["wall_time"][()] = wall_time
            file.flush()
            file["progress"][...] = [records + count, *counts, turn, UNFINISHED, steps]
            file.flush()

    def finish(self, status: int, message: str) -> None:
        """Mark the run as ended, 0 for success."""
        with _reporting(f"cannot write '{self.path}'"):
            self.file["message"][()] = np.bytes_(message.encode())
            self.file.flush()
            self.file["progress"][4] = status
            self.file.flush()

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def fingerprint(mechanism: Mechanism, settings: dict, inputs) -> str:
    """Same run, same fingerprint. The duration may grow when a run goes on, so it does not count."""
    kept = {key: value for key, value in settings.items() if key not in ("duration", "steps")}
    digest = hashlib.sha256(json.dumps([to_data(mechanism), kept]).encode())
    for array in inputs:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def load(path) -> Trajectory:
    """Read a run, finished or not, even one that is being written.

    Raises FileError if the file cannot be read, is damaged, or holds no run.
    """
    with _open(path) as file:
        mechanism = from_data(json.loads(file["mechanism"][()]), f"'{path}'")
        nodes = _nodes(file)
        _, iterations, substeps, _, status, steps = (int(number) for number in file["progress"])
        return Trajectory(
            mechanism=mechanism,
            **nodes,
            load=file["load"][: len(nodes["t"])],
            newton_iterations=iterations,
            substeps=substeps,
            steps=steps,
            success=status == 0,
            status=status,
            message=file["message"][()].decode(),
            wall_time=float(file["wall_time"][()]),
        )


def load_settings(path) -> dict:
    """duration, dt, order, tol, every and steps of a run. Raises FileError like `load`."""
    with _open(path) as file:
        return json.loads(file.attrs["settings"])


def load_progress(path) -> Progress:
    """What is needed to go on with a run. Raises FileError like `load`."""
    with _open(path) as file:
        nodes = _nodes(file)
        _, iterations, substeps, turn, status, _ = (int(number) for number in file["progress"])
        dt = json.loads(file.attrs["settings"])["dt"]
        checkpoint = file[f"checkpoint/{turn}"]
        nodes["node"] = np.rint(nodes.pop("t") / dt).astype(np.int64)
        return Progress(
            status=status,
            message=file["message"][()].decode(),
            block=Block(**nodes, newton_iterations=0, substeps=0),
            counts=np.array([iterations, substeps]),
            wall_time=float(file["wall_time"][()]),
            checkpoint={name: checkpoint[name][...] for name in checkpoint},
            fingerprint=file.attrs["fingerprint"].decode(),
        )


def _nodes(file) -> dict:
    records = int(file["progress"][0])
    nodes = {name: file[name][:records] for name in _recorded(file)}
    if records < 1 or any(len(array) != records for array in nodes.values()) or "checkpoint" not in file:
        raise ValueError("a part of it is missing")
    if not np.allclose(np.linalg.norm(nodes["quat_wxyz"], axis=-1), 1.0, rtol=0.0, atol=1e-6):
        raise ValueError("some nodes were lost")  # what was never written reads as zeros
    return dict.fromkeys(FORCES, np.zeros((records, 0))) | nodes


def _recorded(file):
    """Names of the datasets with one row a node."""
    return [*NODES, *(name for name in FORCES if name in file)]


@contextmanager
def _open(path):
    if not Path(path).is_file():
        raise FileError(f"cannot read '{path}': no such file")
    with _reporting(f"'{path}' is damaged or no run of varint"), _reader(path) as file:
        if file.attrs.get("format") != FORMAT.encode():
            raise FileError(f"'{path}' is no run of varint, or of another version of it: expected '{FORMAT}'")
        yield file


def _reader(path) -> h5py.File:
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
def _reporting(what):
    try:
        yield
    except FileError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as problem:
        raise FileError(f"{what}: {problem}") from None
