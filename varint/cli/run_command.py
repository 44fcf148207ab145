"""``varint run``: simulate a mechanism; write the run, a picture and a table to files, print a summary."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.method import method_of
from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_mechanism, add_resume, how_to_resume, numbers
from varint.cli.stepping import DURATION, add_diagnostics, add_stepping, show_progress, simulated

if TYPE_CHECKING:
    from varint.cli.facts import Report
    from varint.mechanism.mechanism import Mechanism


ABOUT = "Simulate a mechanism and print a summary. Options write the run, a picture and a table to files."


def add_parser(commands: Commands) -> None:
    """Add the subcommand ``run`` to ``commands``, the subparsers of ``varint``."""
    parser = commands.add_parser("run", help=COMMANDS["run"], description=ABOUT)
    add_mechanism(parser, "name in the catalogue (see varint info), or path of a mechanism file")
    add_stepping(parser)
    parser.set_defaults(duration=DURATION, every=1)
    add_diagnostics(parser)
    times_help = "record the initial state, the states at these times (in s) and the final state, instead of every node"
    parser.add_argument("--output-times", metavar="T1,T2,...", help=times_help)
    output_help = "write the run to this file (.h5); without it the run is not saved"
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.h5", help=output_help)
    plot_help = "write a picture of the run to this file; default: the path of -o with .png; without -o, no picture"
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help=plot_help)
    csv_help = "write a table to this file: joint coordinates and their rates, poses and velocities of bodies, energy;"
    csv_help += " one row per recorded node"
    parser.add_argument("--csv", type=Path, metavar="FILE.csv", help=csv_help)
    columns_help = "column groups of the table, comma-separated, such as coordinates,reactions,force,energy"
    columns_help += " (docs/pictures.md); default: those named at --csv"
    parser.add_argument("--columns", metavar="GROUP,GROUP,...", help=columns_help)
    existing = parser.add_mutually_exclusive_group()
    resume_help = "continue the run in the file of -o, and replace picture and table; --resume any also accepts a file"
    resume_help += " written by another version of varint or on another processor"
    add_resume(existing, resume_help)
    force_help = "replace run, picture and table if the files exist; without it, existing files are an error"
    existing.add_argument("--force", action="store_true", help=force_help)
    parser.set_defaults(execute=execute)


def tell_oddities(mechanism: "Mechanism") -> None:
    """Print a sentence on stderr for each number of the description of ``mechanism`` that looks wrong."""
    from varint.base.printable import tell
    from varint.kinematics.oddities import oddities

    for sentence in oddities(mechanism, mechanism.compiled):
        tell(f"looks wrong: {sentence}")


def execute(args: Namespace) -> "Report":
    """Simulate, write the requested files and return a summary of the run as a `Report`.

    If a step does not converge, the files and the summary cover the run up to that step, and the report has the
    ConvergenceError as its ``failure``.

    Raises
    ------
    ArgumentError, FileError
        Wrong options, or a file that exists or cannot be written: raised before the simulation, except if the disk
        fills up during or after it.
    MechanismError
        A mechanism that cannot be built from its file or parameters.
    KeyboardInterrupt
        The user interrupted the run; the message gives the command that resumes it, if its file has been written.
    """
    from dataclasses import replace

    from varint import ConvergenceError
    from varint.cli.facts import Fact
    from varint.cli.shared import named_mechanism
    from varint.cli.summary import summary
    from varint.files.runs.space import LARGE, size_text

    resumable = _check_options(args)
    picture = _check_paths(args, resumable)
    mechanism = named_mechanism(args)
    if not args.quiet:
        tell_oddities(mechanism)
    failure = None
    try:
        with show_progress(args.duration, args.quiet) as progress:
            trajectory = simulated(args, mechanism, progress, _recording(args))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_resume(args) if resumable else "") from None
    except ConvergenceError as problem:
        trajectory, failure = problem.trajectory, problem

    if picture:
        from varint.views.plots import plot_run

        plot_run(trajectory, picture)
    if args.csv:
        trajectory.to_csv(args.csv, *_groups(args))
    # Files that were not written have no label: they are in the JSON object only, as null.
    written = {"output": ("run", args.output), "picture": ("picture", picture), "csv": ("table", args.csv)}
    files = [Fact(key, label if path else "", path) for key, (label, path) in written.items()]
    # The table shows the size of a large file; the value in the JSON object remains the path.
    if args.output and (size := args.output.stat().st_size) >= LARGE:
        files[0] = files[0]._replace(text=f"{args.output}, {size_text(size)}")
    return replace(summary(trajectory, files), failure=failure)


def _recording(args: Namespace) -> dict[str, Any]:
    """Return the keyword arguments of a `Recording`: output, resume, overwrite, diagnostics_every, output_times.

    ``every`` and ``progress`` are added by `simulated`. Raises ArgumentError if ``--output-times`` are not numbers.
    """
    options = {"output": args.output, "resume": args.resume, "overwrite": args.force}
    options["diagnostics_every"] = args.diagnostics_every
    if args.output_times is not None:
        options["output_times"] = numbers(args.output_times, "--output-times takes times in s, such as 0.5,1,1.5")
    return options


def _check_options(args: Namespace) -> bool:
    """Return whether runs of the method can be resumed.

    Raises ArgumentError for options that need another option, and for unknown column groups; FileError if the script of
    ``--method`` cannot be read.
    """
    from varint.base.errors import ArgumentError
    from varint.results.table_columns import GROUPS, listed_name

    method = method_of(args)  # refuses wrong options now; `simulated` makes the method that runs
    if args.columns is not None and args.csv is None:
        raise ArgumentError("--columns selects columns of the table: add --csv FILE.csv")
    for group in _groups(args):
        listed_name(group, GROUPS, "--columns: unknown column group")
    if args.resume and args.output is None:
        raise ArgumentError("--resume needs -o FILE.h5, the run to continue")
    if args.force and not (args.output or args.plot or args.csv):
        raise ArgumentError("--force replaces existing files: add -o, --plot or --csv")
    return method.resumable


def _groups(args: Namespace) -> list[str]:
    """Return the names of the column groups in ``--columns``, unchecked; [] for the default table."""
    return [] if args.columns is None else [word.strip() for word in args.columns.split(",")]


def _check_paths(args: Namespace, resumable: bool) -> Path | None:
    """Check that run, picture and table can be written; return the path of the picture, if any.

    Writes nothing. Raises ArgumentError for a wrong suffix, or the same path for picture and run; FileError if a path
    cannot be written, or if it exists and neither ``--resume`` nor ``--force`` is used.
    """
    from varint.base.errors import ArgumentError, FileError
    from varint.base.paths import can_be_written
    from varint.cli.shared import check_picture
    from varint.files.runs.place import check_name

    output, protected = args.output, not (args.resume or args.force)
    if output is not None:
        if output.suffix.lower() == ".csv":
            raise ArgumentError(f"-o: the path of the run must end in .h5; use --csv {output} to write a table")
        check_name(output, "output")
        can_be_written(output)
    if output is not None and output.exists() and protected:
        go_on = "use --resume to continue it, or --force" if resumable else "use --force"
        raise FileError(f"'{output}' exists: {go_on} to replace it")
    picture = args.plot or (output and output.with_suffix(".png"))
    if picture is not None:
        check_picture(picture, output)
    if args.csv is not None:
        if args.csv.suffix.lower() != ".csv":
            raise ArgumentError(f"--csv: the path '{args.csv}' must end in .csv")
        can_be_written(args.csv)
    for label, option, path in (("picture", "--plot", picture), ("table", "--csv", args.csv)):
        if path is not None and path.exists() and protected:
            raise FileError(f"the {label} '{path}' exists: use --force to replace it, or {option} for another path")
    return picture
