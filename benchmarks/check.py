"""Is this tree as fast as a commit before? Times of both in turns, in one run: ``make bench-check``.

    python benchmarks/check.py [COMMIT] [--rounds N] [--limit RATIO]

Without COMMIT: HEAD where the tree differs from it, else the commit before. Each tree has a process of its own, which
waits while the other works; a row shows the least time of each over all rounds, and their ratio. The last rows are
processor seconds, of all processes, of first simulations with an empty cache (first_run.py), the least of so many
rounds as ``--first`` says, one by default. Exit status 1 where a ratio is above the limit. Ratios of two equal trees
are within 1 % at 40 rounds on a quiet machine.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from first_run import RUNS, seconds
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
LIMIT, ROUNDS, BLOCK = 1.05, 20, 0.05  # of a ratio; rounds; s of one timing
IMPORT = "import varint"


def works():
    """What is timed: name to a function that returns its seconds. By the public interface, which both trees have."""
    from functools import partial

    import varint as vi

    chain, rhombi = vi.mechanisms.n_pendulum, vi.mechanisms.rhombus_chain(m=8)
    plain = chain(n=10)
    springs = [vi.TorsionSpring(f"s {j.name}", joint=j.name, stiffness=1.0, damping=0.1) for j in plain.joints]
    forced = vi.Mechanism("chain with springs", plain.bodies, plain.joints, forces=springs)
    pair, long, closed = chain(n=2), chain(n=100), vi.mechanisms.four_bar()

    def steps(mechanism, count, **given):
        return vi.simulate(mechanism, count * 1e-3, 1e-3, every=count, on_unresolved="ignore", **given).wall_time

    def reduced(mechanism, duration):
        return vi.redmax.simulate(mechanism, duration, duration, rtol=1e-6).wall_time

    def whole(work):
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return {
        "steps of a chain, n = 2": partial(steps, pair, 1000),
        "steps of a chain, n = 10": partial(steps, plain, 300),
        "steps of a chain, n = 100": partial(steps, long, 40),
        "steps of rhombi, m = 8": partial(steps, rhombi, 50),
        "steps with springs and dampers, n = 10": partial(steps, forced, 200),
        "steps of order 6, n = 10": partial(steps, plain, 30, order=6),
        "reduced coordinates, n = 100": partial(reduced, long, 0.05),
        "simulate, one second at 10 ms, n = 2": lambda: whole(lambda: vi.simulate(pair, 1.0, 0.01)),
        "state() of a four-bar": lambda: whole(closed.state),
    }


def work_for(known, stream_in, stream_out):
    """Serve works: the name of one of the ``known`` in, its least seconds over `BLOCK` out."""
    for line in stream_in:
        best, began = float("inf"), time.perf_counter()
        while time.perf_counter() - began < BLOCK:
            best = min(best, known[line.strip()]())
        print(best, file=stream_out, flush=True)


class Tree:
    """A process that times the works of a ``script`` in the tree at a path."""

    def __init__(self, path, script=__file__):
        self.environment = os.environ | {"PYTHONPATH": str(path), "NUMBA_NUM_THREADS": "1"}
        command = [sys.executable, script, "--serve"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment, cwd=path
        )

    def seconds(self, name):
        if name == IMPORT:
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import varint"], env=self.environment, check=True, cwd=ROOT.parent)
            return time.perf_counter() - began
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def compared(before, names, rounds, script=__file__):
    """Name to the least seconds of the tree at ``before`` and of this one."""
    trees = Tree(before, script), Tree(ROOT, script)
    best = {name: [float("inf")] * 2 for name in names}
    for name in track(names, "compiling", console=Console(stderr=True)):
        for tree in trees:
            tree.seconds(name)
    for k in track(range(rounds), "timing", console=Console(stderr=True)):
        for name in names:
            for side in (0, 1) if k % 2 else (1, 0):
                best[name][side] = min(best[name][side], trees[side].seconds(name))
    return best


def first_runs(before, rounds):
    """Name to the least processor seconds of a first simulation in the tree at ``before`` and in this one."""
    best = {f"first run of a {name}, processor time": [float("inf")] * 2 for name in RUNS if rounds}
    for k in track(range(rounds), "compiling first runs", console=Console(stderr=True)):
        for row, name in zip(best, RUNS, strict=True):
            for side in (0, 1) if k % 2 else (1, 0):
                best[row][side] = min(best[row][side], seconds((before, ROOT)[side], name))
    return best


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def tree_of(commit):
    """The path of a worktree of a commit, for as long as the context is open."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        git("worktree", "add", "--detach", str(before), commit)
        try:
            yield before
        finally:
            git("worktree", "remove", "--force", str(before))


def parser_of(description, rounds):
    """The parser of a script that compares a commit with this tree, in ``rounds`` unless said, by `Tree`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="the tree before")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser


def main():
    parser = parser_of(__doc__, ROUNDS)
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"of a ratio, default {LIMIT}")
    parser.add_argument("--first", type=int, default=1, help="rounds of first simulations, default 1")
    args = parser.parse_args()
    if args.serve:
        return work_for(works(), sys.stdin, sys.stdout)
    commit = args.commit or ("HEAD" if git("status", "--porcelain", "--", "varint", "mechanisms") else "HEAD~1")
    with tree_of(commit) as before:
        best = compared(before, [*works(), IMPORT], args.rounds) | first_runs(before, args.first)
    table = Table(
        "what", "before (ms)", "now (ms)", "ratio", title=f"against {git('log', '-1', '--format=%h %s', commit)}"
    )
    slower = 0
    for name, (then, now) in best.items():
        ratio = now / then
        slower += ratio > args.limit
        mark = f"[red]{ratio:.3f}[/red]" if ratio > args.limit else f"{ratio:.3f}"
        table.add_row(name, f"{then * 1e3:.3f}", f"{now * 1e3:.3f}", mark)
    Console().print(table)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
