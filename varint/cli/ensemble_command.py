"""``varint ensemble``: a mechanism with many parameters, as a table in a folder with the runs."""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.method import add_adaptive, add_method, arguments_of_method, formulation_of
from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_resume, all_parsed, how_to_resume, key_and_text, value_of
from varint.cli.stepping import add_diagnostics, add_every

if TYPE_CHECKING:
    from varint.cli.facts import Report, ReportPart
    from varint.studies.ensembles import Ensemble


ABOUT = "Run a mechanism with many parameters, on all cores or on a cluster. Writes the table and each run to a folder."
OF_RECORDING = ("every", "diagnostics_every")
TIMES = {"duration": 10.0, "dt": 0.01}  # with their defaults


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("ensemble", help=COMMANDS["ensemble"], description=ABOUT)
    help_text = "name in the catalogue, or file of a mechanism, whose build() takes the parameters"
    parser.add_argument("mechanism", metavar="NAME_OR_FILE", help=help_text)
    several: dict[str, Any] = {"action": "append", "default": []}
    values = "values of a parameter, or so many from one to another; several --vary give all combinations"
    parser.add_argument("--vary", metavar="KEY=VALUE,VALUE,...|FROM:TO:COUNT", help=values, **several)
    draw = "draw a parameter at random: uniform or loguniform (least, largest), normal (mean, standard deviation)"
    parser.add_argument("--draw", metavar="KEY=KIND:A:B", help=draw, **several)
    parser.add_argument("--members", type=int, metavar="N", help="how many are drawn, at each combination of --vary")
    parser.add_argument("--seed", type=int, help="of the draws, default 0")
    listed = "table with the names of parameters in its first line and a member in each other one"
    parser.add_argument("--list", type=Path, metavar="FILE.csv", help=listed)
    parser.add_argument("-p", "--param", metavar="KEY=VALUE", help="parameter of all members", **several)
    parser.add_argument("--duration", type=float, metavar="S", help=f"s, default {TIMES['duration']:g}")
    parser.add_argument("--dt", type=float, metavar="S", help=f"step, s, default {TIMES['dt']:g}")
    add_method(parser)
    add_adaptive(parser)
    add_every(parser)
    add_diagnostics(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FOLDER", help="for table and runs; none kept if not given"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes, default as cores, or some more")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, in place of processes")
    existing = parser.add_mutually_exclusive_group()
    resume = (
        "go on with the ensemble in the folder; --resume any: also with runs of other versions, and of unknown ones"
    )
    add_resume(existing, resume)
    existing.add_argument("--force", action="store_true", help="replace the ensemble in the folder; other files stay")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Run all members; the report sums them up, and lists failed ones."""
    import warnings

    from varint import EnsembleError, FailedMembersWarning, UnresolvedWarning
    from varint.cli.facts import Report
    from varint.studies.ensembles import ensemble

    members = _members(args)
    times = {name: getattr(args, name) for name in TIMES}
    varied = {name for member in members for name in member}
    times |= {name: value for name, value in TIMES.items() if times[name] is None and name not in varied}
    formulation = formulation_of(args)
    options = {name: value for name in OF_RECORDING if (value := getattr(args, name)) is not None}
    options |= arguments_of_method(args, formulation)
    try:
        with _progress(args.quiet) as progress, warnings.catch_warnings():
            for category in (FailedMembersWarning, UnresolvedWarning):  # the report says it
                warnings.simplefilter("ignore", category)
            result = ensemble(
                args.mechanism,
                members,
                **times,
                **options,
                formulation=formulation,
                output=args.output,
                resume=args.resume,
                overwrite=args.force,
                workers=args.workers,
                scheduler=args.scheduler,
                progress=progress,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_resume(args)) from None
    failures, unresolved = result.failures, _unresolved(result)
    failed = f"{len(failures)} of {len(result)} members failed" if failures else ""
    warning = f"the steps of {unresolved} of {len(result)} members did not resolve their motion" if unresolved else ""
    return Report(_parts(args, result), warning=warning, failure=EnsembleError(failed) if failures else None)


def _parts(args: Namespace, ensemble: "Ensemble") -> "list[ReportPart]":
    import numpy as np

    from varint.cli.facts import Data, Fact, FactColumn, Facts, Listing
    from varint.studies.ensembles.figures import FIGURES, MESSAGE, NUMBER, STATUS

    status = list(ensemble.table[STATUS])
    counts = {"done": "done", "stopped": "stopped", "errors": "error"}
    facts = [Fact("members", "members", len(ensemble))]
    facts += [
        Fact(key, f"of these {one}" if status.count(one) else "", status.count(one)) for key, one in counts.items()
    ]
    unresolved = _unresolved(ensemble)
    facts.append(Fact("unresolved", "steps did not resolve the motion of" if unresolved else "", unresolved))
    facts.append(Fact("output", "table and runs" if ensemble.folder else "", args.output))
    rows = []
    for name, values in ensemble.table.items():
        numbers = np.asarray(values) if isinstance(values, np.ndarray) and name != NUMBER else np.zeros(0)
        numbers = numbers[np.isfinite(numbers)]
        if numbers.size:
            spread = (float(numbers.min()), float(numbers.mean()), float(numbers.max()))
            rows.append((name, FIGURES.get(name, ("",))[0], *spread))
    columns = [FactColumn("column", "column"), FactColumn("unit", "unit")]
    columns += [FactColumn(name, name, number=True) for name in ("least", "mean", "largest")]
    failed = [(member.number, member.status, member.message) for member in ensemble.failures]
    of_failed = [
        FactColumn(NUMBER, "member", number=True),
        FactColumn(STATUS, "status"),
        FactColumn(MESSAGE, "message"),
    ]
    of_remarks = [FactColumn(NUMBER, "member", number=True), FactColumn("reason", "reason")]
    return [
        Facts(facts, title=str(args.mechanism)),
        Listing("columns", columns, rows),
        Listing("failures", of_failed, failed, "members that failed"),
        Listing("remarks", of_remarks, list(ensemble.remarks.items()), "members that were done anew"),
        Data({"table": dict(ensemble.table)}),
    ]


def _unresolved(ensemble: "Ensemble") -> int:
    """Return the number of members with steps that did not resolve their motion."""
    import numpy as np

    return int(np.isfinite(np.asarray(ensemble.table["unresolved"], dtype=float)).sum())


def _members(args: Namespace) -> list[dict[str, Any]]:
    """Return the parameters of each member: all combinations of varied values, each with all drawn or listed ones."""
    from varint.base.errors import ArgumentError
    from varint.studies.ensembles import random_draws
    from varint.studies.ensembles.member_parameters import members_of

    fixed = all_parsed(args.param)
    grid: dict[str, list] = {}
    for key, text in map(key_and_text, args.vary):
        _once(key, fixed, grid)
        grid[key] = _values(text)
    drawn: dict[str, tuple] = {}
    for key, text in map(key_and_text, args.draw):
        _once(key, fixed, grid, drawn)
        kind, *numbers = text.split(":")
        drawn[key] = (kind, *map(value_of, numbers))
    if drawn and args.members is None:
        raise ArgumentError("--draw needs --members N, how many are drawn")
    if not drawn and (args.members is not None or args.seed is not None):
        raise ArgumentError("--members and --seed apply to drawn parameters: give --draw KEY=KIND:A:B")
    if drawn and args.list is not None:
        raise ArgumentError("--draw and --list both define the members: leave out one")
    if not grid and not drawn and args.list is None:
        raise ArgumentError("nothing varies: give --vary, --draw or --list; varint run makes a single run")
    others: list[dict[str, Any]] = [{}]
    if drawn:
        others = random_draws(args.members, drawn, seed=args.seed or 0)
    elif args.list is not None:
        others = _listed(args.list)
        for key in {key for member in others for key in member}:
            _once(key, fixed, grid)
    return [{**fixed, **point, **other} for point in members_of(grid) for other in others]


def _once(key: str, *sources: dict) -> None:
    from varint.base.errors import ArgumentError

    if any(key in one for one in sources):
        raise ArgumentError(f"parameter '{key}' is given twice: leave one out")


def _values(text: str) -> list[Any]:
    """Return the values of ``FROM:TO:COUNT``, or the values between the commas of ``text``."""
    import ast

    import numpy as np

    from varint.base.checks import whole_number
    from varint.base.errors import ArgumentError

    numbers = [end for word in text.split(":") if isinstance(end := value_of(word), int | float)]
    if text.count(":") == 2 and len(numbers) == 3:
        first, last, count = numbers
        return np.linspace(first, last, whole_number(count, f"the count in '{text}'", 1, ArgumentError)).tolist()
    try:
        return list(ast.literal_eval(f"[{text}]"))
    except (ValueError, SyntaxError):
        return [value_of(word.strip()) for word in text.split(",")]


def _listed(path: Path) -> list[dict[str, Any]]:
    """Return the members of a CSV file; an empty cell leaves a parameter out."""
    import csv

    from varint.base.errors import FileError

    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, ValueError, csv.Error) as problem:
        raise FileError(f"cannot read '{path}': {getattr(problem, 'strerror', None) or problem}") from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise FileError(f"'{path}' has no member: it needs a line of names, and one a member")
    names = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:]):
        if len(row) != len(names):
            raise FileError(f"'{path}': member {number} has {len(row)} values, there are {len(names)} names")
    return [
        {name: value_of(cell.strip()) for name, cell in zip(names, row, strict=True) if cell.strip()}
        for row in rows[1:]
    ]


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int, int], None] | None]:
    """Yield a callback that draws a bar on a terminal; None elsewhere and if ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[failed]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def progress(done: int, total: int, failures: int) -> None:
            failed = f"{failures} failed" if failures else ""
            if bar.tasks:
                bar.update(bar.task_ids[0], completed=done, failed=failed)
            else:  # only now, so that members that ended before do not count as speed
                bar.add_task("", total=total, completed=done, failed=failed)

        yield progress
