"""``varint plot``: pictures of a recorded run, still ones and moving ones."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.common import Commands

if TYPE_CHECKING:
    from varint.cli.facts import Report


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    about = "Draw a recorded run: energy and drift, or what is named; the mechanism in motion as .gif or .mp4."
    parser = commands.add_parser("plot", help="draw a run: energy and drift, or what is named", description=about)
    parser.add_argument("run", metavar="RUN.h5", type=Path)
    parser.add_argument(
        "what", nargs="*", metavar="WHAT",
        help="coordinates, rates, reactions, force, power, energy, path, mechanism ...; default: energy and drift",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path,
        help=".png, .pdf, .svg, or .gif and .mp4 for the mechanism in motion; default: a PNG next to the run",
    )  # fmt: skip
    parser.add_argument(
        "--of", action="append", metavar="NAME", help="body, joint or force to draw, as often as needed"
    )
    parser.add_argument("--speed", type=float, metavar="X", help="of a moving picture over that of the run, default 1")
    parser.add_argument("--force", action="store_true", help="replace the picture if it exists")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Draw it."""
    from varint import load
    from varint.cli.common import check_picture
    from varint.cli.facts import Files, Report
    from varint.errors import FileError
    from varint.viz.animation import MOVING, animate, movie_writer
    from varint.viz.figure import SUFFIXES
    from varint.viz.panels import check_drawn, plot
    from varint.viz.plots import plot_run

    check_drawn(args.what)
    picture = check_picture(args.output or args.run.with_suffix(".png"), args.run, (*SUFFIXES, *MOVING))
    moving = picture.suffix.lower() in MOVING
    _check_options(args, moving)
    if moving:
        movie_writer(picture)
    if picture.exists() and not args.force and picture != args.run.with_suffix(".png"):
        raise FileError(f"'{picture}' exists: replace it by --force, or give the picture another name")
    trajectory = load(args.run)
    if moving:
        animate(trajectory, picture, speed=1.0 if args.speed is None else args.speed)
    elif args.what or picture.suffix.lower() != ".png":
        plot(trajectory, args.what, picture, of=args.of)
    else:
        plot_run(trajectory, picture)
    return Report([Files("output", [picture])])


def _check_options(args: Namespace, moving: bool) -> None:
    """Raises ArgumentError for what would have no effect."""
    from varint.errors import ArgumentError
    from varint.viz.panels import MECHANISM

    if moving and (args.of or set(args.what) - {MECHANISM}):
        raise ArgumentError(f"'{args.output}' shows the mechanism in motion, and nothing else: leave out the names")
    if args.speed is not None and not moving:
        raise ArgumentError("--speed is of moving pictures: give it with an output .gif or .mp4")
    if args.of and not args.what:
        raise ArgumentError("--of needs what to draw: coordinates, reactions ...")
