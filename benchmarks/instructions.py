"""Instructions of one step, counted one by one: a measure of its cost that other work on the machine does not disturb.

    python benchmarks/instructions.py              # counts, and their ratios to those of instructions.json
    python benchmarks/instructions.py --write      # replaces instructions.json; the commit says why they changed

A process of its own compiles for one fixed kind of processor, so that the counts are those of any machine with the
same versions of numba and llvmlite. It takes some steps, then lets its parent walk through one more, and through two,
instruction by instruction (ptrace, Linux on x86-64). Their difference leaves out the call from Python. Equal trees
differ by a few instructions. Exit status 1 where a count is above that of the file by more than `LIMIT`, 2 where
they cannot be compared: another processor or system, other versions than those that the file names.
"""

import argparse
import ctypes
import json
import os
import platform
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

LIMIT = 1.03  # of a ratio
COUNTS = Path(__file__).with_name("instructions.json")
FEW, MORE = 1, 2  # steps whose difference is counted
# works whose steps differ, as one has an increment more than the next, and how many of their steps are counted
VARIED = {"chain, n = 2": 21, "beam of eight elements": 6}
TRACEME, CONT, SINGLESTEP = 0, 7, 9  # requests of ptrace
PROCESSOR = dict(line.split("=") for line in Path(__file__).with_name("processor.env").read_text().split())
MADE_WITH = {name: version(name) for name in ("numba", "llvmlite")}


def works():
    """What is counted: name to a mechanism and a method."""
    from contact import block, lying_chain

    import varint as vi

    chain = vi.mechanisms.n_pendulum
    plain, second = chain(n=10), vi.Variational(1e-3)
    springs = [vi.TorsionSpring(f"s {j.name}", joint=j.name, stiffness=1.0, damping=0.1) for j in plain.joints]
    forced = vi.Mechanism("chain with springs", plain.bodies, plain.joints, forces=springs)
    short = chain(n=3)
    rope = vi.PathMass("rope", path=[vi.At(body.name, body.position) for body in short.bodies], mass=0.1)
    roped = vi.Mechanism("chain with a rope", short.bodies, short.joints, forces=[rope])
    return {
        "chain, n = 2": (chain(n=2), second),
        "chain, n = 10": (plain, second),
        "chain with springs and dampers, n = 10": (forced, second),
        "four-bar": (vi.mechanisms.four_bar(), second),
        "chain of order 4, n = 2": (chain(n=2), vi.Variational(1e-3, order=4)),
        "chain on the ground, n = 10": (lying_chain(10, contacts=True), second),
        "block at rest": (block(contacts=True), second),
        "beam of eight elements": (vi.mechanisms.spinning_beam(), second),
        "chain with a rope along its links, n = 3": (roped, second),
        "rolling disc": (vi.mechanisms.rolling_disc(), second),
        "chain by collocation of order 6, n = 2": (chain(n=2), vi.Lobatto(0.01, order=6)),
        "four-bar by collocation of order 8": (vi.mechanisms.four_bar(), vi.Lobatto(0.005, order=8)),
        "chain with springs by collocation, n = 10": (forced, vi.Lobatto(0.01, order=4)),
        "chain with a rope by collocation, n = 3": (roped, vi.Lobatto(0.01, order=4)),
        "rolling disc by collocation": (vi.mechanisms.rolling_disc(), vi.Lobatto(0.01, order=4)),
    }


def be_walked() -> None:
    """In the process that is counted: a signal before and after each number of steps, of each work."""
    import gc

    import varint as vi

    steppers = {name: vi.Stepper(mechanism, method) for name, (mechanism, method) in works().items()}
    for stepper in steppers.values():
        stepper.step(200)  # in motion; compiles
        stepper.step(FEW)
    gc.disable()
    if ctypes.CDLL(None).ptrace(TRACEME, 0, None, None):
        os._exit(2)
    for name, stepper in steppers.items():
        for steps in (FEW, _more(name)):
            signal.raise_signal(signal.SIGUSR1)
            stepper.step(steps)
            signal.raise_signal(signal.SIGUSR1)
    signal.raise_signal(signal.SIGUSR1)


def _more(name: str) -> int:
    """Return how many steps of a work are counted beside `FEW`."""
    return VARIED.get(name, MORE)


def count() -> Iterator[int]:
    """Instructions of one step of each work, on average where they differ."""
    environment = {**os.environ, **PROCESSOR, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    child = os.posix_spawn(sys.executable, [sys.executable, __file__, "--walk"], environment)
    try:
        _until_signal(child)
        for name in works():
            counts = []
            for _ in (FEW, MORE):
                counts.append(_until_signal(child, SINGLESTEP))
                _until_signal(child, CONT)
            yield (counts[1] - counts[0]) // (_more(name) - FEW)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _until_signal(child: int, request: int | None = None) -> int:
    """Let a process go on, by ``request``, up to the next signal that it raises; returns how often it was let go on."""
    libc, times, wait = ctypes.CDLL(None, use_errno=True), 0, os.waitpid
    go_on, trapped = libc.ptrace, signal.SIGTRAP << 8 | 0x7F  # the status of a process that has done one instruction
    while True:
        if request is not None and go_on(request, child, None, None):
            raise OSError(ctypes.get_errno(), "ptrace is refused")
        times += 1
        status = wait(child, 0)[1]
        if status == trapped:
            continue
        if not os.WIFSTOPPED(status):
            raise RuntimeError(f"the process that is counted ended with status {os.waitstatus_to_exitcode(status)}")
        if os.WSTOPSIG(status) == signal.SIGUSR1:
            return times


def main() -> int:
    """Exit status: see the top."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace instructions.json")
    parser.add_argument("--walk", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.walk:
        be_walked()
        return 0
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        print("instructions are counted on Linux on x86-64 only")
        return 2
    before = json.loads(COUNTS.read_text())
    if before["made_with"] != MADE_WITH and not args.write:
        print(f"{COUNTS.name} was made with {before['made_with']}, these are {MADE_WITH}")
        return 2
    counts, slower = {}, False
    for name, counted in zip(works(), count(), strict=True):
        counts[name] = counted
        ratio = counts[name] / before["steps"].get(name, counts[name])
        slower = slower or ratio > LIMIT
        print(f"{name:42}{counts[name]:10,}{ratio:8.3f}", flush=True)
    if args.write:
        COUNTS.write_text(json.dumps({"made_with": MADE_WITH, "steps": counts}, indent=1) + "\n", encoding="utf-8")
        return 0
    return int(slower)


if __name__ == "__main__":
    sys.exit(main())
