"""What a kind of fuzzing is, and the registry of the kinds: one file each in this folder, found by itself.

The file of a kind has a class that derives from `Kind`, under the decorator `register`.
"""

import importlib
import re
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import numpy as np

import varint as vi

FOLDER = Path(__file__).parent
LARGEST = 500 << 20  # bytes, that a case may take beyond what the process has before it
MACHINERY = ("kinds", "run", "worker")
INTERNAL = re.compile(
    r"__init__\(|unexpected keyword|positional argument|has no attribute|unhashable|not subscriptable"
)

KINDS: dict[str, type["Kind"]] = {}


class Verdict(NamedTuple):
    """Of one case. ``outcome``: "fine", "foreign" (an exception that is not varint's), "altered", "slow" or "large"."""

    outcome: str
    where: str = ""
    message: str = ""


class Kind:
    """A kind of input that is made wrong.

    ``name``: as the runner is told. ``count``: of the cases of `make fuzz`. ``few``: of those of the fast tests.
    ``suffix``: of files that cases are saved in. ``longest``: that a case may take, s of a processor.
    """

    name: str
    count = 1000
    few = 100
    suffix = ".txt"
    longest = 5.0

    def prepare(self) -> None:
        """Work out what all cases share, before the time of the first one counts."""

    def case(self, rng: np.random.Generator, number: int, seed: int):
        """Case ``number`` of a run with ``seed``; everything random comes from ``rng``."""
        raise NotImplementedError

    def write(self, case, folder: Path) -> None:
        """Write the files of the case into ``folder`` where that takes long, before its time and memory count."""

    def check(self, case, folder: Path) -> str | None:
        """Use the case, with ``folder`` to write into. What was altered in silence, or None; errors go through."""
        raise NotImplementedError

    def describe(self, case) -> str:
        """The case in a line."""
        raise NotImplementedError

    def save(self, case, path: Path) -> None:
        """Write what is needed to look at the case by itself."""
        path.write_text(self.describe(case))


def register(cls: type[Kind]) -> type[Kind]:
    """Class decorator: add a kind to the registry."""
    KINDS[cls.name] = cls
    return cls


def case_of(kind: Kind, seed: int, number: int):
    """Case ``number`` of the run with ``seed``, the same at any time."""
    return kind.case(np.random.default_rng([seed, number]), number, seed)


def judged(kind: Kind, case, folder: Path) -> Verdict:
    """What came of a case, and what it took."""
    kind.write(case, folder)
    memory, began = _memory(anew=True), time.process_time()
    verdict = _outcome(kind, case, folder)
    seconds, memory = time.process_time() - began, _memory() - memory
    if verdict.outcome == "fine" and seconds > kind.longest:
        return Verdict("slow", "", f"took {seconds:.1f} s")
    if verdict.outcome == "fine" and memory > LARGEST:
        return Verdict("large", "", f"took {memory >> 20} MiB")
    return verdict


def _memory(anew: bool = False) -> int:
    """The most memory of this process so far, or from here on (``anew``), bytes; 0 where no system tells it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    return 1024 * int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1])


def _outcome(kind: Kind, case, folder: Path) -> Verdict:
    try:
        altered = kind.check(case, folder)
    except vi.VarintError as problem:
        if INTERNAL.search(str(problem)):
            return Verdict("foreign", _place(problem), f"speaks of Python, not of the input: {problem}"[:300])
        return Verdict("fine")
    except Exception as problem:  # every error that is not varint's is what is looked for
        if any(note.startswith("raised by ") for note in getattr(problem, "__notes__", ())):
            return Verdict("fine")  # of a function that the case has in place of a user's
        return Verdict("foreign", _place(problem), f"{type(problem).__name__}: {_text(problem)}"[:300])
    return Verdict("altered", "", altered[:300]) if altered else Verdict("fine")


def _text(problem: Exception) -> str:
    try:
        return str(problem)
    except Exception:  # of a value in the error that raises whatever it is asked, see `Hostile`
        return "(no text)"


def _place(problem: Exception) -> str:
    """File and line of the package nearest to where it was raised."""
    package = Path(vi.__file__).parent
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if Path(f.filename).is_relative_to(package)]
    if not frames:
        return "outside the package"
    return f"{Path(frames[-1].filename).relative_to(package)}:{frames[-1].lineno}"


def load_kinds() -> dict[str, type[Kind]]:
    """The registry, filled with every kind in this folder."""
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem not in MACHINERY and not path.stem.startswith("_"):
            importlib.import_module(f"fuzz.{path.stem}")
    return KINDS
