"""Defects of XML that other programs pass over: in comments, between attributes, at the end of a file."""

import re
from typing import NamedTuple

OPEN, CLOSE = b"<!--", b"-->"
OTHERS = ((b"<![CDATA[", b"]]>"), (b"<?", b"?>"))  # in which <!-- opens no comment
OF_TAGS = re.compile(rb"[\"'>]")
BEGINS_NAME = re.compile(rb"[A-Za-z_:]")
BLANKS_AND_ZEROS = b"\0 \t\r\n\v\f"


class DefectKind(NamedTuple):
    """A kind of defects: the ``message`` of the error, and the ``change`` that the import report lists."""

    message: str
    change: str


HYPHENS = DefectKind(
    "a comment has '--' inside, which XML forbids: take that out", "comment with '--' inside, left out"
)  # fmt: skip
NO_UTF8 = DefectKind(
    "a comment has bytes that are no UTF-8: write it in UTF-8", "bytes of a comment that are no UTF-8, left out"
)
JOINED = DefectKind(
    "there is no blank between two attributes: put one there", "blank between two attributes, put there"
)
ZEROS = DefectKind("the file ends with zero bytes: take them out", "zero bytes at the end of the file, left out")


class Defect(NamedTuple):
    """Bytes from ``start`` to ``end`` of a file, and what they should be; ``line``: of ``start``, counted from 1."""

    kind: DefectKind
    start: int
    end: int
    line: int
    instead: bytes


def defects_of(content: bytes) -> list[Defect]:
    """Return the defects in their order; ``content`` is in an encoding that extends ASCII.

    A comment is a defect if its text has "--" in it or ends with "-"; its hyphens become blanks. So is one with bytes
    that are no UTF-8, where no other encoding is declared. It ends at the first
    "-->". Comments are looked for between tags alone, not in quoted values, instructions and sections of CDATA. Markup
    that is never closed ends the search, but for zero bytes.
    """
    defects: list[Defect] = []
    line = counted = place = 0
    declared = content[: content.find(b"?>")] if content.startswith(b"<?xml") else b""
    of_utf8 = b"encoding" not in declared or b"utf-8" in declared.lower()

    def add(kind: DefectKind, start: int, end: int, instead: bytes) -> None:
        nonlocal line, counted
        line, counted = line + content.count(b"\n", counted, start), start
        defects.append(Defect(kind, start, end, line + 1, instead))

    while (place := content.find(b"<", place)) >= 0:
        if not content.startswith(OPEN, place):
            joined: list[int] = []
            place = _end_of_markup(content, place, joined)
            for at in joined:
                add(JOINED, at, at, b" ")
            if place < 0:
                break
            continue
        start = place + len(OPEN)
        end = content.find(CLOSE, start)
        if end < 0:
            break
        text = content[start:end]
        if of_utf8 and not _is_utf8(text):
            add(NO_UTF8, start, end, bytes(byte if byte < 128 else ord("?") for byte in text).replace(b"-", b" "))
        elif b"--" in text or text.endswith(b"-"):
            add(HYPHENS, start, end, text.replace(b"-", b" "))
        place = end + len(CLOSE)
    if (zeros := content.find(b"\0", len(content.rstrip(BLANKS_AND_ZEROS)))) >= 0:
        add(ZEROS, zeros, len(content), b"")
    return defects


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def mended(content: bytes, defects: list[Defect]) -> bytes:
    """Return the content without these defects; every other byte stays in its line."""
    pieces, done = [], 0
    for defect in defects:
        pieces += [content[done : defect.start], defect.instead]
        done = defect.end
    return b"".join([*pieces, content[done:]])


def _end_of_markup(content: bytes, place: int, joined: list[int]) -> int:
    """Return the place behind the tag, section or instruction that opens at ``place``; -1 if it is not closed.

    Places behind quoted values that a name follows without a blank are added to ``joined``.
    """
    for opening, closing in OTHERS:
        if content.startswith(opening, place):
            end = content.find(closing, place)
            return end + len(closing) if end >= 0 else -1
    place += 1
    while (mark := OF_TAGS.search(content, place)) is not None:
        if mark.group() == b">":
            return mark.end()
        place = content.find(mark.group(), mark.end()) + 1
        if not place:
            break
        if BEGINS_NAME.match(content, place):
            joined.append(place)
    return -1
