"""Lines of tables and keys in a TOML file, which its parser does not report."""

import re
import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]
TOKENS = re.compile(  # texts that are not closed end with their line or the file, so that each is read once
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5})?|\'\'\'(?:.*?\'{3,5}|.*)'  # texts over several lines
    r"|\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?"  # texts
    r"|\#[^\n]*|\n|[\[\]{}=,.]|[^\s\[\]{}=,.\"'\#]+",
    re.DOTALL,
)

PARTS_OF_KEY = 64  # the time of Python's parser grows as the square of their number


def too_long_key(text: str) -> int | None:
    """Return the first character at which a key has more than `PARTS_OF_KEY` parts, or None.

    ``text`` may be no TOML.
    """
    if all(line.count(".") < PARTS_OF_KEY for line in text.split("\n")):
        return None
    dots = 0
    for match in TOKENS.finditer(text):
        token = match.group()
        dots = dots + 1 if token == "." else 0 if token in "\n[]{},=" else dots
        if dots >= PARTS_OF_KEY:
            return match.start()
    return None


def places_of(text: str) -> dict[Path, int]:
    """Return the characters where tables and keys begin, by their paths; ``text`` is valid TOML.

    Keys within arrays and inline tables are not among them.
    """
    places: dict[Path, int] = {}
    for path, place, _ in _lines(text):
        places.setdefault(path, place)
    return places


def comments_of(text: str) -> dict[Path, str]:
    """Return the comments behind tables and keys, by their paths, without the mark; "" by default."""
    return {path: comment for path, _, comment in _lines(text)}


def _lines(text: str) -> Iterator[tuple[Path, int, str]]:
    """Yield path, character and comment of each table and key."""
    table: Path = ()
    line: list[tuple[str, int]] = []
    depth, key, comment = 0, None, ""
    for match in [*TOKENS.finditer(text), None]:
        token = match.group() if match else "\n"
        if token == "\n" and not (key is not None and depth):
            if line and line[0][0] == "[" and key is None:
                key = table = _path(line)
            if key is not None:
                yield key, line[0][1], comment
            line, depth, key, comment = [], 0, None, ""
        elif token.startswith("#"):
            comment = token.lstrip("#").strip()
        elif key is not None:
            depth += (token in "[{") - (token in "]}")
        elif token == "=":
            key = table + _path(line)
        elif match:
            line.append((token, match.start()))


def line_and_column(text: str, place: int) -> str:
    """Return "line N, column M", both counted from one."""
    begin = text.rfind("\n", 0, place) + 1
    return f"line {text.count(chr(10), 0, place) + 1}, column {place - begin + 1}"


def _path(tokens: list[tuple[str, int]]) -> Path:
    parts = (token for token, _ in tokens if token not in "[].")
    return tuple(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part for part in parts)
