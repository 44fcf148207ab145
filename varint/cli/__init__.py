"""The ``varint`` command. Each subcommand is a file with ``add_parser``; what it needs is imported when it runs."""

import argparse
import sys
from collections.abc import Sequence

from varint.cli import compare, info, plot, run
from varint.errors import ConvergenceError, VarintError

DONE, FAILED, NOT_CONVERGED, INTERRUPTED = 0, 2, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv``, that of the process where not given, and return its exit code.

    2: a user's mistake, 3: a step could not be solved, 130: interrupted.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    args = _parser().parse_args(argv)
    args.command_line = argv
    try:
        args.execute(args)
    except ConvergenceError as problem:
        return _complain(problem, NOT_CONVERGED)
    except VarintError as problem:
        return _complain(problem, FAILED)
    except KeyboardInterrupt as stop:
        hint = f": {stop}" if str(stop) else ""
        print(f"\nvarint: interrupted{hint}", file=sys.stderr)
        return INTERRUPTED
    return DONE


def _complain(problem: Exception, code: int) -> int:
    print(f"varint: error: {' '.join(str(problem).split())}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="varint", description="Simulate mechanisms of rigid bodies and joints.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (run, info, plot, compare):
        command.add_parser(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"varint {version('varint')}")
        parser.exit()
