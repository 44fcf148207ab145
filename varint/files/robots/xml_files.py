"""XML of mechanism files: elements with their lines, read in bounded time and memory, and who reads which of them.

Nothing but the file itself is read: entities and external parts are refused.
"""

import math
import xml.parsers.expat as expat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from varint.base.checks import shown, suggestion
from varint.base.errors import FileError, MechanismError
from varint.files.robots.packages import ImportOptions
from varint.files.robots.xml_defects import HYPHENS, defects_of, mended
from varint.mechanism.mechanism import Mechanism
from varint.model.bounds import LARGEST
from varint.model.import_report import ImportNotes

MOST_BYTES = 16_000_000  # of a file
MOST_ELEMENTS = 300_000
MOST_ATTRIBUTES = 1000  # of an element
DEEPEST = 200  # elements in one another
UNREAD_LISTS = ("skin", "bone")  # elements whose long attributes are of pictures alone
BLANKS = b" \t\r\n"
OF_MJCF = ("mujoco", "mujocoinclude")  # outermost elements; MuJoCo allows "--" in comments
LONGEST_NAME = 1000  # characters of the name of an element, of an attribute, and of what an attribute "name" names
LONGEST_TEXT = 100_000  # characters of a text between tags, or of an attribute, that are of any use


@dataclass(eq=False, slots=True)
class XMLElement:
    """An element: ``text`` is what stands in it beside its ``children``."""

    tag: str
    attributes: dict[str, str]
    line: int
    path: Path
    children: list["XMLElement"] = field(default_factory=list)
    text: str = ""

    @property
    def place(self) -> str:
        """Return file and line."""
        return f"'{self.path}', line {self.line}"

    def error(self, message: str) -> FileError:
        """Return an error about this element."""
        return FileError(f"{self.place}: {message}")

    def wrong(self, message: str) -> MechanismError:
        """Return an error about the described mechanism, at this element."""
        return MechanismError(f"{self.place}: {message}")

    def all(self, *tags: str) -> Iterator["XMLElement"]:
        """Yield the children of these names."""
        return (child for child in self.children if child.tag in tags)

    def named(self, *tags: str) -> dict[str, "XMLElement"]:
        """Return the children of these names by their attribute "name". Raises FileError unless it is unique."""
        elements: dict[str, XMLElement] = {}
        for element in self.all(*tags):
            name = element.need("name")
            if name in elements:
                there = elements[name].line
                raise element.error(f"the {element.tag} '{name}' stands at line {there} already: names must be unique")
            elements[name] = element
        return elements

    def one(self, tag: str) -> "XMLElement | None":
        """Return the child of this name, or None. Raises FileError if there are several."""
        children = list(self.all(tag))
        if len(children) > 1:
            raise children[1].error(f"<{self.tag}> has one <{tag}>, this is another: leave one out")
        return children[0] if children else None

    def need(self, name: str) -> str:
        """Return the attribute of this name. Raises FileError if it is missing."""
        if not self.attributes.get(name, "").strip():
            raise self.error(f"<{self.tag}> needs an attribute {name!r}")
        return self.attributes[name]

    def child(self, tag: str) -> "XMLElement":
        """Return the child of this name. Raises FileError if it is missing."""
        child = self.one(tag)
        if child is None:
            raise self.error(f"<{self.tag}> needs an element <{tag}>")
        return child

    def numbers(self, name: str, count: int, default: Sequence[float] | None = None) -> list[float]:
        """Return the attribute's ``count`` numbers."""
        if name not in self.attributes:
            if default is None:
                raise self.error(f"<{self.tag}> needs an attribute {name!r}")
            return list(default)
        return self.parsed(self.attributes[name], count, f"{name!r} of <{self.tag}>")

    def number(self, name: str, default: float | None = None) -> float:
        """Return the attribute's number."""
        return self.numbers(name, 1, None if default is None else [default])[0]

    def limit(self, name: str, default: float) -> float:
        """Return the attribute's number, a limit of any size."""
        text = self.attributes.get(name)
        if text is not None and text.strip().lower().lstrip("+-") in ("inf", "infinity"):
            return float(text)
        return default if text is None else self.parsed(text, 1, f"{name!r} of <{self.tag}>", math.inf)[0]

    def own_numbers(self, count: int) -> list[float]:
        """Return the numbers in its text."""
        return self.parsed(self.text, count, f"<{self.tag}>")

    def own_number(self) -> float:
        """Return the number in its text."""
        return self.own_numbers(1)[0]

    def child_number(self, tag: str, default: float = 0.0) -> float:
        """Return the number in the text of the child of this name, ``default`` without one."""
        child = self.one(tag)
        return default if child is None else child.own_number()

    def own_limit(self, infinite: bool = False) -> float:
        """Return the number in its text, a limit of any size; ``infinite``: whether it may say inf."""
        if infinite and self.text.strip().lower().lstrip("+-") in ("inf", "infinity"):
            return float(self.text)
        return self.parsed(self.text, 1, f"<{self.tag}>", math.inf)[0]

    def parsed(self, text: str, count: int, subject: str, largest: float = LARGEST) -> list[float]:
        """Return the ``count`` finite numbers of a text, separated by blanks; ``subject`` names them in the error."""
        words = text.split(None, count + 1)
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or any("_" in word for word in words) or not all(map(math.isfinite, values)):
            wanted = "a number" if count == 1 else f"{count} numbers"
            macro = ", a macro: expand the file with xacro" if "${" in text else ""
            raise self.error(f"{subject} must be {wanted}, got {shown(text.strip())}{macro}")
        if max(map(abs, values)) > largest:
            raise self.error(f"{subject} must be at most {largest:g} in size, got {shown(text.strip())}")
        return values


Reader = Callable[[XMLElement, ImportNotes, Sequence[Path]], Mechanism]
READERS: dict[str, tuple[str, Reader]] = {}  # by the outermost element


def reads(root: str, format_name: str) -> Callable[[Reader], Reader]:
    """Register a function of the outermost element, the notes and the package folders as the reader of ``root``."""

    def add(reader: Reader) -> Reader:
        READERS[root] = format_name, reader
        return reader

    return add


def load_xml(path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in an XML file, read by the reader of its outermost element. Raises FileError."""
    return load_content(read_bytes(path), path, options)


def load_content(content: bytes, path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in the content of an XML file, read by the reader of its outermost element. FileError."""
    notes = ImportNotes(path, options.repair)
    root = _element(content, path, notes)
    if root.tag not in READERS:
        known = ", ".join(f"<{tag}> ({format_name})" for tag, (format_name, _) in READERS.items())
        raise root.error(f"<{root.tag}> is no mechanism{suggestion(root.tag, READERS) or f': there are {known}'}")
    return READERS[root.tag][1](root, notes, options.packages)


def read_xml(path: Path, notes: ImportNotes) -> XMLElement:
    """Return the outermost element of a file, repaired if ``notes`` say so, which list it. Raises FileError with line.

    What is repaired: `defects_of` XML that other programs pass over. In MJCF comments with "--" inside are none.
    """
    return _element(read_bytes(path), path, notes)


def _element(content: bytes, path: Path, notes: ImportNotes) -> XMLElement:
    """Return the outermost element of ``content``; see `read_xml`."""
    begins = content.lstrip(BLANKS)
    # which XML forbids before its declaration, and files have
    before = content[: len(content) - len(begins)].count(b"\n")
    try:
        return _Builder(path, before).parsed(begins)
    except expat.ExpatError:
        defects = defects_of(begins)
    try:
        root = _Builder(path, before).parsed(mended(begins, defects))
    except expat.ExpatError as problem:
        raise _invalid(path, before, problem) from None
    for defect in defects:
        if root.tag in OF_MJCF and defect.kind is HYPHENS:
            continue
        at = XMLElement("", {}, defect.line + before, path)
        notes.mend(at.error(defect.kind.message), defect.kind.change, at)
    return root


def read_bytes(path: Path) -> bytes:
    """Return the content of a file. Raises FileError if it cannot be read, or is too large for a mechanism."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise FileError(f"cannot read '{path}': {reason}") from None
    if len(content) > MOST_BYTES:
        raise FileError(f"'{path}' is larger than {MOST_BYTES // 1_000_000} MB: too large for a mechanism")
    return content


def _invalid(path: Path, before: int, problem: expat.ExpatError) -> FileError:
    message = expat.errors.messages.get(problem.code, str(problem))
    return FileError(f"'{path}', line {problem.lineno + before}: this is not valid XML: {message}")


class _Builder:
    """Makes elements of what the parser finds."""

    def __init__(self, path: Path, before: int) -> None:
        self.path, self.before = path, before
        self.open: list[XMLElement] = []
        self.count = 0
        self.root: XMLElement | None = None
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._entity
        parser.SkippedEntityHandler = self._entity

    def parsed(self, content: bytes) -> XMLElement:
        """Return the outermost element. Raises FileError, and ExpatError where the content is no XML."""
        try:
            self.parser.Parse(content, True)
        except (FileError, expat.ExpatError):
            raise
        except (LookupError, ValueError) as problem:  # of its encoding
            why = str(problem)[: LONGEST_NAME // 5]
            raise FileError(f"'{self.path}', line 1: {why}: write it in UTF-8") from None
        assert self.root is not None  # else there was an error
        return self.root

    def _error(self, message: str) -> FileError:
        return FileError(f"'{self.path}', line {self._line()}: {message}")

    def _line(self) -> int:
        return self.parser.CurrentLineNumber + self.before

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= DEEPEST:
            raise self._error(f"elements are nested more than {DEEPEST} deep, too deep for a mechanism")
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise self._error(f"more than {MOST_ELEMENTS} elements, too many for a mechanism")
        if len(attributes) > MOST_ATTRIBUTES:
            raise self._error(f"<{tag[:LONGEST_NAME]}> has {len(attributes)} attributes, more than {MOST_ATTRIBUTES}")
        if len(long := max(tag, *attributes, attributes.get("name", ""), key=len)) > LONGEST_NAME:
            raise self._error(f"the name {shown(long)} is longer than {LONGEST_NAME} characters")
        if tag in UNREAD_LISTS:
            attributes = {name: value for name, value in attributes.items() if len(value) <= LONGEST_TEXT}
        if any(len(value) > LONGEST_TEXT for value in attributes.values()):
            raise self._error(f"an attribute of <{tag}> is longer than {LONGEST_TEXT} characters")
        element = XMLElement(tag, attributes, self._line(), self.path)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        element = self.open[-1]
        if not text.strip():  # as between elements
            text = " " if element.text and element.text[-1] != " " else ""
        if len(element.text) + len(text) > LONGEST_TEXT:
            raise self._error(f"the text of <{element.tag}> is longer than {LONGEST_TEXT} characters")
        element.text += text

    def _entity(self, *_: object) -> NoReturn:
        raise self._error("entities are not read: write out what they stand for")


def unknown(
    element: XMLElement, tags: Collection[str], names: Collection[str] | None = None
) -> Iterator[tuple[str, XMLElement]]:
    """Yield the children and attributes other than ``tags`` and ``names``, in words, with their elements."""
    for child in element.children:
        if child.tag not in tags:
            yield f"<{child.tag}> in <{element.tag}>{suggestion(child.tag, tags)}", child
    for name in element.attributes:
        if names is not None and name not in names and name.partition(":")[0] != "xmlns":
            yield f"attribute {shown(name)} of <{element.tag}>{suggestion(name, names)}", element
