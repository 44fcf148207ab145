"""``varint compare``: a mechanism in maximal and in reduced coordinates, as tables and a figure."""

import contextlib
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.method import registered_by
from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_mechanism, own_settings

if TYPE_CHECKING:
    from varint.cli.facts import Report


OPTIONS = ("duration", "dt", "order", "integrators", "peers", "rtol")
ABOUT = "Simulate a mechanism in maximal and in reduced coordinates, and compare: tables, and where asked for a figure."


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    from varint.extras.peers.base import simulators
    from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS
    from varint.methods.variational.schemes import ORDERS
    from varint.runs.method import methods_by_integrator

    parser = commands.add_parser("compare", help=COMMANDS["compare"], description=ABOUT)
    add_mechanism(parser, "name in the catalogue (varint info lists them), or file of a mechanism", nargs="?")
    every = "every mechanism of the catalogue with its documented step: a page with a line each"
    parser.add_argument("--all", action="store_true", help=every)
    parser.add_argument("--duration", type=float, metavar="S", help="s, default 1")
    steps = "steps, s, from the largest to the smallest, default 0.01,0.005,0.0025"
    parser.add_argument("--dt", type=numbers, metavar="S,S,...", help=steps)
    orders = f"of the variational integrator: {', '.join(map(str, ORDERS))}; default 2"
    parser.add_argument("--order", type=whole_numbers, metavar="N,N,...", help=orders)
    integrators = (
        f"of reduced coordinates: {', '.join(INTEGRATORS)}; of varint.Maximal:"
        f" {', '.join(name for name in methods_by_integrator() if name not in INTEGRATORS)}; scripts that register a"
        f" method of your own, .py; default {DEFAULT}"
    )
    parser.add_argument("--integrators", type=_words, metavar="NAME,...", help=integrators)
    peer = f"another simulator: {', '.join(simulators())}, or with its integrator, as mujoco:rk4; can be repeated"
    parser.add_argument("--peer", dest="peers", action="append", metavar="NAME", help=peer)
    parser.add_argument("--rtol", type=float, help="tolerance of the reference, default 1e-12")
    output = "folder for page, numbers and figure, or one file: .md, .json, .png, .pdf; replaced if it exists"
    parser.add_argument("-o", "--output", type=Path, metavar="PATH", help=output)
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Compare and save; return the report: the page, and as data the numbers."""
    from varint.base.errors import ArgumentError

    if args.all == bool(args.mechanism):
        raise ArgumentError("compare needs a mechanism, or --all of the catalogue, one of the two")
    options = {name: getattr(args, name) for name in OPTIONS if getattr(args, name) is not None}
    return _all(args, options) if args.all else _one(args, options)


def _one(args: Namespace, settings: dict[str, Any]) -> "Report":
    from varint import compare
    from varint.cli.facts import Data, FactTable, Files, Report
    from varint.cli.shared import named_mechanism
    from varint.studies.comparison.comparison_page import facts, tables, title
    from varint.studies.comparison.figures_of import numbers as numbers_of
    from varint.studies.comparison.files import check_output

    if args.output:
        check_output(args.output)
    mechanism = named_mechanism(args)
    if "integrators" in settings:
        settings["integrators"] = [registered_by(Path(w)) if w.endswith(".py") else w for w in settings["integrators"]]
    with _progress(args.quiet) as progress:
        comparison = compare(mechanism, progress=progress, **settings)
    if args.output:
        own_settings()
    saved = comparison.save(args.output) if args.output else []
    fact_table = FactTable(("", ""), list(facts(comparison).items()), title(comparison))
    page = [FactTable(table.columns, table.rows, table.title, table.notes) for table in tables(comparison)]
    return Report([Data(numbers_of(comparison)), fact_table, *page, Files("output", saved)])


def _all(args: Namespace, settings: dict[str, Any]) -> "Report":
    from varint import compare_catalogue
    from varint.base.errors import ArgumentError
    from varint.cli.facts import Data, FactTable, Files, Report
    from varint.studies.comparison.files import text_path

    order = settings.pop("order", [2])
    if settings or args.param or args.repair or args.packages or len(order) > 1:
        raise ArgumentError("--all takes one --order, and --output: each mechanism has steps and parameters of its own")
    if args.output:
        text_path(args.output)
    with _progress(args.quiet) as progress:
        comparison = compare_catalogue(order=order[0], progress=progress)
    if args.output:
        own_settings()
    saved = [comparison.save(args.output)] if args.output else []
    table = comparison.table()
    page = FactTable(table.columns, table.rows, table.title, table.notes)
    return Report([Data(comparison.numbers()), page, Files("output", saved)])


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    for number, word in enumerate(words):
        if word in words[:number]:
            raise ArgumentTypeError(f"'{word}' is named twice")
    return words


def numbers(text: str) -> list[float]:
    """Return the numbers between the commas of ``text``."""
    return _converted(text, float, "number")


def whole_numbers(text: str) -> list[int]:
    """Return the whole numbers between the commas of ``text``."""
    return _converted(text, int, "whole number")


def _converted(text: str, kind: Callable[[str], Any], label: str) -> list[Any]:
    values = []
    for word in _words(text):
        try:
            values.append(kind(word))
        except ValueError:
            raise ArgumentTypeError(f"'{word}' is not a {label}") from None
    return values


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """Yield a callback that shows the present run on a terminal; None elsewhere and if ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda done, total, name: status.update(f"{done + 1} of {total}: {name}")
