"""``varint run``: simulate a mechanism, to a file and a picture."""

import contextlib
import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.common import Commands, add_mechanism, add_method, how_to_resume, numbers

if TYPE_CHECKING:
    from varint.analysis.trajectory import Trajectory
    from varint.cli.facts import Report
    from varint.mechanism import Mechanism


ABOUT = "Simulate a mechanism. Prints a summary; writes the run to a file and a picture where asked for."


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("run", help="simulate a mechanism", description=ABOUT)
    add_mechanism(parser, "name in the catalogue (varint info lists them), or file of a mechanism")
    parser.add_argument("--duration", type=float, default=10.0, metavar="S", help="s, default %(default)g")
    step = "step, s, default %(default)g; auto: chosen, as the scheme is where none is given, by --energy-error"
    parser.add_argument("--dt", type=_step, default=0.01, metavar="S", help=step)
    wanted = "with --dt auto, the largest wanted, of the largest kinetic energy, default 1e-4"
    parser.add_argument("--energy-error", type=float, metavar="SHARE", help=wanted)
    add_method(parser)
    follow = (
        "steps that follow the motion and turn the fastest body by so many rad, 0.1 where none is given and 0.05 at"
        " order 2; at most --dt"
    )
    parser.add_argument("--adaptive", type=float, nargs="?", const=True, metavar="RAD", help=follow)
    halved = "do steps in which energy comes from nowhere again in halves"
    parser.add_argument("--substep", action="store_true", help=halved)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="record each N-th node")
    diagnostics = "record energy, momenta and drift of each N-th node; divides --every"
    parser.add_argument("--diagnostics-every", type=int, metavar="N", help=diagnostics)
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
    resume = "go on with the run in the output, and replace picture and table"
    existing.add_argument("--resume", action="store_true", help=resume)
    existing.add_argument(
        "--force", action="store_true", help="replace output, picture and table if they exist; they are kept without"
    )
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Simulate and draw; the report is the summary."""
    from dataclasses import replace

    from varint import ConvergenceError
    from varint.cli.common import find_mechanism
    from varint.cli.facts import Fact
    from varint.cli.summary import summary
    from varint.io.room import TOLD, size_text

    _check_options(args)
    picture = _check_paths(args)
    mechanism = find_mechanism(args.mechanism, args.param)
    failure = None
    try:
        with _progress(args.duration, args.quiet) as progress:
            trajectory = _simulate(args, mechanism, progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(how_to_resume(args)) from None
    except ConvergenceError as problem:
        trajectory, failure = problem.trajectory, problem

    if picture:
        from varint.viz.plots import plot_run

        plot_run(trajectory, picture)
    if args.csv:
        trajectory.to_csv(args.csv, *_groups(args))
    written = {"output": ("run", args.output), "picture": ("picture", picture), "csv": ("table", args.csv)}
    files = [Fact(key, label if path else "", path) for key, (label, path) in written.items()]
    if args.output and (size := args.output.stat().st_size) >= TOLD:
        files[0] = files[0]._replace(text=f"{args.output}, {size_text(size)}")
    return replace(summary(trajectory, files), failure=failure)


def _simulate(
    args: Namespace, mechanism: "Mechanism", progress: Callable[[float, float], object] | None
) -> "Trajectory":
    """The trajectory, in maximal coordinates or by the integrator of reduced ones."""
    import varint

    common = {"every": args.every, "output": args.output, "resume": args.resume, "progress": progress}
    common |= {"overwrite": args.force, "diagnostics_every": args.diagnostics_every}
    if args.output_times is not None:
        common["output_times"] = numbers(args.output_times, "--output-times takes numbers, s, as in 0.5,1,1.5")
    if args.integrator is None:
        scheme = _given(order=args.order, scheme=args.scheme, tol=args.tol, energy_error=args.energy_error)
        scheme |= _given(adaptive=args.adaptive) | {"on_unresolved": "substep" if args.substep else "ignore"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", varint.UnresolvedWarning)  # the summary says it
            return varint.simulate(mechanism, args.duration, args.dt, **scheme, **common)
    chosen = _given(integrator=args.integrator, rtol=args.rtol, dt=args.dt)
    return varint.redmax.simulate(mechanism, args.duration, **chosen, **common)


def _step(text: str) -> float | str:
    return text if text == "auto" else float(text)


def _given(**options: object) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _check_options(args: Namespace) -> None:
    """Raises ArgumentError for options that would have no effect, and for columns that there are none of."""
    from varint.analysis.columns import GROUPS, listed_name
    from varint.errors import ArgumentError
    from varint.redmax.integrators import INTEGRATORS

    if args.integrator is None and args.rtol is not None:
        raise ArgumentError("--rtol belongs to --integrator: give both, or --tol for a scheme")
    if args.rtol is not None and INTEGRATORS[args.integrator].fixed:
        raise ArgumentError(f"--rtol is of integrators with error control, '{args.integrator}' is none: leave it out")
    of_schemes = {"--dt auto": args.dt if args.dt == "auto" else None, "--energy-error": args.energy_error}
    of_schemes |= {"--adaptive": args.adaptive, "--substep": args.substep or None}
    of_schemes |= {f"--{name}": getattr(args, name) for name in ("order", "tol")}
    for name, value in of_schemes.items():
        if args.integrator is not None and value is not None:
            raise ArgumentError(f"{name} is of the schemes in maximal coordinates: leave out either it or --integrator")
    if args.energy_error is not None and args.dt != "auto":
        raise ArgumentError("--energy-error belongs to --dt auto, which chooses the step by it: give both or neither")
    if args.scheme is not None and args.order is not None:
        raise ArgumentError("--scheme has an order of its own: leave out --order")
    if args.columns is not None and args.csv is None:
        raise ArgumentError("--columns is of the table: give it with --csv FILE.csv")
    for group in _groups(args):
        listed_name(group, GROUPS, "--columns: there are no columns")
    if args.resume and args.output is None:
        raise ArgumentError("--resume needs -o, the file of the run to go on with")
    if args.force and not (args.output or args.plot or args.csv):
        raise ArgumentError("--force replaces files: it needs -o, --plot or --csv")


def _groups(args: Namespace) -> list[str]:
    """Of columns, as named; none where the table is the usual one."""
    return [] if args.columns is None else [word.strip() for word in args.columns.split(",")]


def _check_paths(args: Namespace) -> Path | None:
    """Path of the picture, if any; everything that can be wrong with a path, before the run."""
    from varint.cli.common import check_picture
    from varint.errors import ArgumentError, FileError
    from varint.io.place import check_name
    from varint.model.checks import can_be_written

    output, kept = args.output, not (args.resume or args.force)
    if output is not None:
        if output.suffix.lower() == ".csv":
            raise ArgumentError(f"-o records the run itself, .h5: write the table by --csv {output}")
        check_name(output, "output")
        can_be_written(output)
    if output is not None and output.exists() and kept:
        raise FileError(f"'{output}' exists: go on with it by --resume, or replace it by --force")
    picture = args.plot or (output and output.with_suffix(".png"))
    if picture is not None:
        check_picture(picture, output)
    if args.csv is not None:
        if args.csv.suffix.lower() != ".csv":
            raise ArgumentError(f"tables are CSV files: '{args.csv}' must end in .csv")
        can_be_written(args.csv)
    for what, option, path in (("picture", "--plot", picture), ("table", "--csv", args.csv)):
        if path is not None and path.exists() and kept:
            raise FileError(f"the {what} '{path}' exists: replace it by --force, or name another by {option}")
    return picture


@contextlib.contextmanager
def _progress(duration: float, quiet: bool) -> Iterator[Callable[[float, float], None] | None]:
    """A callback that draws a bar on a terminal, None elsewhere and where it shall be ``quiet``."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[simulated]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def progress(done: float, steps: float) -> None:
            simulated = f"{done / steps * duration:.1f} of {duration:.1f} s"
            if bar.tasks:
                bar.update(bar.task_ids[0], completed=done, simulated=simulated)
            else:  # only now, so that what a resumed run had done before does not count as speed
                bar.add_task("", total=steps, completed=int(done), simulated=simulated)

        yield progress
