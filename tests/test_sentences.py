"""Sentences of every page are short: below twenty words on average."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
MOST = 20.0  # words of a sentence, average of a page


def sentences(page: str) -> list[str]:
    """Sentences of three words and more of a page; code counts as one word, tables and headings not at all."""
    text = re.sub(r"<[^>]+>", "", re.sub(r"```.*?```", "", page, flags=re.S))
    parts = []
    for part in map(str.strip, re.split(r"\n\s*\n|\n(?=\s*[-*] |\s*\d+\. |\||#)", text)):
        if part and part[0] not in "|#!":
            plain = re.sub(r"`[^`]*`", "x", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", part))
            parts += [each for each in re.split(r"(?<=[.!?])\s+", plain) if len(each.split()) > 2]
    return parts


def average(page: str) -> float:
    counts = [len(each.split()) for each in sentences(page)]
    return sum(counts) / len(counts) if counts else 0.0


def test_sentences_of_every_page_are_short():
    averages = {path.stem: average(path.read_text(encoding="utf-8")) for path in DOCS.glob("*.md")}
    assert {name: value for name, value in averages.items() if not value < MOST} == {}


def test_words_of_sentences_are_counted():
    page = (
        "# A heading\n\nThree words here. And a [link of four words](page.md), `code of many words`.\n\n| a | table |\n"
    )
    assert sentences(page) == ["Three words here.", "And a link of four words, x."]
    assert average(page) == 5.0
