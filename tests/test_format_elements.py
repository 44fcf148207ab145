"""Every element and attribute of the formats of robots is read, reported or refused; none is lost without a word."""

from pathlib import Path

import pytest
from format_documents import FORMATS, answers, row, tags
from format_elements import SILENT

PAGE = Path(__file__).parents[1] / "docs" / "formats.md"
FAST = [("sdf", "mimic"), ("sdf", "model"), ("urdf", "robot"), ("urdf", "transmission"), ("osim", "LinearFunction")]
ALL = [(name, tag) for name in FORMATS for tag in tags(name)]
MUJOCO = "4.0.0"  # whose answers the page has: versions refuse elements of one another


@pytest.mark.many
@pytest.mark.parametrize(("name", "tag"), [pytest.param(*c, marks=() if c in FAST else pytest.mark.slow) for c in ALL])
def test_nothing_is_lost_without_a_word(name, tag, tmp_path):
    mujoco = pytest.importorskip("mujoco") if name == "mjcf" else None
    listed = answers(name, tag, tmp_path)
    assert not listed[SILENT]
    if mujoco is None or mujoco.__version__ == MUJOCO:
        assert row(name, tag, listed) in PAGE.read_text(), "write the page anew: python docs/format_elements.py"
