"""How a mechanism is simulated: the options that subcommands share, and the run that they ask for."""

import contextlib
import sys
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from varint.cli.common import add_method

if TYPE_CHECKING:
    from varint.mechanism import Mechanism
    from varint.trajectory import Trajectory

Progress = Callable[[float, float], object]
DURATION, DT = 10.0, 0.01  # s, where they are not given
AUTO = "auto"


def add_stepping(parser: ArgumentParser) -> None:
    """Options of a simulation; those that are not given are None, or False."""
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


def add_adaptive(parser: ArgumentParser) -> None:
    """``--adaptive``."""
    follow = (
        "steps that follow the motion and turn the fastest body by so many rad, 0.1 where none is given and 0.05 at"
        " order 2; at most --dt"
    )
    parser.add_argument("--adaptive", type=float, nargs="?", const=True, metavar="RAD", help=follow)


def add_every(parser: ArgumentParser) -> None:
    """``--every``."""
    parser.add_argument("--every", type=int, metavar="N", help="record each N-th node")


def add_diagnostics(parser: ArgumentParser) -> None:
    """``--diagnostics-every``."""
    diagnostics = "record energy, momenta and drift of each N-th node; divides --every"
    parser.add_argument("--diagnostics-every", type=int, metavar="N", help=diagnostics)


def simulated(
    args: Namespace, mechanism: "Mechanism", progress: Progress | None, recording: Mapping[str, Any]
) -> "Trajectory":
    """The trajectory, in maximal coordinates or by the integrator of reduced ones; ``recording``: of `simulate`."""
    import varint

    common = {"every": args.every, "progress": progress, **recording}
    if args.integrator is None:
        scheme = given(order=args.order, scheme=args.scheme, tol=args.tol, energy_error=args.energy_error)
        scheme |= given(adaptive=args.adaptive) | {"on_unresolved": "substep" if args.substep else "ignore"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", varint.UnresolvedWarning)  # the summary says it
            return varint.simulate(mechanism, args.duration, args.dt, **scheme, **common)
    chosen = given(integrator=args.integrator, rtol=args.rtol, dt=args.dt)
    return varint.redmax.simulate(mechanism, args.duration, **chosen, **common)


def given(**options: object) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def check_method(args: Namespace) -> None:
    """Raises ArgumentError for options of the method that would have no effect."""
    from varint.errors import ArgumentError
    from varint.redmax.integrators import INTEGRATORS

    if args.integrator is None and args.rtol is not None:
        raise ArgumentError("--rtol belongs to --integrator: give both, or --tol for a scheme")
    if args.rtol is not None and INTEGRATORS[args.integrator].fixed:
        raise ArgumentError(f"--rtol is of integrators with error control, '{args.integrator}' is none: leave it out")
    of_schemes = {"--dt auto": args.dt if args.dt == AUTO else None, "--energy-error": args.energy_error}
    of_schemes |= {"--adaptive": args.adaptive, "--substep": args.substep or None}
    of_schemes |= {f"--{name}": getattr(args, name) for name in ("order", "tol")}
    for name, value in of_schemes.items():
        if args.integrator is not None and value is not None:
            raise ArgumentError(f"{name} is of the schemes in maximal coordinates: leave out either it or --integrator")
    if args.energy_error is not None and args.dt != AUTO:
        raise ArgumentError("--energy-error belongs to --dt auto, which chooses the step by it: give both or neither")
    if args.scheme is not None and args.order is not None:
        raise ArgumentError("--scheme has an order of its own: leave out --order")


def _step(text: str) -> float | str:
    try:
        return text if text == AUTO else float(text)
    except ValueError:
        raise ArgumentTypeError(f"must be a number or {AUTO}, got '{text}'") from None


@contextlib.contextmanager
def show_progress(duration: float, quiet: bool) -> Iterator[Progress | None]:
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
