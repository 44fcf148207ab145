"""``varint run``: simulate a mechanism, to a file and a picture."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.method import method_of
from varint.cli.shared import Commands, add_mechanism, add_resume, how_to_resume, numbers
from varint.cli.stepping import DT, DURATION, add_diagnostics, add_stepping, show_progress, simulated

if TYPE_CHECKING:
    from varint.cli.facts import Report


ABOUT = "Simulate a mechanism. Prints a summary; writes the run to a file and a picture where asked for."


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("run", help="simulate a mechanism", description=ABOUT)
    add_mechanism(parser, "name in the catalogue (varint info lists them), or file of a mechanism")
    add_stepping(parser)
    parser.set_defaults(duration=DURATION, dt=DT, every=1)
    add_diagnostics(parser)
    outputs = "record the start, these times, s, and the last state, in place of the nodes"
    parser.add_argument("--output-times", metavar="T1,T2,...", help=outputs)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.h5", help="record here; in memory only if not given")
    picture = "picture; default: next to the output, none without one"
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help=picture)
    table = "table of coordinates, rates, poses, velocities and energy at the recorded nodes"
    parser.add_argument("--csv", type=Path, metavar="FILE.csv", help=table)
    chosen = "what the table has in their place: coordinates, reactions, force, energy ..., with commas between"
    parser.add_argument("--columns", metavar="GROUP,GROUP,...", help=chosen)
    existing = parser.add_mutually_exclusive_group()
    resume = "go on with the run in the output, and replace picture and table; --resume any: also one that another"
    resume += " version or processor wrote"
    add_resume(existing, resume)
    existing.add_argument(
        "--force", action="store_true", help="replace output, picture and table if they exist; they are kept without"
    )
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Simulate and draw; the report is the summary."""
    from dataclasses import replace

    from varint import ConvergenceError
    from varint.cli.facts import Fact
    from varint.cli.shared import named_mechanism
    from varint.cli.summary import summary
    from varint.files.runs.space import LARGE, size_text

    _check_options(args)
    picture = _check_paths(args)
    mechanism = named_mechanism(args)
    failure = None
    try:
        with show_progress(args.duration, args.quiet) as progress:
            trajectory = simulated(args, mechanism, progress, _recording(args))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_resume(args)) from None
    except ConvergenceError as problem:
        trajectory, failure = problem.trajectory, problem

    if picture:
        from varint.views.plots import plot_run

        plot_run(trajectory, picture)
    if args.csv:
        trajectory.to_csv(args.csv, *_groups(args))
    written = {"output": ("run", args.output), "picture": ("picture", picture), "csv": ("table", args.csv)}
    files = [Fact(key, label if path else "", path) for key, (label, path) in written.items()]
    if args.output and (size := args.output.stat().st_size) >= LARGE:
        files[0] = files[0]._replace(text=f"{args.output}, {size_text(size)}")
    return replace(summary(trajectory, files), failure=failure)


def _recording(args: Namespace) -> dict[str, Any]:
    """Return the options of the recording: output, stride, diagnostics."""
    options = {"output": args.output, "resume": args.resume, "overwrite": args.force}
    options["diagnostics_every"] = args.diagnostics_every
    if args.output_times is not None:
        options["output_times"] = numbers(args.output_times, "--output-times takes numbers, s, as in 0.5,1,1.5")
    return options


def _check_options(args: Namespace) -> None:
    """Raise ArgumentError for useless options and for unknown columns."""
    from varint.base.errors import ArgumentError
    from varint.results.table_columns import GROUPS, listed_name

    method_of(args)
    if args.columns is not None and args.csv is None:
        raise ArgumentError("--columns applies to the table: give it with --csv FILE.csv")
    for group in _groups(args):
        listed_name(group, GROUPS, "--columns: there are no columns")
    if args.resume and args.output is None:
        raise ArgumentError("--resume needs -o, the file of the run to continue")
    if args.force and not (args.output or args.plot or args.csv):
        raise ArgumentError("--force replaces files: it needs -o, --plot or --csv")


def _groups(args: Namespace) -> list[str]:
    """Return the column groups as named, [] for the default table."""
    return [] if args.columns is None else [word.strip() for word in args.columns.split(",")]


def _check_paths(args: Namespace) -> Path | None:
    """Return the path of the picture, if any, after checks of all paths before the run."""
    from varint.base.errors import ArgumentError, FileError
    from varint.base.paths import can_be_written
    from varint.cli.shared import check_picture
    from varint.files.runs.place import check_name

    output, protected = args.output, not (args.resume or args.force)
    if output is not None:
        if output.suffix.lower() == ".csv":
            raise ArgumentError(f"-o records the run itself, .h5: write the table by --csv {output}")
        check_name(output, "output")
        can_be_written(output)
    if output is not None and output.exists() and protected:
        raise FileError(f"'{output}' exists: continue it by --resume, or replace it by --force")
    picture = args.plot or (output and output.with_suffix(".png"))
    if picture is not None:
        check_picture(picture, output)
    if args.csv is not None:
        if args.csv.suffix.lower() != ".csv":
            raise ArgumentError(f"tables are CSV files: '{args.csv}' must end in .csv")
        can_be_written(args.csv)
    for label, option, path in (("picture", "--plot", picture), ("table", "--csv", args.csv)):
        if path is not None and path.exists() and protected:
            raise FileError(f"the {label} '{path}' exists: replace it by --force, or name another by {option}")
    return picture
