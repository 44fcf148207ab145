"""Feeds the package with wrong input and tells what should not have happened.

    python tests/fuzz/run.py all
    python tests/fuzz/run.py json 10000 --seed 1
    python tests/fuzz/run.py api --seed 1 --replay 417

Counts errors that are not varint's ("foreign"), input that was changed in silence ("altered"), processes that died
("crash"), cases above the time limit of their kind ("slow") and those that take above 500 MiB ("large"). Cases that
are none of "fine" are saved in a temporary folder.
"""

import argparse
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.kinds import Kind, case_of, load_kinds

FOLDER = Path(__file__).parent
WORKER = FOLDER / "worker.py"
CHUNK = 200  # cases that a worker is given at once
OUTCOMES = ("foreign", "altered", "crash", "slow", "large")
TOLD = re.compile(r"[^ ]*['\d\[\].][^ ]*")  # names and numbers in what was altered
START = 600.0  # s, that a worker may take to import, compile and prepare
LOOK = 0.2  # s between looks at a worker that says nothing


class Found(NamedTuple):
    """A case that did not go as it should; ``outcome`` "crash" beside those of `Verdict`."""

    number: int
    outcome: str
    where: str
    message: str


class Worker:
    """A process of `worker.py`, started anew where it died."""

    def __init__(self, kind: str, seed: int, limit: float) -> None:
        self.kind, self.seed, self.limit = kind, seed, limit
        self.process: subprocess.Popen | None = None

    def work_off(self, first: int, last: int) -> Iterator[Found]:
        """The cases from ``first`` to before ``last`` that did not go well."""
        while first < last:
            if self.process is None:
                self._start()
            self.process.stdin.write(f"{self.seed} {first} {last}\n".encode())
            self.process.stdin.flush()
            running = first
            while first < last:
                line = self._line(self.limit)
                if line is None:
                    slow = self.process.poll() is None
                    what = f"above {self.limit:g} s" if slow else f"exit code {self.process.wait()}"
                    self.end()
                    yield Found(running, "slow" if slow else "crash", "", what)
                    first = running + 1
                    break
                told = json.loads(line)
                if "start" in told:
                    running = told["start"]
                    continue
                first = told["done"] + 1
                if told["outcome"] != "fine":
                    yield Found(told["done"], told["outcome"], told["where"], told["message"])

    def _start(self) -> None:
        self.rest = b""
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), self.kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if self._line(START) is None:
            raise RuntimeError(f"the worker does not start: {sys.executable} {WORKER} {self.kind}")

    def _line(self, limit: float) -> bytes | None:
        """The next line that the process writes; None where it died or takes longer than ``limit``, s.

        The limit is of a processor, so that other work on the machine does not count, and tenfold of a clock.
        """
        latest, end = time.monotonic() + 10 * limit, processor_seconds(self.process.pid) + limit
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], LOOK)
            if ready:
                more = os.read(self.process.stdout.fileno(), 1 << 16)
                if not more:
                    self.process.wait()
                    return None
                self.rest += more
            elif time.monotonic() > latest or processor_seconds(self.process.pid) > end:
                return None
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def end(self) -> None:
        """Stop the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def processor_seconds(pid: int) -> float:
    """What a process has taken of a processor, s; of the clock where no system tells it."""
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return time.monotonic()
    fields = status.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(kind: str, count: int, seed: int, workers: int = 2, limit: float = 60.0) -> list[Found]:
    """Cases 0 to ``count`` of a kind that did not go well, in their order."""
    chunks = iter(range(0, count, CHUNK))
    lock = threading.Lock()

    def labour() -> list[Found]:
        worker, found = Worker(kind, seed, limit), []
        try:
            while True:
                with lock:
                    first = next(chunks, None)
                if first is None:
                    return found
                found += worker.work_off(first, min(first + CHUNK, count))
        finally:
            worker.end()

    with ThreadPoolExecutor(workers) as pool:
        parts = [pool.submit(labour) for _ in range(workers)]
    return sorted(case for part in parts for case in part.result())


def report(kind: str, count: int, seed: int, found: list[Found], seconds: float) -> str:
    """The figures, and of each place one case."""
    number = Counter(case.outcome for case in found)
    figures = ", ".join(f"{what} {number[what]}" for what in OUTCOMES)
    lines = [f"{kind}: {count} cases, seed {seed}: {figures}; {seconds:.0f} s"]
    places = defaultdict(list)
    for case in found:
        alike = case.message.split(":")[0] if case.outcome == "foreign" else TOLD.sub("", case.message)
        places[case.outcome, case.where, alike].append(case)
    for (outcome, where, _), cases in sorted(places.items(), key=lambda item: -len(item[1])):
        numbers = ", ".join(str(case.number) for case in cases[:4])
        lines.append(f"  {len(cases):5d} {outcome} {where} {cases[0].message}  [{numbers}]")
    return "\n".join(lines)


def replay(kind: Kind, seed: int, number: int) -> None:
    """One case alone, in this process: its error comes with its traceback."""
    case = case_of(kind, seed, number)
    print(kind.describe(case))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kind.write(case, Path(folder))
        print(kind.check(case, Path(folder)) or "fine")


def saved(kind: Kind, seed: int, found: list[Found]) -> Path:
    """A new folder with the cases of ``found``, and what was found in ``found.txt``."""
    folder = Path(tempfile.mkdtemp(prefix=f"varint-fuzz-{kind.name}-{seed}-"))
    for problem in found:
        kind.save(case_of(kind, seed, problem.number), folder / f"{problem.number}{kind.suffix}")
    lines = [f"{p.number} {p.outcome} {p.where} {p.message}\n" for p in found]
    (folder / "found.txt").write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    return folder


def main() -> int:
    """Exit code 1 where anything was found."""
    kinds = load_kinds()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["all", *sorted(kinds)])
    parser.add_argument("count", nargs="?", type=int, help="cases; default: those of make fuzz, of each kind its own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="of a case that hangs, s of a processor")
    parser.add_argument("--replay", type=int, metavar="N", help="run case N alone, here, with its traceback")
    args = parser.parse_args()
    if args.replay is not None:
        if args.kind == "all":
            parser.error("--replay needs the kind")
        replay(kinds[args.kind](), args.seed, args.replay)
        return 0
    anything = False
    for name in sorted(kinds) if args.kind == "all" else [args.kind]:
        kind, began = kinds[name](), time.monotonic()
        count = kind.count if args.count is None else args.count
        found = fuzz(name, count, args.seed, args.workers, args.limit)
        print(report(name, count, args.seed, found, time.monotonic() - began), flush=True)
        if found:
            anything = True
            print(
                f"saved in {saved(kind, args.seed, found)}; one again: {name} --seed {args.seed} --replay N", flush=True
            )
    return int(anything)


if __name__ == "__main__":
    sys.exit(main())
