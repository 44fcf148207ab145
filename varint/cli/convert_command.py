"""``varint convert``: a mechanism from one kind of file into another."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands, add_mechanism

if TYPE_CHECKING:
    from varint.cli.facts import Report


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    about = "Write a mechanism of the catalogue, or of a file, into a file whose suffix says in which format."
    parser = commands.add_parser("convert", help=COMMANDS["convert"], description=about)
    add_mechanism(parser, "name in the catalogue, or file of a mechanism")
    parser.add_argument("output", metavar="FILE", type=Path, help="to write: .toml, .json, .xml (MJCF) or .urdf")
    force = "replace the file if it exists, and a TOML file in the place of a robot's companion"
    parser.add_argument("--force", action="store_true", help=force)
    parser.set_defaults(execute=execute)


def execute(args: Namespace) -> "Report":
    """Read and write it."""
    from varint import save_mechanism
    from varint.base.errors import FileError
    from varint.cli.facts import Files, Report
    from varint.cli.shared import named_mechanism
    from varint.files.own.toml_files import SUFFIX

    if args.output.exists() and not args.force:
        raise FileError(f"'{args.output}' exists: overwrite=True to replace it")
    companion = args.output.with_suffix(SUFFIX)
    before = companion.read_bytes() if companion != args.output and companion.is_file() else None
    save_mechanism(named_mechanism(args), args.output, overwrite=args.force)
    replaced = before is not None and companion.is_file() and companion.read_bytes() != before
    return Report([Files("mechanism", [args.output, *([companion] if replaced else [])])])
