"""``varint plot``: still and moving pictures of a recorded run."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_window, numbers
from varint.cli.shown import points_of

if TYPE_CHECKING:
    from varint.cli.facts import Report


def add_parser(commands: Commands) -> None:
    """Declare the subcommand ``plot`` and its arguments among ``commands``."""
    about = "Draw a recorded run: energy and drift, or what is named; the mechanism in motion as .gif or .mp4."
    parser = commands.add_parser("plot", help=COMMANDS["plot"], description=about)
    parser.add_argument("run", metavar="RUN.h5", type=Path)
    parser.add_argument(
        "what", nargs="*", metavar="WHAT",
        help="energy, momentum, drift, coordinates, reactions, force, power, phase, coupler, snapshot, mechanism, path"
        " ...; default: energy_error and drift",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path,
        help=".png, .pdf, .svg, or .gif and .mp4 for the mechanism in motion; default: a PNG next to the run",
    )  # fmt: skip
    parser.add_argument(
        "--of", action="append", metavar="NAME", help="body, joint or force to draw, as often as needed"
    )
    parser.add_argument(
        "--trace", action="append", metavar="POINT",
        help="point whose path mechanism, coupler and path show: name of a body or joint, or BODY:x,y,z in the"
        " reference configuration, m; as often as needed",
    )  # fmt: skip
    parser.add_argument(
        "--times", metavar="T1,T2,...", help="of the poses, s; default: of mechanism six over the run, else its end"
    )
    parser.add_argument(
        "--plane", metavar="PLANE", help="of what is drawn of the mechanism: xy, xz, yz, yx, zx, zy or isometric"
    )
    add_window(parser)
    named = "name bodies and joints in mechanism, coupler and snapshot"
    parser.add_argument("--labels", action="store_true", default=None, help=named)
    parser.add_argument("--speed", type=float, metavar="X", help="of a moving picture over that of the run, default 1")
    parser.add_argument("--fps", type=float, metavar="N", help="frames a second of a moving picture, default 25")
    parser.add_argument("--force", action="store_true", help="replace the picture if it exists")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Draw the run ``args.run`` as the arguments ask, and return a report that names the picture.

    Raises ArgumentError for arguments that do not fit each other, FileError if the picture exists and ``--force`` is
    not set, or if a file cannot be read or written.
    """
    from varint import load
    from varint.base.errors import FileError
    from varint.cli.facts import Files, Report
    from varint.cli.shared import check_picture, windowed
    from varint.drawing.picture import SUFFIXES
    from varint.views.animation import MOVING, animate, movie_writer
    from varint.views.panels import check_drawn
    from varint.views.plots import plot, plot_run

    check_drawn(args.what)
    picture = check_picture(args.output or args.run.with_suffix(".png"), args.run, (*SUFFIXES, *MOVING))
    moving = picture.suffix.lower() in MOVING
    options = _options(args, moving)
    if moving:
        movie_writer(picture)
    if picture.exists() and not args.force and picture != args.run.with_suffix(".png"):
        raise FileError(f"'{picture}' exists: use --force to replace it, or give the picture another name")
    trajectory = windowed(load(args.run), args)
    if moving:
        animate(trajectory, picture, **options)
    elif args.what or picture.suffix.lower() != ".png":
        plot(trajectory, args.what, picture, of=args.of, **options)
    else:
        plot_run(trajectory, picture)
    return Report([Files("output", [picture])])


def _options(args: Namespace, moving: bool) -> dict[str, Any]:
    """Return the options for `Trajectory.plot` or, if ``moving``, `animate` that are set in ``args``.

    Raises ArgumentError for an option without effect on this picture.
    """
    from varint.base.checks import choice
    from varint.base.errors import ArgumentError
    from varint.drawing.viewpoint import PLANES
    from varint.views.panels import MECHANISM, check_used

    if moving and (args.of or set(args.what) - {MECHANISM}):
        raise ArgumentError(f"'{args.output}' shows the mechanism in motion, and nothing else: leave out the names")
    for name in ("times", "labels"):
        if moving and getattr(args, name) is not None:
            raise ArgumentError(
                f"--{name} applies to poses in still pictures: leave it out, or give an output .png, .pdf or .svg"
            )
    for name in ("speed", "fps"):
        if getattr(args, name) is not None and not moving:
            raise ArgumentError(f"--{name} applies to moving pictures: give it with an output .gif or .mp4")
    if args.of and not args.what:
        raise ArgumentError("--of needs what to draw: coordinates, reactions ...")
    if args.plane is not None:
        choice(args.plane, PLANES, "--plane", ArgumentError)
    options = {
        "times": None if args.times is None else numbers(args.times, "--times takes times in s, such as 0,0.1,0.2"),
        "trace": points_of(args.trace),
        "plane": args.plane,
        "labels": args.labels,
    }
    if not moving:
        check_used(args.what, **options)
    options |= {"speed": args.speed, "fps": args.fps}
    return {name: value for name, value in options.items() if value is not None}
