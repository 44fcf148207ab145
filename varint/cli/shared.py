"""Shared code of the subcommands: the mechanism argument, output paths, printing."""

from argparse import SUPPRESS, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from varint.base.checks import suggestion
from varint.base.errors import ArgumentError
from varint.base.paths import can_be_written
from varint.base.printable import tell
from varint.cli.parser import ANY, RESUME_ANY, joined

if TYPE_CHECKING:
    from rich.console import Console

    from varint.mechanism.mechanism import Mechanism
    from varint.runs.trajectory import Trajectory


Commands = _SubParsersAction
RUN_FILES = (".h5", ".hdf5")


def add_mechanism(parser: ArgumentParser, help_text: str, **options: Any) -> None:
    """Add the arguments of `find_mechanism`: name or file, ``--param``, ``--packages``, ``--repair``."""
    parser.add_argument("mechanism", metavar="NAME_OR_FILE", help=help_text, **options)
    parser.add_argument(
        "-p",
        "--param",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="parameter of the mechanism; VALUE is a Python literal or text; may be repeated",
    )
    add_import_options(parser)


def add_import_options(parser: ArgumentParser) -> None:
    """Add ``--packages``, folders of robot files, and ``--repair``, for defects that other programs accept."""
    parser.add_argument(
        "--packages",
        action="append",
        metavar="DIR",
        help="for robot files: folder of package:// and model://, and of meshes and includes; before those of"
        " ROS_PACKAGE_PATH; may be repeated",
    )
    parser.add_argument(
        "--repair",
        action="store_true",
        default=None,
        help="for robot files: replace physically impossible inertias by the nearest possible ones, accept comments"
        " that contain '--', and report the changes on stderr",
    )


def named_mechanism(args: Namespace) -> "Mechanism":
    """Return the mechanism that the arguments name; print repairs of its file on stderr."""
    mechanism = find_mechanism(args.mechanism, args.param, args.repair, args.packages)
    print_repairs(mechanism)
    return mechanism


def print_repairs(mechanism: "Mechanism") -> None:
    """Print on stderr the changes to the file of a mechanism, and its loops that will lock."""
    for how in ("repaired", "inexact"):
        for entry in getattr(mechanism.import_report, how):
            tell(f"{how}: {entry}")


def find_mechanism(
    name: str, parameters: list, repair: bool | None = None, packages: list[str] | None = None
) -> "Mechanism":
    """Return the mechanism ``name`` of the catalogue, or of the file with the path ``name``.

    ``parameters``: texts ``KEY=VALUE``; ``repair``, ``packages``: as in `load_mechanism`, for files only. Raises
    ArgumentError.
    """
    from varint import load_mechanism, mechanisms
    from varint.files.formats import FORMATS

    if name in mechanisms.ALL:
        if repair:
            raise ArgumentError(f"--repair applies to files: leave it out, '{name}' is a mechanism of the catalogue")
        if packages:
            raise ArgumentError(f"--packages applies to files: leave it out, '{name}' is a mechanism of the catalogue")
        return getattr(mechanisms, name)(**all_parsed(parameters))
    if Path(name).suffix in FORMATS:
        for folder in packages or ():
            if not Path(folder).is_dir():
                raise ArgumentError(f"--packages: there is no folder '{folder}'")
        return load_mechanism(name, all_parsed(parameters), repair=bool(repair), packages=packages or ())
    if Path(name).exists():
        raise ArgumentError(f"'{name}' is not a mechanism: files of mechanisms end in {_one_of(FORMATS)}")
    near, suffix = suggestion(name, mechanisms.ALL), suggestion(Path(name).suffix, FORMATS)
    raise ArgumentError(
        f"no mechanism '{name}' in the catalogue{near or ':'} 'varint info' lists all that there are; files of"
        f" mechanisms end in {_one_of(FORMATS)}{suffix}"
    )


def _one_of(words: Iterable[str]) -> str:
    """Return the words with commas, and "or" before the last."""
    *others, last = words
    return f"{', '.join(others)} or {last}"


def numbers(text: str, how: str, count: int | None = None) -> list[float]:
    """Return the comma-separated numbers in ``text``. Raises ArgumentError, whose message starts with ``how``.

    ``how``: sentence that says how they are written; ``count``: how many there must be, default any number.
    """
    try:
        values = [float(word) for word in text.split(",")]
        if count not in (None, len(values)):
            raise ValueError
        return values
    except ValueError:
        raise ArgumentError(f"{how}, got '{text}'") from None


def add_window(parser: ArgumentParser) -> None:
    """Add ``--from`` and ``--to``, for `windowed`."""
    parser.add_argument("--from", dest="first", type=float, metavar="S", help="show the run from this time on, s")
    parser.add_argument("--to", dest="last", type=float, metavar="S", help="show the run up to this time, s")


def windowed(trajectory: "Trajectory", args: Namespace) -> "Trajectory":
    """Return the nodes from ``--from`` to ``--to``. Raises ArgumentError unless the run has two nodes there."""
    if args.first is None and args.last is None:
        return trajectory
    start, end = float(trajectory.t[0]), float(trajectory.t[-1])
    near = 1e-9 * (end - start)  # times are typed in decimals
    for option, time in (("--from", args.first), ("--to", args.last)):
        if time is not None and not start - near <= time <= end + near:
            raise ArgumentError(f"{option} {time:g} is outside the run, which goes from {start:g} to {end:g} s")
    first, last = start if args.first is None else args.first, end if args.last is None else args.last
    if not first < last:
        raise ArgumentError(f"--from {first:g} must be before --to {last:g}")
    inside = ((trajectory.t >= first - near) & (trajectory.t <= last + near)).nonzero()[0]
    if len(inside) < 2:
        spacing = (end - start) / max(1, len(trajectory) - 1)
        raise ArgumentError(
            f"fewer than two nodes lie between --from {first:g} and --to {last:g}: nodes of the run are {spacing:g} s"
            " apart on average"
        )
    return trajectory[int(inside[0]) : int(inside[-1]) + 1]


def own_settings() -> None:
    """Reset matplotlib to its defaults: a matplotlibrc in the current folder may change any of them."""
    import matplotlib

    matplotlib.rcdefaults()


def check_picture(
    path: Path, source: Path | None, suffixes: tuple[str, ...] = (".png",), label: str = "picture"
) -> Path:
    """Return ``path`` of a picture or film, checked before the run: suffix, not that of ``source``, can be written.

    ``label``: name of the file in errors. Resets the settings of matplotlib. Raises ArgumentError, FileError.
    """
    own_settings()
    if path.suffix.lower() not in suffixes:
        raise ArgumentError(f"the {label} '{path}' must end in {' or '.join(suffixes)}")
    if source is not None and path.resolve() == source.resolve():
        raise ArgumentError(f"the {label} would replace the run in '{source}': name it .h5")
    can_be_written(path)
    return path


def stdout_console() -> "Console":
    """Return a console for tables on stdout. It raises BrokenPipeError if the reader has closed the pipe.

    Without a terminal it is `_columns` wide. Characters that its encoding lacks are written as escapes.
    """
    import io
    import os
    import shutil
    import sys

    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")

    class StdoutConsole(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would end the process

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"  # no bold letters either
    width, height = shutil.get_terminal_size() if sys.stdout.isatty() else (_columns(), 25)  # of dumb terminals too
    colours: Literal["auto"] | None = None if plain else "auto"
    return StdoutConsole(highlight=False, markup=False, width=width, height=height, color_system=colours)


def _columns() -> int:
    """Return the width of output that does not go to a terminal: COLUMNS in the environment, or 120."""
    import os

    width = os.environ.get("COLUMNS", "")
    return int(width) if width.isascii() and width.isdigit() and int(width) > 0 else 120


def all_parsed(texts: list[str]) -> dict[str, object]:
    """Return the values by name of texts ``KEY=VALUE``. Raises ArgumentError."""
    parameters: dict[str, object] = {}
    for key, text in map(key_and_text, texts):
        if key in parameters:
            raise ArgumentError(f"parameter '{key}' is given twice: leave one out")
        parameters[key] = value_of(text)
    return parameters


def key_and_text(text: str) -> tuple[str, str]:
    """Return the two sides of ``KEY=VALUE``. Raises ArgumentError."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ArgumentError(f"a parameter is written KEY=VALUE, got '{text}'")
    return key.strip(), value.strip()


def value_of(text: str) -> object:
    """Return the Python literal that ``text`` is, or the text itself."""
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def how_to_resume(args: Namespace) -> str:
    """Return a hint with the command that resumes the run; "" if nothing has been written."""
    import shlex

    if args.output is None or not args.output.exists():
        return ""
    words = [word for word in joined(args.command_line) if word not in ("--resume", RESUME_ANY, "--force")]
    how = ["--resume", ANY] if args.resume == ANY else ["--resume"]
    return f"resume it with:  varint {shlex.join([*words, *how])}"


def add_resume(group: Any, text: str) -> None:
    """Add ``--resume``, and ``--resume any``, which `varint.cli.parser.joined` turns into one word."""
    group.add_argument("--resume", action="store_true", help=text)
    group.add_argument(RESUME_ANY, dest="resume", action="store_const", const=ANY, help=SUPPRESS)
