"""``varint film``: a run as a moving picture, drawn without a display."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_window, check_picture, numbers, windowed
from varint.cli.shown import add_shown, check_kept, check_looks, is_run, shown_run

if TYPE_CHECKING:
    from varint.cli.facts import Report

ABOUT = "Film a run: the mechanism in motion as .mp4, .webm or .gif, drawn without a display."


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("film", help=COMMANDS["film"], description=ABOUT)
    add_shown(parser)
    add_window(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=".mp4, .webm or .gif")
    parser.add_argument("--speed", type=float, default=1.0, metavar="X", help="over that of the run, default 1")
    parser.add_argument("--fps", type=float, default=25.0, metavar="N", help="frames a second, default 25")
    parser.add_argument("--width", type=int, default=640, metavar="PX", help="of a frame, default 640")
    camera = "from where, in degrees: turned about the vertical, and above the horizon; in place of --plane"
    parser.add_argument("--camera", metavar="AZIMUTH,ELEVATION", help=camera)
    parser.add_argument("--force", action="store_true", help="replace the film if it exists")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Draw it."""
    from varint.cli.facts import Fact, Facts, Report
    from varint.views.animation import MOVING, check_film

    check_picture(args.output, Path(args.mechanism) if is_run(args) else None, MOVING, "film")
    check_kept(args.output, "film", args.force)
    looks = check_looks(args)
    if args.camera is not None:
        looks["camera"] = numbers(args.camera, "--camera takes two numbers, degrees, as in 30,20", 2)
    options = {"fps": args.fps, "speed": args.speed, "width": args.width}
    check_film(args.output, **options)
    trajectory, failure = shown_run(args)
    movie = windowed(trajectory, args).animate(args.output, **options, **looks)
    facts = [
        Fact("output", "film", args.output),
        Fact("frames", "frames", movie.frames, text=f"{movie.frames}, {movie.fps:g} a second"),
        Fact("fps", "", movie.fps),
    ]
    return Report([Facts(facts, title=trajectory.mechanism.name)], failure=failure)
