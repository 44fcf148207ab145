"""One page of HTML that shows a run in space: by itself in a file or a notebook, or served while the run goes on."""

import html
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from varint.base.atomic_writes import write_text
from varint.base.checks import whole_number
from varint.base.display import Shown, count_text
from varint.base.errors import ArgumentError
from varint.base.paths import can_be_written, path_of
from varint.base.printable import printable, printable_data
from varint.mechanism.mechanism import Mechanism
from varint.results.recorded_motion import RecordedMotion
from varint.views.poses import poses_of
from varint.views.web_frames import curve_names
from varint.views.web_scene import scene_data

SUFFIXES = (".html", ".htm")
SCRIPTS = ("motion.js", "plots.js", "ground.js", "recorder.js", "live.js", "finder.js", "ghost.js", "viewer.js")
FRAMES = 1000
MOST_FRAMES = 100_000
HEIGHT = 560  # px, in a notebook


class Page(Shown):
    """A page that shows a run in space; a notebook shows it inline.

    html : str
        All of it, which needs no other file.
    frames, nodes : int
        How many frames it holds, of how many recorded nodes.
    """

    def __init__(self, name: str, text: str, frames: int, nodes: int) -> None:
        self.name, self.html, self.frames, self.nodes = name, text, frames, nodes

    def save(self, path: str | Path) -> Path:
        """Write the page, .html; a file of that name is replaced. Raises ArgumentError, FileError."""
        file = check_page(path)
        write_text(file, self.html)
        return file

    def _facts(self) -> Iterable[str]:
        yield f"{count_text(self.frames, 'frame')} of {count_text(self.nodes, 'node')}"
        yield f"{len(self.html) / 1e6:.2g} MB"

    def _repr_html_(self) -> str:
        look = f"width:100%;height:{HEIGHT}px;border:1px solid #ddd"
        return f'<iframe style="{look}" srcdoc="{html.escape(self.html)}"></iframe>'


def checked_frames(frames: int, label: str = "frames") -> int:
    """Return the largest number of frames after the first. Raises ArgumentError."""
    return whole_number(frames, label, 1, ArgumentError, MOST_FRAMES)


def check_page(path: str | Path) -> Path:
    """Return ``path`` if a page can be written there. Raises ArgumentError, FileError."""
    file = Path(path_of(path))
    if file.suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"the page '{file}' must end in {SUFFIXES[0]}")
    can_be_written(file)
    return file


def stride(nodes: int, most: int) -> int:
    """Return the stride of frames taken evenly from ``nodes``, with a largest number of frames after the first."""
    return max(1, -(-(nodes - 1) // most))


def page_data(mechanism: Mechanism, start: RecordedMotion, trace: object, plane: str | None) -> dict[str, Any]:
    """Return the data of the page except the frames; sizes are taken at the first node of ``start``."""
    x, R = poses_of(start[:1])
    data = scene_data(mechanism, x[0], R[0], plane)
    traced = []
    if trace is not None:
        from varint.drawing.mechanism_picture import find_traced  # imports matplotlib, so only when needed

        traced = [
            {"name": each.name, "body": each.body, "point": each.point.tolist()}
            for each in find_traced(mechanism, trace)
        ]
    settings = start.settings
    return {
        "title": mechanism.name,
        **data,
        "traced": traced,
        "curves": curve_names(start[:1]),
        "dt": float(settings["dt"] or 0.0),
        "live": False,
        "frames": None,
    }


@cache
def _asset(name: str) -> str:
    return files("varint.views").joinpath("assets", name).read_text(encoding="utf-8")


def page_text(data: dict[str, Any]) -> str:
    """Return the page with its styles, scripts and ``data`` inside; all numbers in them are finite."""
    as_json = json.dumps(printable_data(data), allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": html.escape(printable(data["title"])),
        "STYLE": _asset("viewer.css"),
        "LICENCE": _asset("three.LICENSE"),
        "DATA": as_json.replace("<", "\\u003c"),
        "THREE": _asset("three.min.js"),
        "VIEWER": "\n".join(_asset(name) for name in SCRIPTS),
    }
    head, *rest = _asset("page.html").split("@@")
    pieces = [head]
    for word, text in zip(rest[::2], rest[1::2], strict=True):
        pieces += [parts[word], text]
    return "".join(pieces)
