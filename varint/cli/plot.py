"""``varint plot``: the picture of a recorded run."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.common import Commands

if TYPE_CHECKING:
    from varint.cli.facts import Report


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser(
        "plot", help="draw energy and drift of a run", description="Draw the picture of a recorded run."
    )
    parser.add_argument("run", metavar="RUN.h5", type=Path)
    parser.add_argument("-o", "--output", metavar="FILE.png", type=Path, help="default: next to the run")
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Draw it."""
    from varint import load
    from varint.cli.common import check_picture
    from varint.cli.facts import Files, Report
    from varint.cli.summary import method

    picture = check_picture(args.output or args.run.with_suffix(".png"), args.run)
    trajectory = load(args.run)

    from varint.viz.plots import plot_run

    plot_run(trajectory, picture, method=method(trajectory.settings))
    return Report([Files("output", [picture])])
