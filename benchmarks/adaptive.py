"""Whether the energy jumps with steps that follow the motion: the set of resolution.py at orders 2, 4 and 6.

    python adaptive.py FILE [TURN]     # goes on with the runs in FILE, one a line, and prints the table; TURN in rad

Each mechanism of the set runs with each of its steps as the longest. The verdicts are those of resolution.py.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import resolution
import resolution_runs
from rich.console import Console
from rich.table import Table

import varint as vi

ORDERS = (2, 4, 6)


class Followed(NamedTuple):
    """A run of the set. ``verdict``: that of `resolution_runs.verdict`, or "failed", or "refused" with the reason.

    ``jump``, ``error``: those of `resolution_runs.largest_jump`; ``told``: nodes that the run found unresolved.
    """

    part: str
    name: str
    longest: float
    order: int
    verdict: str
    jump: float = 0.0
    error: float = 0.0
    steps: int = 0
    told: int = 0
    substeps: int = 0
    reason: str = ""


def cases(adaptive):
    """Pairs of the part of the set and the case, at each order."""
    parts = {
        "chains and rhombi": resolution.whips(),
        "catalogue": resolution.catalogue(),
        "random": resolution.random_ones(resolution.SEEDS, False),
    }
    for part, of_part in parts.items():
        once = {(id(case.mechanism), case.dt): case for case in of_part}
        for case in once.values():
            for order in ORDERS:
                yield part, case._replace(order=order, adaptive=adaptive)


def examine(part, case):
    """What was `Followed`."""
    head = (part, case.name, case.dt, case.order)
    try:
        run = case.run()
    except vi.ConvergenceError as error:
        return Followed(*head, "failed", reason=str(error))
    except vi.ArgumentError as error:
        return Followed(*head, "refused", reason=str(error))
    jump, error = resolution_runs.largest_jump(run)
    verdict = resolution_runs.verdict(run)
    return Followed(*head, verdict, float(jump), float(error), run.steps, int(run.unresolved.size), run.substeps)


def survey(path, adaptive):
    """All that were `Followed`; those in the file are not done again."""
    found = [Followed(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []
    with path.open("a") as file:
        for number, (part, case) in enumerate(cases(adaptive)):
            if number >= len(found):
                found.append(examine(part, case))
                file.write(json.dumps(found[-1]._asdict()) + "\n")
                file.flush()
    return found


def show(found):
    table = Table("set", "order", "runs", "jump", "quiet", "neither", "failed", "refused", "largest jump", "steps")
    for part in dict.fromkeys(run.part for run in found):
        for order in ORDERS:
            runs = [run for run in found if (run.part, run.order) == (part, order)]
            count = Counter(run.verdict for run in runs)
            numbers = [count[v] for v in ("wrong", "quiet", "neither", "failed", "refused")]
            largest, steps = max(run.jump for run in runs), sum(run.steps for run in runs)
            table.add_row(part, str(order), str(len(runs)), *map(str, numbers), f"{largest:.2%}", str(steps))
    Console(width=140).print(table)
    for run in found:
        if run.verdict in ("wrong", "failed"):
            print(
                f"{run.name}, {run.longest} s, order {run.order}: {run.verdict}, jump {run.jump:.2%}, error"
                f" {run.error:.2%}, {run.steps} steps, {run.told} told, {run.substeps} sub-steps {run.reason}"
            )


if __name__ == "__main__":
    show(survey(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else True))
