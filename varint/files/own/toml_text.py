"""The text of TOML files of mechanisms."""

import json
import re
from collections.abc import Mapping
from typing import Any

START = "start"
BARE = re.compile(r"[A-Za-z0-9_-]+")
INTRODUCTION = "# SI units: m, kg, s, rad, N. Points and axes: world axes, reference configuration."


def text_of(data: dict[str, Any], tables: Mapping[str, str]) -> str:
    """Return the text; ``tables``: the lists of named entries in the data, and the name of their tables."""
    blocks = [[INTRODUCTION], _lines({key: value for key, value in data.items() if key not in (*tables, START)})]
    for which, called in tables.items():
        for entry in data.get(which, ()):
            blocks.append(
                [f"[{called}.{_key(entry['name'])}]", *_lines({k: v for k, v in entry.items() if k != "name"})]
            )
    for key, values in data.get(START, {}).items():
        blocks.append([f"[{START}.{key}]", *_lines(values)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {value_text(value)}" for key, value in table.items() if value is not None]


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else value_text(name)


def value_text(value: object) -> str:
    """Return the text of a value behind a key, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(_lines(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
