"""Texts without characters that a terminal takes for commands."""

import re

# C0 and C1 but tab and line feed, and what changes the direction of a text
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return ``text`` with control characters written as in Python, such as ``\x1b``."""
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)
