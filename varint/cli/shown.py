"""Runs for the commands that show motion: a recorded run, or a run of a mechanism that is simulated first."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.method import method_of
from varint.cli.shared import RUN_FILES, add_mechanism, numbers
from varint.cli.stepping import DURATION, add_stepping

if TYPE_CHECKING:
    from varint.base.errors import ConvergenceError
    from varint.runs.trajectory import Trajectory

OF_SIMULATIONS = (  # arguments that a recorded run refuses
    *("duration", "dt", "energy_error", "order", "scheme", "integrator", "method", "rtol", "tol", "stages"),
    *("contact_solver", "collocation", "simulator", "stabilisation"),
    *("adaptive", "substep", "every", "param", "repair", "packages"),
)
OTHERWISE = {
    "param": "-p",
    "collocation": "--lobatto",
    "simulator": "--peer",
}  # options whose name is not that of their argument


def add_shown(parser: ArgumentParser) -> None:
    """Add to ``parser`` the arguments of `shown_run` and `check_looks`."""
    add_mechanism(parser, "recorded run, .h5; or name in the catalogue, or file of a mechanism, which is simulated")
    add_stepping(parser)
    parser.add_argument(
        "--trace", action="append", metavar="POINT",
        help="point whose path is drawn: name of a body or joint, or BODY:x,y,z in the reference configuration, m; as"
        " often as needed",
    )  # fmt: skip
    parser.add_argument("--plane", metavar="PLANE", help="that is looked at: xy, xz, yz, yx, zx, zy or isometric")


def is_run(args: Namespace) -> bool:
    """Return whether ``args`` name a recorded run. Raises ArgumentError if options of a simulation are set too."""
    from varint.base.errors import ArgumentError

    if Path(args.mechanism).suffix.lower() not in RUN_FILES:
        return False
    for name in OF_SIMULATIONS:
        if getattr(args, name):
            option = OTHERWISE.get(name) or f"--{name.replace('_', '-')}"
            raise ArgumentError(f"'{args.mechanism}' is recorded already: leave out {option}, or name a mechanism")
    return True


def fill_stepping(args: Namespace) -> None:
    """Set the defaults of a simulation in ``args``. Raises ArgumentError for options without effect."""
    args.duration = DURATION if args.duration is None else args.duration
    args.every = 1 if args.every is None else args.every
    method_of(args)


def shown_run(args: Namespace) -> "tuple[Trajectory, ConvergenceError | None]":
    """Return the recorded run that ``args`` name, or a simulated one, and the error that stopped it early, or None."""
    from varint import ConvergenceError, load
    from varint.cli.shared import named_mechanism
    from varint.cli.stepping import show_progress, simulated

    if is_run(args):
        return load(args.mechanism), None
    fill_stepping(args)
    mechanism = named_mechanism(args)
    try:
        with show_progress(args.duration, args.quiet) as progress:
            return simulated(args, mechanism, progress, {}), None
    except ConvergenceError as problem:
        return problem.trajectory, problem


def check_looks(args: Namespace) -> dict[str, Any]:
    """Return ``trace`` and ``plane`` for `Trajectory.view` and `Trajectory.animate`. Raises ArgumentError."""
    from varint.base.checks import choice
    from varint.base.errors import ArgumentError
    from varint.drawing.viewpoint import PLANES

    if args.plane is not None:
        choice(args.plane, PLANES, "--plane", ArgumentError)
    return {"trace": points_of(args.trace), "plane": args.plane}


def points_of(texts: Sequence[str] | None) -> "list[str | tuple[str, list[float]]] | None":
    """Return for each text of ``--trace`` a name, or a body and a point (3,), m. Raises ArgumentError."""
    return None if texts is None else [_point(text) for text in texts]


def _point(text: str) -> "str | tuple[str, list[float]]":
    """Return ``text``, a name, or body and point of "BODY:x,y,z". Raises ArgumentError."""
    name, _, point = text.rpartition(":")
    if not name or "," not in point:
        return text
    return name, numbers(point, "a point of --trace is written BODY:x,y,z, in m")


def check_kept(path: Path, label: str, force: bool) -> None:
    """Raise FileError if ``path`` exists and ``force`` is False; ``label``: the kind of file in the error."""
    from varint.base.errors import FileError

    if path.exists() and not force:
        raise FileError(f"the {label} '{path}' exists: use --force to replace it, or name another")
