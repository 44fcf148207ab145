"""Every element and attribute of the formats of robots is read, reported or refused; none is lost without a word."""

from pathlib import Path

import pytest
from format_documents import answers, row, tags
from format_elements import SILENT

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"
FAST = [("sdf", "mimic"), ("sdf", "model"), ("urdf", "robot"), ("urdf", "transmission")]
ALL = [(name, tag) for name in ("sdf", "urdf") for tag in tags(name)]


@pytest.mark.many
@pytest.mark.parametrize(("name", "tag"), [pytest.param(*c, marks=() if c in FAST else pytest.mark.slow) for c in ALL])
def test_nothing_is_lost_without_a_word(name, tag, tmp_path):
    listed = answers(name, tag, tmp_path)
    assert not listed[SILENT]
    assert row(name, tag, listed) in PAGE.read_text(), "write the page anew: python docs/format_elements.py"
