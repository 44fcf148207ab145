"""Comments of XML with two hyphens in them, which XML forbids and many files have."""

import re
from typing import NamedTuple

OPEN, CLOSE = b"<!--", b"-->"
OTHERS = ((b"<![CDATA[", b"]]>"), (b"<?", b"?>"))  # in which <!-- opens no comment
OF_TAGS = re.compile(rb"[\"'>]")


class Comment(NamedTuple):
    """Place of the text of a comment in a file, in bytes, and its lines there, from 1."""

    start: int
    end: int
    first_line: int
    last_line: int


def comments_with_hyphens(content: bytes) -> list[Comment]:
    """The comments whose text has "--" in it or ends with "-", in one pass over an encoding that extends ASCII.

    A comment ends at the first "-->". Comments are looked for between tags alone, not in quoted values, instructions
    and sections of CDATA. What is never closed ends the search.
    """
    comments, place, line, counted = [], 0, 1, 0
    while (place := content.find(b"<", place)) >= 0:
        if not content.startswith(OPEN, place):
            place = _end_of_markup(content, place)
            if place < 0:
                break
            continue
        start = place + len(OPEN)
        end = content.find(CLOSE, start)
        if end < 0:
            break
        text = content[start:end]
        if b"--" in text or text.endswith(b"-"):
            line += content.count(b"\n", counted, start)
            last = line + text.count(b"\n")
            comments.append(Comment(start, end, line, last))
            line, counted = last, end
        place = end + len(CLOSE)
    return comments


def without_hyphens(content: bytes, comments: list[Comment]) -> bytes:
    """The content with blanks in place of the hyphens in these comments: every other byte stays where it is."""
    pieces, done = [], 0
    for comment in comments:
        pieces += [content[done : comment.start], content[comment.start : comment.end].replace(b"-", b" ")]
        done = comment.end
    return b"".join([*pieces, content[done:]])


def _end_of_markup(content: bytes, place: int) -> int:
    """The place behind the tag, section or instruction that opens at ``place``; -1 where it is not closed."""
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
    return -1
