"""The ``varint`` command. Each subcommand is a file with ``add_parser``; what it needs is imported when it runs.

A subcommand returns a `Report`. Here it is shown, or written as JSON, and errors become lines and exit codes.
"""

import argparse
import contextlib
import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from varint.base.checks import OF_USERS
from varint.base.errors import ConvergenceError, EnsembleError, FileError, VarintError
from varint.base.printable import printable
from varint.cli.facts import Report, json_line
from varint.cli.parser import COMMANDS, Parser, UsageError, first_word, parse
from varint.cli.shared import stdout_console

DONE, FAILED, NOT_CONVERGED, INTERRUPTED = 0, 2, 3, 130
PRINTING = ("info", "doctor", "completion")  # all that they do is to print
OPTIONS = {
    "resume=True": "--resume",
    "resume='any'": "--resume any",
    "overwrite=True": "--force",
    "repair=True": "--repair",
    "packages=": "--packages",
}  # what messages say in Python, and here


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv``, that of the process where not given, and return its exit code.

    2: a user's mistake, 3: a step could not be solved, or members of an ensemble failed, 130: interrupted. Wrong usage
    raises SystemExit(2). Without arguments the help is printed.
    """
    try:
        return _main(sys.argv[1:] if argv is None else list(argv))
    finally:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None where there is none
            try:
                stream.flush()
            except OSError:
                _let_go(stream)


def _main(argv: list[str]) -> int:
    parser, commands = _parser(argv)
    if not argv:
        _write(parser.format_help().rstrip(), sys.stdout)
        return DONE
    try:
        args = parse(parser, commands, argv)
    except UsageError as wrong:
        if "--json" in argv:
            _write(json_line(_as_data(wrong, str(wrong))), sys.stdout)
        parser.exit(FAILED, printable(f"varint: error: {wrong}\n"))
    args.command_line = argv
    report = Report()
    values: dict[str, Any] = {}
    problem: BaseException | None = None
    try:
        with _stdout_kept_clean(args), _plain_warnings():
            report = args.execute(args)
            values = report.data() if args.json else {}
        problem = report.failure
    except (Exception, KeyboardInterrupt) as raised:
        problem = raised
    code, text = _error_text(problem)
    try:
        if args.json:
            _write(json_line(values | _as_data(problem, text)), sys.stdout)
        elif sys.stdout and not args.quiet:
            report.show(stdout_console())
            sys.stdout.flush()
    except BrokenPipeError:
        _let_go(sys.stdout)  # nobody reads on
    except OSError as full:
        _let_go(sys.stdout)
        code, text = _error_text(FileError(f"cannot write the output: {full.strerror or full}"))
    if problem is not None and args.traceback and code != INTERRUPTED:
        traceback.print_exception(problem)
    if report.warning and (args.json or args.quiet):
        _write(f"varint: warning: {report.warning}", sys.stderr)
    if text:
        before = "varint: " if code == INTERRUPTED else "varint: error: "
        _write("\n".join(before + line for line in text.splitlines()), sys.stderr)
    return code


def _error_text(problem: BaseException | None) -> tuple[int, str]:
    """Return the exit code and a line on each mistake. Raises defects of the package again."""
    if problem is None:
        return DONE, ""
    if isinstance(problem, KeyboardInterrupt):
        return INTERRUPTED, f"interrupted: {problem}" if str(problem) else "interrupted"
    notes, text, code = getattr(problem, "__notes__", []), str(problem), FAILED
    if isinstance(problem, ConvergenceError | EnsembleError):
        code = NOT_CONVERGED
    elif not isinstance(problem, VarintError):
        if not any(note.startswith(OF_USERS) for note in notes):
            raise problem
        text = f"{type(problem).__name__}: {text}"
    mistakes = text.splitlines() if isinstance(problem, VarintError) else [text]  # those of a file, a line each
    text = "\n".join(" ".join("; ".join([line, *notes]).split()) for line in mistakes or [""])
    for of_python, of_command in OPTIONS.items():
        text = text.replace(of_python, of_command)
    return code, text


def _as_data(problem: BaseException | None, text: str) -> dict[str, str]:
    return {} if problem is None else {"error": text, "kind": type(problem).__name__}


def _write(line: str, stream: TextIO) -> None:
    """Print the line, unless nobody reads on."""
    try:
        print(printable(line), file=stream, flush=True)
    except BrokenPipeError:
        _let_go(stream)


def _stdout_kept_clean(args: argparse.Namespace) -> contextlib.AbstractContextManager:
    """Send prints of mechanism files to stderr while a command with --json or --quiet runs."""
    return contextlib.redirect_stdout(sys.stderr) if args.json or args.quiet else contextlib.nullcontext()


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print warnings as lines on stderr, without the place in the code that gave them."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        _write(f"varint: warning: {message}", sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _let_go(stream: TextIO) -> None:
    """Drop unwritten output, which Python would complain about at the end of the process."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _parser(argv: Sequence[str] = ()) -> tuple[Parser, dict[str, Parser]]:
    """Return the parser, and the parsers of the subcommands: of the one that ``argv`` names, or of all.

    Where ``argv`` names none, those of all have no options; with their options if it is empty.
    """
    parser = Parser(prog="varint", description="Simulate mechanisms of rigid bodies and joints.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    traceback = "show where in the code an error was raised"
    parser.add_argument("--traceback", action="store_true", help=traceback)
    parser.set_defaults(quiet=False)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    named = first_word(argv)
    for command in [named] if named in COMMANDS else COMMANDS:
        if command == named or not argv:
            importlib.import_module(f"varint.cli.{command}_command").add_parser(commands)
        else:  # for its line in the help alone: the options of all commands take long to import
            commands.add_parser(command, help=COMMANDS[command])
    for name, subcommand in commands.choices.items():
        # no default, which would undo what stands before the command
        subcommand.add_argument("--traceback", action="store_true", default=argparse.SUPPRESS, help=traceback)
        subcommand.add_argument("--json", action="store_true", help="print one JSON object, and nothing else on stdout")
        if name not in PRINTING:
            subcommand.add_argument(
                "--quiet",
                action="store_true",
                help="print nothing on stdout but the object of --json; warnings and errors go to stderr",
            )
    return parser, commands.choices


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from varint.cli.doctor_command import version

        _write(version(), sys.stdout)
        parser.exit()
