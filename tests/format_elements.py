"""Elements and attributes of the formats of robots, each put into a small file: read, reported, refused, or silent."""

import copy
import functools
import json
import re
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import varint as vi
from varint.files.own.mechanism_data import to_data

DATA = Path(__file__).parent / "data"
READ, REPORTED, REFUSED, SILENT = "read", "reported", "refused", "silent"


class Place(NamedTuple):
    """A line of a list: the path of an element, an attribute or "", and the type."""

    path: tuple[str, ...]
    attribute: str
    type: str

    def __str__(self) -> str:
        return "/".join(self.path) + (f"@{self.attribute}" if self.attribute else "")


def places(name: str) -> list[Place]:
    """Return the elements and attributes in a list of the folder data, parents before children."""
    listed, path = [], []
    for line in (DATA / f"{name}_elements.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        text = line.lstrip(" ")
        tag, *attributes = text.split(" ")
        parts = re.fullmatch(r"((?:drake:)?\w+):?(.*)", tag)
        path[len(line) - len(text) :] = [parts[1]]
        listed.append(Place(tuple(path), "", parts[2]))
        for attribute in attributes:
            parts = re.fullmatch(r"@((?:drake:)?\w+):?(.*)", attribute)
            listed.append(Place(tuple(path), parts[1], parts[2] or "string"))
    return listed


def is_container(place: Place, listed: list[Place]) -> bool:
    """Return whether a place only holds others, which are tried."""
    inside = any(other.path[:-1] == place.path or (other.attribute and other.path == place.path) for other in listed)
    elsewhere = any((f">{other.path[0]}",) == (place.type,) for other in listed)
    return not place.attribute and (elsewhere or (not place.type and inside))


def content(mechanism: vi.Mechanism) -> tuple[str, str, str]:
    """Return the mechanism and its shapes as text, its report, and what of that is not of read parts."""
    report = mechanism.import_report
    entries = [entry.what for listed in report.entries().values() for entry in listed]
    told = [entry.what for kind, listed in report.entries().items() if kind != READ for entry in listed]
    shapes = [(s.role, s.kind, s.sizes, s.mesh, *map(list, (s.position, s.quat_wxyz)), s.rgba) for s in report.shapes]
    return json.dumps([to_data(mechanism), repr(shapes)]), "\n".join(entries), "\n".join(told)


@functools.lru_cache(1000)
def loaded(text: str, path: Path) -> tuple[str, str, str] | str:
    """Return the content of a file, or the message of its refusal."""
    path.write_text(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the report has what they say
            return content(vi.load_mechanism(path))
    except vi.VarintError as refusal:
        return str(refusal)


def parsed(text: str) -> ET.Element:
    """Return an element of a text with prefixes that nothing declares."""
    root = ET.fromstring(text.replace("drake:", "drake_"))
    for element in root.iter():
        element.tag = element.tag.replace("drake_", "drake:")
    return root


def text_of(root: ET.Element) -> str:
    """Return an element as XML, prefixes as they are."""
    return ET.tostring(root, encoding="unicode")


def put(root: ET.Element, path: tuple[str, ...], attribute: str, value: str | None) -> ET.Element:
    """Return a copy of a document with an element or attribute, and the elements around it; None leaves it out."""
    root = copy.deepcopy(root)
    at, above = root, None
    for tag in path:
        tag, _, number = tag.partition("#")
        children = at.findall(tag) if ":" not in tag else [child for child in at if child.tag == tag]
        above, at = at, children[int(number or 0)] if children else ET.SubElement(at, tag)
    if attribute:
        at.attrib.pop(attribute, None)
        if value is not None:
            at.set(attribute, value)
    elif value is None:
        above.remove(at)
    elif value.startswith("<"):
        at[:] = list(ET.fromstring(value))
    elif value:
        at.text = value
    return root


def answer(root: ET.Element, path: tuple[str, ...], attribute: str, values: list[str], file: Path) -> str:
    """Return what becomes of an element or attribute with any of some values."""
    around = put(root, path, attribute, None)
    without = loaded(text_of(around), file)
    bare = loaded(text_of(root), file)
    answers = []
    for value in values:
        there = loaded(text_of(put(root, path, attribute, value)), file)
        if isinstance(there, str):
            answers.append(REFUSED)
        elif isinstance(without, str) or there[0] != without[0]:
            answers.append(READ)
        elif (
            there[1] != without[1]
            or (isinstance(bare, tuple) and bare[0] == there[0] and bare[1] != there[1])
            or _is_told_as_a_whole(root, path, there, file)
        ):
            answers.append(REPORTED)
    return next((kind for kind in (READ, REPORTED, REFUSED) if kind in answers), SILENT)


def _is_told_as_a_whole(root: ET.Element, path: tuple[str, ...], there: tuple[str, str, str], file: Path) -> bool:
    """Return whether the report names the element, one around it, or one of its defaults, and nothing is made of it."""
    wholes = [path[: count + 1] for count in range(len(path))]
    if path[:1] == ("default",):
        wholes.append(("actuator", *path[1:]))
    for whole in wholes:
        if root.findall("/".join(tag.partition("#")[0] for tag in whole)):
            gone = loaded(text_of(put(root, whole, "", None)), file)
            if isinstance(gone, tuple) and gone[0] == there[0] and gone[2] != there[2]:
                return True
    return False


VALUES = {
    "double": ["0.37"],
    "int": ["3"],
    "bool": ["true", "false"],
    "pose": ["0.1 0.2 0.3 0.4 0.5 0.6"],
    "vector3": ["0.3 0.4 0.5"],
    "vector2d": ["0.3 0.4"],
    "color": ["0.1 0.2 0.3 1"],
    "numbers4": ["0.1 0.2 0.3 0.4"],
    "time": ["1 0"],
    "": [""],
}
