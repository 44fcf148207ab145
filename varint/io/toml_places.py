"""Where tables and keys stand in a TOML file, which its parser does not tell."""

import re
import tomllib

Path = tuple[str, ...]
TOKENS = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}|\'\'\'.*?\'{3,5}'  # texts over several lines
    r"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"  # texts
    r"|\#[^\n]*|\n|[\[\]{}=,.]|[^\s\[\]{}=,.\"'\#]+",
    re.DOTALL,
)


def places_of(text: str) -> dict[Path, int]:
    """Tables and keys, by their paths, to the characters where they begin; ``text`` is TOML without mistakes.

    Keys within arrays and inline tables are not among them.
    """
    places: dict[Path, int] = {}
    table: Path = ()
    line: list[tuple[str, int]] = []
    depth, in_value = 0, False
    for found in [*TOKENS.finditer(text), None]:
        token = found.group() if found else "\n"
        if token == "\n" and not (in_value and depth):
            if line and line[0][0] == "[" and not in_value:
                table = _path(line)
                places.setdefault(table, line[0][1])
            line, depth, in_value = [], 0, False
        elif in_value:
            depth += (token in "[{") - (token in "]}")
        elif token == "=":
            places.setdefault(table + _path(line), line[0][1])
            in_value = True
        elif found and not token.startswith("#"):
            line.append((token, found.start()))
    return places


def line_and_column(text: str, place: int) -> str:
    """ "line N, column M", both from one."""
    begin = text.rfind("\n", 0, place) + 1
    return f"line {text.count(chr(10), 0, place) + 1}, column {place - begin + 1}"


def _path(tokens: list[tuple[str, int]]) -> Path:
    parts = (token for token, _ in tokens if token not in "[].")
    return tuple(tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part for part in parts)
