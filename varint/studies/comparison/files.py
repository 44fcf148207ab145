"""A comparison on disk: its page, its numbers, its figure."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from varint.base.atomic_writes import write_text
from varint.base.errors import ArgumentError, FileError
from varint.base.paths import can_be_written, path_of
from varint.studies.comparison.figures_of import numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from varint.studies.comparison.comparison_result import Comparison


MARKDOWN, NUMBERS, PICTURES = ".md", ".json", (".png", ".pdf")
SUFFIXES = (MARKDOWN, NUMBERS, *PICTURES)
DPI = 200
NAME = "comparison"
FIGURE = f"""
![Figure]({NAME}.png)

a: largest difference of a body from the reference. b: error of the energy, the largest so far. c: drift of the joints.
d: largest error over the step. e: largest error over the wall time of stepping.
"""


def check_output(path: str | Path) -> Path:
    """Return the ``path`` of a folder, or of a file in one of the formats.

    Raises ArgumentError for another format, FileError where a file cannot be written.
    """
    path = Path(path_of(path))
    if path.suffix not in SUFFIXES and (path.is_file() or (path.suffix and not path.is_dir())):
        raise ArgumentError(f"'{path}' must be a folder, or end in {', '.join(SUFFIXES)}")
    for file in _files(path) if path.is_dir() else [path]:
        can_be_written(file)
    return path


def _files(folder: Path) -> list[Path]:
    """Return the paths that `save` writes in a folder."""
    return [folder / f"{NAME}{suffix}" for suffix in SUFFIXES]


def save(comparison: "Comparison", path: str | Path) -> list[Path]:
    """Write the comparison to a file, or to a folder in all formats; return the paths. See `Comparison.save`."""
    path = check_output(path)
    if path.suffix in SUFFIXES and not path.is_dir():
        _write(comparison, path)
        return [path]
    try:
        path.mkdir(exist_ok=True)
    except OSError as problem:
        raise FileError(f"cannot write '{path}': {problem.strerror or problem}") from None
    paths = _files(path)
    for file in paths:
        _write(comparison, file, FIGURE)
    return paths


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a matplotlib figure, .png or .pdf."""
    path = check_output(path)
    if path.suffix not in PICTURES:
        raise ArgumentError(f"'{path}' must end in {' or '.join(PICTURES)}: it is for a figure")
    from varint.drawing.picture import write_as  # imports matplotlib, so only when needed

    write_as(figure, path, path.suffix, DPI)


def _write(comparison: "Comparison", path: Path, figure: str = "") -> None:
    """Write the file of that suffix; ``figure``: the end of a page."""
    if path.suffix in PICTURES:
        comparison.plot(path)
    elif path.suffix == MARKDOWN:
        write_text(path, f"{comparison}\n{figure}")
    else:
        write_text(path, f"{json.dumps(numbers(comparison), indent=1)}\n")


def text_path(path: str | Path) -> Path:
    """Return the ``path`` of a page or of numbers; raises ArgumentError, FileError as `check_output`."""
    path = Path(path_of(path))
    if path.suffix not in (MARKDOWN, NUMBERS):
        raise ArgumentError(f"'{path}' must end in {MARKDOWN} or {NUMBERS}")
    return check_output(path)
