"""The ``varint`` command. Each subcommand is a file with ``add_parser``; what it needs is imported when it runs."""

import argparse
import sys
from collections.abc import Sequence

from varint.cli import compare, info, plot, run
from varint.errors import ConvergenceError, VarintError
from varint.model.checks import OF_USERS

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
    except Exception as problem:
        if args.traceback:
            raise
        return _told(problem)
    except KeyboardInterrupt as stop:
        hint = f": {stop}" if str(stop) else ""
        print(f"\nvarint: interrupted{hint}", file=sys.stderr)
        return INTERRUPTED
    return DONE


def _told(problem: Exception) -> int:
    """Say in a line what went wrong, and whose function it was that raised it; an error of the package goes on."""
    notes, text, code = getattr(problem, "__notes__", []), str(problem), FAILED
    if isinstance(problem, ConvergenceError):
        code = NOT_CONVERGED
    elif not isinstance(problem, VarintError):
        if not any(note.startswith(OF_USERS) for note in notes):
            raise problem
        text = f"{type(problem).__name__}: {text}"
    line = " ".join("; ".join([text, *notes]).split())
    print(f"varint: error: {line}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="varint", description="Simulate mechanisms of rigid bodies and joints.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (run, info, plot, compare):
        command.add_parser(commands)
    for own in commands.choices.values():
        own.add_argument("--traceback", action="store_true", help="show where in the code an error was raised")
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from varint import __version__

        print(f"varint {__version__}")
        parser.exit()
