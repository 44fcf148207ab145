"""Whether there is room for what a run will record, on the disk or in memory; looked at before its first step."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from varint.base.errors import ArgumentError, FileError
from varint.base.printable import tell

MARGIN, LARGEST_MARGIN = 0.05, 50e6  # of what is free, and in bytes: the smaller one is left alone
LARGE = 100e6  # bytes of a run file, whose size is reported
SMALL = 1_000_000  # bytes of a run, for which memory is not looked at: far less than the process takes
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))
CGROUPS = Path("/sys/fs/cgroup")
MEMORY_FILES = (  # of the two versions: limit, use, and in memory.stat what of that is a cache of files
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


class WantedSpace(NamedTuple):
    """``steps`` still to come, of which each ``every``-th and the last are recorded, in ``width`` bytes each.

    ``fixed``: whether ``every`` has to stay, as where a run goes on. ``finer``: the same of the diagnostics, their
    stride, which divides ``every``, and bytes each.
    """

    steps: int
    every: int
    width: int
    fixed: bool = False
    finer: tuple[int, int] | None = None

    @property
    def size(self) -> int:
        """Return the size of the recorded nodes and diagnostics, bytes."""
        return -(-self.steps // self.every) * self.width + self._of_diagnostics

    @property
    def _of_diagnostics(self) -> int:
        return -(-self.steps // self.finer[0]) * self.finer[1] if self.finer else 0

    def remedy(self, room: float) -> str:
        """Return advice that makes it fit into ``room`` bytes."""
        if self.fixed:
            return "give a shorter duration"
        stride = self.finer[0] if self.finer else 1
        nodes = int(max(0.0, room - self._of_diagnostics) // self.width)
        every = stride * _sensible(-(-self.steps // (nodes * stride))) if nodes else self.steps
        if every < self.steps:
            return f"every={every} fits, or a shorter duration"
        return f"give a {'larger diagnostics_every, or a ' if self.finer else ''}shorter duration"


def check_disk(path: Path, wanted: WantedSpace, replaced: int = 0) -> None:
    """Raise FileError where ``wanted`` does not fit on the disk of ``path``; ``replaced``: bytes that get free."""
    free = shutil.disk_usage(path.parent).free + replaced
    room = free - min(MARGIN * free, LARGEST_MARGIN)
    if wanted.size > room:
        raise FileError(
            f"cannot write '{path}': the run needs {size_text(wanted.size)}, and {size_text(free)} are free there:"
            f" {wanted.remedy(room)}, or make room"
        )


def check_memory(wanted: WantedSpace) -> None:
    """Raise ArgumentError where ``wanted`` does not fit into memory."""
    if wanted.size < SMALL:
        return
    free = available_memory()
    if free is not None and wanted.size > (room := free - min(MARGIN * free, LARGEST_MARGIN)):
        raise ArgumentError(
            f"the nodes of the run need {size_text(wanted.size)} of memory, and {size_text(free)} are available:"
            f" {wanted.remedy(room)}, or output=, a file to write them to"
        )


def bytes_of_holes(descriptor: int) -> int:
    """Return the bytes of an open file that read as zeros and lie nowhere on the disk; 0 where no system reports it."""
    if not hasattr(os, "SEEK_HOLE"):
        return 0
    size, holes, place = os.fstat(descriptor).st_size, 0, 0
    while (hole := os.lseek(descriptor, place, os.SEEK_HOLE)) < size:
        try:
            place = os.lseek(descriptor, hole, os.SEEK_DATA)
        except OSError:  # no data follow
            place = size
        holes += place - hole
        if place >= size:
            break
    return holes


def tell_size(path: Path, wanted: WantedSpace) -> None:
    """Report on stderr how large the file will be, if it is large."""
    if wanted.size >= LARGE:
        tell(f"the run will add {size_text(wanted.size)} to '{path}'")


def available_memory() -> int | None:
    """Return the bytes available to this process: of the machine, and below the limits of its control groups."""
    limits = [*_left_in_groups()]
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        limits.append(1024 * int(lines["MemAvailable"].split()[0]))
    elif "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(limits, default=None)


def _left_in_groups() -> Iterator[int]:
    """Yield the bytes left in each control group of this process that has a limit, of both versions."""
    groups = Path("/proc/self/cgroup")
    for line in groups.read_text().splitlines() if groups.exists() else ():
        _, controllers, place = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        folder = CGROUPS / controllers / place.strip("/")
        for group in (folder, *folder.parents):
            if group == CGROUPS.parent:
                break
            for files in MEMORY_FILES:
                yield from _left_in(group, *files)


def _left_in(group: Path, limit: str, used: str, cached: str) -> Iterator[int]:
    if not all((group / name).exists() for name in (limit, used, "memory.stat")):
        return
    most = (group / limit).read_text().strip()
    if most != "max":
        counts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        yield max(0, int(most) - int((group / used).read_text()) + int(counts.get(cached, 0)))


def size_text(size: float) -> str:
    """Return a size in bytes as text with a unit."""
    unit, symbol = next((unit, symbol) for unit, symbol in UNITS if size >= unit or unit == 1.0)
    return f"{size / unit:.3g} {symbol}"


def _sensible(number: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, ... that is not below ``number``."""
    scale = 10 ** (len(str(number)) - 1)
    return next(factor * scale for factor in (1, 2, 5, 10) if factor * scale >= number)
