"""Contents of a run file, for its writer and its readers. One format for both formulations, in HDF5.

    /            attributes: format; settings, layout, nodes, diagnostics, JSON; fingerprint of run and inputs; a digest
                 of all
    /mechanism   JSON
    /steady_load (1, nb, 6) external loads, where they are constant
    /t, /position, /quat_wxyz, /velocity, ...       as the attribute ``nodes`` lists them, one row a recorded node
    /blocks      one row a block of nodes: the number of nodes up to its end, and a CRC-32 of its part of each array
    /diagnostics/t, /diagnostics/blocks, ...        the same of the diagnostics, where there are any
    /checkpoint/0, /1                               written in turns: how far the run is, and where to go on from
        progress    turns so far, nodes recorded, status (-1: unfinished), then the counts of `Counts`, and the number
                    of diagnostics
        wall_time, message
        state/...   what the steps to come depend on; ``recorded`` nodes came before it, and ``diagnosed`` diagnostics:
                    a run goes on behind those
        checksum    CRC-32 of the others

A block reaches the disk before the checkpoint that counts it, and of the two checkpoints the last whole one counts:
whenever a writer is stopped, the file is whole up to there.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from varint.base.checks import shown
from varint.files.own.file_format import MARK, OLDER
from varint.files.own.mechanism_data import to_data
from varint.files.runs.made_with import MADE_WITH, MEMBER, RESUMED_WITH
from varint.mechanism.mechanism import Mechanism
from varint.results.record import Counts

FORMAT = "varint run 6"
SUFFIXES = (".h5", ".hdf5")
UNFINISHED = -1
NOT_FINISHED = "the run was not finished: resume=True goes on with it"
NOT_RESUMABLE = "the run was not finished, and its method cannot resume it: overwrite=True begins it anew"
RESUMABLE = "resumable"  # setting, false of runs that no file can go on with
MAY_DIFFER = ("duration", "steps", MADE_WITH, RESUMED_WITH, MEMBER)  # settings, when a run goes on
TEXTS = (
    "format",
    "settings",
    "layout",
    "nodes",
    "diagnostics",
    "fingerprint",
)  # attributes, in the order of the digest
TURNS = ("0", "1")
AT_DIAGNOSTICS = "diagnostics/"  # before the names of their datasets
LONGEST_MESSAGE = 1000  # bytes
CHUNK = 1 << 16  # bytes


def is_resumable(settings: Mapping[str, Any]) -> bool:
    """Return whether a run can go on from its file."""
    return bool(settings.get(RESUMABLE, True))


class Progress(NamedTuple):
    """Turns of the checkpoints, recorded nodes, status, and counts so far; diagnostics recorded."""

    turn: int
    records: int
    status: int
    counts: Counts
    diagnosed: int = 0


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """One of the two checkpoints of a file.

    ``state``: name to array, on which the steps to come depend; ``wall_time``, s.
    """

    progress: Progress
    wall_time: float
    message: str
    state: Mapping[str, np.ndarray]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the stored arrays by dataset name."""
        turn, records, status, counts, diagnosed = self.progress
        text = self.message.encode()[:LONGEST_MESSAGE].decode(errors="ignore").encode()
        arrays = {
            "progress": np.array([turn, records, status, *counts, diagnosed], dtype=np.int64),
            "wall_time": np.array(self.wall_time, dtype=np.float64),
            "message": np.array(text, dtype=f"S{LONGEST_MESSAGE}"),
        } | {f"state/{name}": np.asarray(array) for name, array in self.state.items()}
        return arrays | {"checksum": np.array(checksum_of(arrays), dtype=np.int64)}


def checksum_of(arrays: Mapping[str, np.ndarray]) -> int:
    """Return the CRC-32 of named arrays except ``checksum``."""
    crc = 0
    for name in sorted(set(arrays) - {"checksum"}):
        array = arrays[name]
        crc = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), crc)
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def block_checksum(rows: np.ndarray) -> int:
    """Return the CRC-32 of the rows of one array in a block."""
    return zlib.crc32(np.ascontiguousarray(rows).data)


def fingerprint(mechanism: Mechanism, settings: dict, inputs: Iterable[np.ndarray]) -> str:
    """Return a digest of a run: the same run has the same one.

    The duration may grow when a run goes on, no motion depends on the solids of bodies, and what wrote the run is
    checked by itself: none of these count. The format mark counts where a type of joint has two meanings.
    """
    description = to_data(mechanism, solids=False)
    if not any(f'"{older}"' in json.dumps(description["joints"]) for older in OLDER):
        del description[MARK]
    fixed = {key: value for key, value in settings.items() if key not in MAY_DIFFER}
    digest = hashlib.sha256(json.dumps([description, fixed]).encode())
    for array in inputs:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def difference(old: tuple[Mechanism, dict], new: tuple[Mechanism, dict]) -> str:
    """Return the first setting, in words, in which two runs (mechanism, settings) of other fingerprints differ."""
    (old_mechanism, old_settings), (new_mechanism, new_settings) = old, new
    for name in dict.fromkeys([*new_settings, *old_settings]):
        before, now = old_settings.get(name), new_settings.get(name)
        if name not in MAY_DIFFER and json.dumps(before) != json.dumps(now):
            return f"its {name} is {shown(before)}, not {shown(now)}"
    before, now = (to_data(mechanism, solids=False) for mechanism in (old_mechanism, new_mechanism))
    for part, value in now.items():
        if json.dumps(before[part]) != json.dumps(value):
            return f"its mechanism differs in its {part}"
    return "its start, loads or inputs are others"


def digest_of(texts: Mapping[str, bytes], mechanism: bytes, load: np.ndarray | None) -> str:
    """Return a digest of the parts of a file that do not change while a run is written."""
    digest = hashlib.sha256()
    for part in (*(texts[name] for name in TEXTS), mechanism, b"" if load is None else load.tobytes()):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def rows_in_chunk(bodies: int, bytes_of_row: int) -> int:
    """Return the rows of a chunk: as many as 64 kB of quaternions of the bodies, at most 64 kB, at least one."""
    return max(1, CHUNK // max(8 * 4 * bodies, bytes_of_row))
