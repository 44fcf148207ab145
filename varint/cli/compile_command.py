"""``varint compile``: compile for this processor all that runs need, before they need it."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands

if TYPE_CHECKING:
    from varint.cli.facts import Report

ABOUT = "Compile all that runs need, for this very processor, on all cores; what is there already is not done again."


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("compile", help=COMMANDS["compile"], description=ABOUT)
    parser.add_argument("--jobs", type=int, metavar="N", help="processes at a time, default one a core")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Run every kind once, each in a process of its own."""
    from varint.base.checks import whole_number
    from varint.base.errors import ArgumentError, FileError
    from varint.base.numba.cache import cache_folder
    from varint.cli.facts import Fact, FactColumn, Facts, Listing, Report
    from varint.cli.warming import KINDS, warm

    jobs = 0 if args.jobs is None else whole_number(args.jobs, "--jobs", 1, ArgumentError)
    if cache_folder() is None:
        raise FileError("no folder can be written for compiled functions: set NUMBA_CACHE_DIR")
    rows = []
    for done in warm(jobs=jobs, shipped=False):
        rows.append((done.kind, done.compiled, done.kept, round(done.seconds, 1)))
        if not args.quiet:
            print(
                f"varint: {len(rows)} of {len(KINDS)}: {done.kind}, {done.seconds:.0f} s", file=sys.stderr, flush=True
            )
    columns = (
        FactColumn("kind", "kind of run"),
        FactColumn("compiled", "compiled", number=True),
        FactColumn("kept", "there", number=True),
        FactColumn("seconds", "took", "s", number=True),
    )
    folder = Fact("folder", "kept in", str(cache_folder()))
    return Report([Listing("kinds", columns, rows), Facts([folder])])
