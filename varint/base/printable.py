"""Texts without characters that a terminal takes for commands."""

import re
import sys
from typing import Any

# C0 and C1 but tab and line feed, and what changes the direction of a text
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return ``text`` with control characters written as in Python, such as ``\x1b``."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def printable_data(data: Any) -> Any:
    """Return a copy of ``data``, as JSON holds it, whose texts are printable; keys stay."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, dict):
        return {key: printable_data(value) for key, value in data.items()}
    return [printable_data(value) for value in data] if isinstance(data, list | tuple) else data


def retell(line: str) -> None:
    """Write ``line`` over the one on which the cursor of a terminal stands; an empty one leaves it blank."""
    if sys.stderr is not None:
        print(f"\r\x1b[K{f'varint: {printable(line)}' if line else ''}", end="", file=sys.stderr, flush=True)


def tell(line: str) -> None:
    """Write ``line`` to stderr, where there is one."""
    if sys.stderr is not None:
        print(f"varint: {printable(line)}", file=sys.stderr, flush=True)
