"""Simulation options shared by subcommands, and the run that they define."""

import contextlib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from varint.cli.method import AUTO, DT, add_adaptive, add_method, method_of

if TYPE_CHECKING:
    from varint.mechanism.mechanism import Mechanism
    from varint.runs.trajectory import Trajectory

Progress = Callable[[float, float], object]
DURATION = 10.0  # s, default


def add_stepping(parser: ArgumentParser) -> None:
    """Add the options of a simulation; omitted ones are None, or False."""
    parser.add_argument("--duration", type=float, metavar="S", help=f"duration, s, default {DURATION:g}")
    dt_help = f"time step, s, default {DT:g}; auto: chosen by --energy-error, as is the method if none is specified"
    parser.add_argument("--dt", type=_step, metavar="S", help=dt_help)
    error_help = "choose the step for this largest energy error, relative to the largest kinetic energy; default with"
    error_help += " --dt auto: 1e-4"
    parser.add_argument("--energy-error", type=float, metavar="RATIO", help=error_help)
    add_method(parser)
    add_adaptive(parser)
    substep_help = "repeat unresolved steps (by their energy balance) in two halves, again if necessary"
    parser.add_argument("--substep", action="store_true", help=substep_help)
    add_every(parser)


def add_every(parser: ArgumentParser) -> None:
    """Add ``--every``."""
    parser.add_argument("--every", type=int, metavar="N", help="record every N-th node and the last one")


def add_diagnostics(parser: ArgumentParser) -> None:
    """Add ``--diagnostics-every``."""
    diagnostics_help = "record energy, momenta and drift of every N-th node; N must divide --every"
    parser.add_argument("--diagnostics-every", type=int, metavar="N", help=diagnostics_help)


def simulated(
    args: Namespace, mechanism: "Mechanism", progress: Progress | None, recording: Mapping[str, Any]
) -> "Trajectory":
    """Simulate ``args.duration`` by the method of the options and return the run.

    ``progress``: callback of `show_progress`; ``recording``: further arguments of a `Recording`.
    """
    import varint
    from varint.runs.method import solve

    problem = varint.Problem(mechanism, args.duration)
    return solve(problem, method_of(args), varint.Recording(every=args.every, progress=progress, **recording))


def _step(text: str) -> float | str:
    try:
        return text if text == AUTO else float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number or {AUTO}, got '{text}'") from None


@contextlib.contextmanager
def show_progress(duration: float, quiet: bool) -> Iterator[Progress | None]:
    """Yield a callback that draws a progress bar on a terminal; None if stderr is no terminal, or ``quiet``."""
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
            else:  # added at the first call: nodes before a resume must not count in the estimated speed
                bar.add_task("", total=steps, completed=int(done), simulated=simulated)

        yield progress
