"""What the subcommands share: the mechanism they are told of, paths to write to, tables."""

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from varint.mechanism import Mechanism


Commands = _SubParsersAction
RUN_FILES = (".h5", ".hdf5")


def add_mechanism(parser: ArgumentParser, what: str, **options: Any) -> None:
    """Arguments for `find_mechanism`."""
    parser.add_argument("mechanism", metavar="NAME_OR_FILE", help=what, **options)
    parser.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="parameter of a mechanism of the catalogue, as often as needed; values are Python literals or text",
    )


def find_mechanism(name: str, parameters: list) -> "Mechanism":
    """The mechanism called ``name`` in the catalogue, or in the file of that path.

    ``parameters``: texts ``KEY=VALUE`` for a mechanism of the catalogue.
    """
    from varint import load_mechanism, mechanisms
    from varint.io.formats import FORMATS
    from varint.model.checks import suggestion

    if name in mechanisms.NAMES:
        return _build(name, getattr(mechanisms, name), dict(_parsed(text) for text in parameters))
    if Path(name).suffix in FORMATS:
        if parameters:
            raise ArgumentError(f"parameters are for mechanisms of the catalogue, '{name}' is a file: change it there")
        return load_mechanism(name)
    if Path(name).exists():
        raise ArgumentError(f"'{name}' is no mechanism: files of mechanisms end in {' or '.join(FORMATS)}")
    raise ArgumentError(
        f"no mechanism '{name}' in the catalogue{suggestion(name, mechanisms.NAMES) or ':'}"
        f" 'varint info' lists it; files of mechanisms end in {' or '.join(FORMATS)}"
    )


def check_picture(path: Path, source: Path | None, suffixes: tuple[str, ...] = (".png",)) -> Path:
    """Refuse a picture that cannot be written, or only over its ``source``: before the run, not after it."""
    if path.suffix.lower() not in suffixes:
        raise ArgumentError(f"the picture '{path}' must end in {' or '.join(suffixes)}")
    if source is not None and path.resolve() == source.resolve():
        raise ArgumentError(f"the picture would replace the run in '{source}': name it .h5")
    if not path.parent.is_dir():
        raise FileError(f"cannot write '{path}': no folder '{path.parent}'")
    return path


def stdout_console() -> "Console":
    """Where tables go, wide enough for them where it is no terminal."""
    import sys

    from rich.console import Console

    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 120)


def new_table(*columns: str, title: str | None = None) -> "Table":
    """A table in the style of the command; a column that starts with ``>`` holds numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_header=any(columns), pad_edge=False)
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return table


def _build(name: str, build: "Callable[..., Mechanism]", parameters: Mapping[str, object]) -> "Mechanism":
    import inspect

    from varint.model.checks import suggestion

    known = inspect.signature(build).parameters
    for key in parameters:
        if key not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise ArgumentError(f"mechanism '{name}' has no parameter '{key}'{suggestion(key, known)}: {takes}")
    return build(**parameters)


def _parsed(text: str) -> tuple[str, object]:
    import ast

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ArgumentError(f"a parameter is written KEY=VALUE, got '{text}'")
    try:
        return key.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return key.strip(), value.strip()
