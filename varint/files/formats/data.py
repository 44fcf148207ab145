"""Mechanisms as JSON."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from varint.base.atomic_writes import write_text
from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.own.mechanism_data import from_data, to_data
from varint.mechanism.mechanism import Mechanism

TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[^\s,:\[\]{}"]+|[\[\]{}]')  # texts, brackets, and what stands between them
COLON = re.compile(r"\s*:")  # behind a key
LONGEST_ROW = 100  # characters of an array of arrays on one line


class _Refused(ValueError):
    """A ``token`` that JSON or Python allows and no mechanism has, or a ``key`` that is repeated."""

    def __init__(self, message: str, token: str = "", key: str = "") -> None:
        super().__init__(message)
        self.token, self.key = token, key


def load(path: Path) -> Mechanism:
    """Return the mechanism in a file of JSON, in UTF-8, or in UTF-16 or UTF-32, detected by its first bytes."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise FileError(f"cannot read '{path}': {problem.strerror}") from None
    try:
        text = content.decode(json.detect_encoding(content))
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise FileError(f"'{path}', line {line}: not a text file in UTF-8: expected a mechanism in JSON") from None
    try:
        data = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_float, parse_int=_whole_number
        )
    except json.JSONDecodeError as problem:
        raise FileError(f"'{path}', {_syntax(problem, text)}") from None
    except _Refused as problem:
        where = _line_of(problem.token, text) if problem.token else _line_of_repeated(problem.key, text)
        raise FileError(f"'{path}'{where}: {problem}") from None
    except RecursionError:
        raise FileError(f"'{path}': lists or objects are nested too deep for a mechanism") from None
    lines: dict[str, list[int]] = {}  # of the elements of each list that an error is about

    def line_of(which: str, number: int, _: str) -> str:
        if which not in lines:
            lines[which] = _lines_of_elements(which, text)
        return f", line {lines[which][number]}" if number < len(lines[which]) else ""

    return from_data(data, f"'{path}'", line_of)


def save(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism as JSON, to the same bits."""
    write_text(path, _written(to_data(mechanism)) + "\n")


def _written(value: object, indent: str = "") -> str:
    """Return JSON text with arrays on one line, long arrays of arrays with one row a line."""
    deeper = indent + " "
    if isinstance(value, Mapping) and value:
        items = [f"{json.dumps(key)}: {_written(item, deeper)}" for key, item in value.items()]
        return _block(items, "{}", indent)
    text = json.dumps(value, allow_nan=False)
    if isinstance(value, list | tuple) and (
        any(isinstance(item, Mapping) for item in value)
        or (len(text) > LONGEST_ROW and any(isinstance(item, list | tuple) for item in value))
    ):
        return _block([_written(item, deeper) for item in value], "[]", indent)
    return text


def _block(items: list[str], brackets: str, indent: str) -> str:
    rows = ",\n".join(f"{indent} {item}" for item in items)
    return f"{brackets[0]}\n{rows}\n{indent}{brackets[1]}"


def _syntax(problem: json.JSONDecodeError, text: str) -> str:
    """Return the line and the fault, named where the parser's message does not name it."""
    before, here = text[: problem.pos].rstrip(), text[problem.pos :]
    line, fault = problem.lineno, problem.msg
    if not text.strip():
        fault = "the file is empty: expected a mechanism in JSON"
    elif here.startswith(("//", "#", "/*")):
        fault = "JSON has no comments"
    elif here.startswith(("]", "}")) and before.endswith(","):
        line, fault = before.count("\n") + 1, "a comma behind the last element"
    elif not before:
        fault = "this is no JSON: expected an object with name, bodies and joints"
    return f"line {line}: {fault}"


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of ``pairs``. Raises _Refused for a repeated key, whose first value would be lost."""
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            whose = f" of {entries['name']!r}" if isinstance(entries.get("name"), str) else ""
            raise _Refused(f"the key {key!r}{whose} stands there twice", key=key)
        entries[key] = value
    return entries


def _no_number(token: str) -> float:
    raise _Refused(f"{token} is no number in JSON", token)


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise _Refused(f"the number {_short(token)} is too large", token)
    return value


def _whole_number(token: str) -> int:
    _float(token)  # which no text is too long for
    return int(token)


def _short(token: str) -> str:
    return token if len(token) < 40 else f"{token[:30]}... of {len(token)} digits"


def _line_of(token: str, text: str) -> str:
    """Return ", line N" of the first occurrence of the token outside of texts, or ""."""
    for match in TOKENS.finditer(text):
        if match.group() == token:
            return _line(match.start(), text)
    return ""


def _line_of_repeated(key: str, text: str) -> str:
    """Return ", line N" where the key stands for the second time in an object, or ""."""
    objects: list[bool] = []  # that are open, arrays too: whether the key was there
    for match in TOKENS.finditer(text):
        token = match.group()
        if token in "[{":
            objects.append(False)
        elif token in "]}":
            objects.pop()
        elif COLON.match(text, match.end()) and json.loads(token) == key:
            if objects[-1]:
                return _line(match.start(), text)
            objects[-1] = True
    return ""


def _lines_of_elements(which: str, text: str) -> list[int]:
    """Return the lines where the elements of the top-level list ``which`` begin."""
    depth, key, inside = 0, "", False
    lines: list[int] = []
    line, counted = 1, 0
    for match in TOKENS.finditer(text):
        token = match.group()
        if token in "]}":
            depth -= 1
            continue
        if depth == 1:
            inside, key = token == "[" and key == which, json.loads(token) if token[0] == '"' else ""
        elif depth == 2 and inside:
            line, counted = line + text.count("\n", counted, match.start()), match.start()
            lines.append(line)
        depth += token in "[{"
    return lines


def _line(place: int, text: str) -> str:
    return f", line {text.count(chr(10), 0, place) + 1}"


register(Format(".json", "the description as JSON", load, save))
