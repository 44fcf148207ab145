"""Simulation options shared by subcommands, and the run that they define."""

import contextlib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from varint.cli.method import add_adaptive, add_method, method_of

if TYPE_CHECKING:
    from varint.mechanism.mechanism import Mechanism
    from varint.runs.trajectory import Trajectory

Progress = Callable[[float, float], object]
DURATION, DT = 10.0, 0.01  # s, where they are not given
AUTO = "auto"


def add_stepping(parser: ArgumentParser) -> None:
    """Add the options of a simulation; omitted ones are None, or False."""
    parser.add_argument("--duration", type=float, metavar="S", help=f"s, default {DURATION:g}")
    step = f"step, s, default {DT:g}; auto: chosen, as the scheme is where none is given, by --energy-error"
    parser.add_argument("--dt", type=_step, metavar="S", help=step)
    wanted = "with --dt auto, the largest wanted, of the largest kinetic energy, default 1e-4"
    parser.add_argument("--energy-error", type=float, metavar="SHARE", help=wanted)
    add_method(parser)
    add_adaptive(parser)
    halved = "do steps in which energy comes from nowhere again in halves"
    parser.add_argument("--substep", action="store_true", help=halved)
    add_every(parser)


def add_every(parser: ArgumentParser) -> None:
    """Add ``--every``."""
    parser.add_argument("--every", type=int, metavar="N", help="record each N-th node")


def add_diagnostics(parser: ArgumentParser) -> None:
    """Add ``--diagnostics-every``."""
    diagnostics = "record energy, momenta and drift of each N-th node; divides --every"
    parser.add_argument("--diagnostics-every", type=int, metavar="N", help=diagnostics)


def simulated(
    args: Namespace, mechanism: "Mechanism", progress: Progress | None, recording: Mapping[str, Any]
) -> "Trajectory":
    """Return the trajectory by the method of the options; ``recording``: arguments of a `Recording`."""
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
    """Yield a callback that draws a bar on a terminal; None elsewhere and if ``quiet``."""
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
