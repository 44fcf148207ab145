"""The TOML files of a mechanism: the one that is asked for, those that it includes, and where things stand in them."""

import dataclasses
import functools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from varint.base.checks import shown, suggestion
from varint.base.errors import FileError, MechanismError
from varint.files.formats.base import FORMATS
from varint.files.own.file_format import MARK, is_marked
from varint.files.own.mechanism_data import KINDS, to_data
from varint.files.own.toml_places import PARTS_OF_KEY, line_and_column, places_of, too_long_key
from varint.files.robots.packages import ImportOptions
from varint.mechanism.mechanism import Mechanism
from varint.model.import_report import ImportReport

SUFFIX = ".toml"
IN_TOML = "write key = value, one a line; texts in quotes, lists as [1, 2]"
REMEDIES = {  # beginnings of messages of tomllib to what to do
    "Expected '='": "write key = value",
    "Invalid value": "texts and formulas stand in quotes, truth values are true and false",
    "Cannot overwrite": "each key stands once in a table",
    "Cannot declare": "each table stands once: put its keys together",
    "Expected newline": "write one key a line",
    "Unclosed array": "close the list by ]",
    "Unterminated string": "close the text by a quote on the same line",
    "Illegal character": "close the text by a quote on the same line",
}
PARAMETERS, INCLUDE, START, CLOSURES = "parameters", "include", "start", "closures"
OF_MECHANISM = tuple(field.name for field in dataclasses.fields(Mechanism) if field.compare)  # no import report
AT_TOP = (MARK, *OF_MECHANISM, PARAMETERS, INCLUDE, CLOSURES)


@dataclasses.dataclass(frozen=True)
class TomlSource:
    """A file with the tables that it holds; ``text``: empty where it is no TOML, and places in it are not reported.

    ``report``: where it was imported. ``mistakes``: unknown keys at its top, with their places.
    """

    path: Path
    text: str
    tables: Mapping[str, Any]
    report: ImportReport = dataclasses.field(default_factory=ImportReport)
    mistakes: list[str] = dataclasses.field(default_factory=list)

    @functools.cached_property
    def marked(self) -> bool:
        """Return whether the file has the format mark. Raises MechanismError for one of another format."""
        return is_marked(self.tables, self.at([MARK]))

    @functools.cached_property
    def places(self) -> dict[tuple[str, ...], int]:
        """The first character of each table, key and path above one."""
        first: dict[tuple[str, ...], int] = {}
        for path, place in places_of(self.text).items():
            for size in range(1, len(path) + 1):
                first[path[:size]] = min(place, first.get(path[:size], place))
        return first

    def at(self, path: Sequence[str]) -> str:
        """Return "'FILE', line N, column M" of a table or key, of the nearest one around it, or the file alone."""
        for size in range(len(path), 0, -1):
            place = self.places.get(tuple(path[:size]))
            if place is not None:
                return f"'{self.path}', {line_and_column(self.text, place)}"
        return f"'{self.path}'"

    def teller(self, path: Sequence[str]) -> Callable[[str], MechanismError]:
        """Return a function from a message to an error about a key."""
        return lambda message: MechanismError(f"{self.at(path)}: {'.'.join(path)}: {message}")

    def about(self, path: Sequence[str], keys: Mapping[str, Any], message: str) -> str:
        """Return `at` of the key of a table that a message is about, if it names one."""
        named = [key for key in keys if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", message)]
        return self.at([*path, max(named, key=len)] if named else path)


def sources_of(path: Path, options: ImportOptions) -> list[TomlSource]:
    """Return the file and its included files, each after its own included files. Raises FileError."""
    sources: dict[Path, TomlSource] = {}
    folder = path.resolve().parent

    def add(path: Path, asked: str) -> None:
        if not path.resolve().is_relative_to(folder):
            raise FileError(f"{asked} includes '{path}', which is outside the folder '{folder}' and is not read")
        if path.resolve() in sources:
            raise FileError(f"{asked} includes '{path}', which is there already")
        source = _read(path) if path.suffix == SUFFIX else _other(path, asked, options)
        sources[path.resolve()] = source
        included = source.tables.get(INCLUDE, [])
        for name in [included] if isinstance(included, str) else included:
            where = source.at([INCLUDE])
            if not isinstance(name, str) or not name:
                raise FileError(f"{where}: include must be the names of files, got {shown(name)}")
            add(path.parent / name, where)
        sources[path.resolve()] = sources.pop(path.resolve())

    try:
        add(path, "")
    except RecursionError:
        raise FileError(f"'{path}' includes files that include files, and so on, too many of them") from None
    return list(sources.values())


def _syntax_error(path: Path, text: str, message: str) -> str:
    """Return the message of the parser in the form of others: file, line, column, the text there, and the remedy."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message, re.DOTALL)
    if match is None:
        return f"'{path}': {message}"
    lines = text.splitlines() or [""]
    line, column = (int(match[2]), int(match[3])) if match[2] else (len(lines), len(lines[-1]) + 1)
    remedy = next((words for begins, words in REMEDIES.items() if match[1].startswith(begins)), IN_TOML)
    written = lines[line - 1].strip() if line <= len(lines) else ""
    shown_line = f" in {shown(written)}" if written else ""
    return f"'{path}', line {line}, column {column}: {match[1][:1].lower()}{match[1][1:]}{shown_line}: {remedy}"


def _read(path: Path) -> TomlSource:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise FileError(f"cannot read '{path}': {reason}") from None
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise FileError(f"'{path}', line {line}: not a text file in UTF-8: expected a mechanism in TOML") from None
    place = too_long_key(text)
    if place is not None:
        where = line_and_column(text, place)
        raise FileError(f"'{path}', {where}: a key of more than {PARTS_OF_KEY} parts: a mechanism needs 4 at most")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise FileError(f"'{path}': lists or tables are nested too deep for a mechanism") from None
    except ValueError as problem:
        raise FileError(_syntax_error(path, text, str(problem))) from None
    source = TomlSource(path, text, tables)
    for key, value in tables.items():
        if key not in AT_TOP:
            known = suggestion(key, AT_TOP) or f": there are {', '.join(AT_TOP)}"
            source.mistakes.append(f"{source.at([key])}: unknown key {key!r}{known}")
        if key in (*KINDS, CLOSURES, PARAMETERS, START) and not isinstance(value, dict):
            wanted = f"tables by their names, [{key}.NAME]" if key in (*KINDS, CLOSURES) else f"a table, [{key}]"
            raise FileError(f"{source.at([key])}: {key} must be {wanted}, got {shown(value)}")
        if key == INCLUDE and not isinstance(value, str | list):
            raise FileError(f"{source.at([key])}: include must be the names of files, got {shown(value)}")
    return source


def _other(path: Path, asked: str, options: ImportOptions) -> TomlSource:
    """Return an included file of another format, which must be data, not a script."""
    readable = [suffix for suffix, format_ in FORMATS.items() if format_.opened is None]
    if path.suffix not in readable:
        known = " or ".join([SUFFIX, *readable])
        raise FileError(f"{asked} includes '{path}': files that can be included end in {known}")
    format_ = FORMATS[path.suffix]
    mechanism = format_.load(*format_.arguments(path, options))
    data = to_data(mechanism)
    named = {which: {entry.pop("name"): entry for entry in data[which]} for which in KINDS}
    return TomlSource(path, "", {key: named.get(key, value) for key, value in data.items()}, mechanism.import_report)


def merged(sources: list[TomlSource], *path: str, again: bool = False) -> dict[str, tuple[Any, TomlSource]]:
    """Return the tables at a path of all files as one: keys to values and the files that hold them.

    ``again``: a key may stand in several files, and the last counts; else raises FileError, but for what a start takes
    the place of in an imported file.
    """
    merged: dict[str, tuple[Any, TomlSource]] = {}
    for source in sources:
        table: Any = source.tables
        for key in path:
            table = table.get(key, {})
        if not isinstance(table, dict):
            raise FileError(f"{source.at(path)}: {'.'.join(path)} must be a table, got {shown(table)}")
        for key, value in table.items():
            if key in merged and not again and not (path[0] == START and merged[key][1].report):
                there = merged[key][1].at([*path, key])
                raise FileError(f"{source.at([*path, key])}: {'.'.join([*path, key])} stands in {there} already")
            merged[key] = value, source
    return merged
