"""``varint examples``: what examples there are, and a copy of them."""

import re
import shutil
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from varint.cli.parser import COMMANDS
from varint.cli.shared import Commands

if TYPE_CHECKING:
    from varint.cli.facts import Report

ABOUT = "List the examples that come with varint, or copy them into a folder."
TITLED = (".py", ".ipynb", ".sh", ".toml")  # files that say what they are
LEFT_OUT = ("__pycache__", "*.pyc", ".ipynb_checkpoints")


def add_parser(commands: Commands) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("examples", help=COMMANDS["examples"], description=ABOUT)
    parser.add_argument("--copy", metavar="FOLDER", type=Path, help="copy all of them into this folder")
    parser.add_argument("--force", action="store_true", help="replace files in the folder")
    parser.set_defaults(execute=execute)


def folder() -> Path:
    """Return the folder of the examples: in the package, or beside it in a checkout. Raises FileError."""
    import varint
    from varint.base.errors import FileError

    package = Path(varint.__file__).parent
    for folder in (package / "examples", package.parent / "examples"):
        if folder.is_dir():
            return folder
    raise FileError(f"no examples came with varint in '{package}': install it from its wheel or its source")


def title_of(path: Path) -> str:
    """Return the first sentence of an example: of its docstring, its first comment or its first heading."""
    import ast
    import json

    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(text)) or ""
    elif path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = next(("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"), "")
    lines = [line.lstrip("#<!- ").rstrip("-> ") for line in text.splitlines() if not line.startswith(("#!", "<?"))]
    first = next((line for line in lines if line), "") if path.suffix in TITLED else ""
    return re.split(r"[.:]? (?:``python|sh examples)", first)[0]  # without how it is called


def execute(args: Namespace) -> "Report":
    """List them, or copy them."""
    from varint.base.errors import ArgumentError, FileError
    from varint.cli.facts import Data, FactTable, Files, Report

    source, ignored = folder(), shutil.ignore_patterns(*LEFT_OUT)
    files = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    files = [path for path in files if not ignored("", list(path.parts))]
    if args.copy is None:
        if args.force:
            raise ArgumentError("--force replaces files: it needs --copy FOLDER")
        titles = {path: title_of(source / path) for path in files}
        tables = []
        for place in sorted({path.parent for path in files}):
            rows = [[path.name, text] for path, text in titles.items() if path.parent == place]
            tables.append(FactTable(("file", "what it is"), rows, "" if place == Path() else place.as_posix()))
        listed = [{"name": path.as_posix(), "what": text} for path, text in titles.items()]
        return Report([Data({"examples": listed}), *tables])
    new = [args.copy / path for path in files]
    there = [path for path in new if path.exists()]
    if there and not args.force:
        raise FileError(f"'{there[0]}' exists: use --force to replace it, or copy to another folder")
    try:
        shutil.copytree(source, args.copy, ignore=ignored, dirs_exist_ok=True)
    except OSError as problem:
        raise FileError(f"the examples cannot be copied to '{args.copy}': {problem.strerror or problem}") from None
    return Report([Files("output", new)])
