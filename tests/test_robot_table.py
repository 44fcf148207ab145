"""The table of robot files in folders of the user."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks"))
pytestmark = pytest.mark.slow  # MuJoCo, and runs


def test_files_that_agree_differ_and_are_refused(tmp_path):
    pytest.importorskip("mujoco")
    from robot_agreement import HEAD, table

    arm = (ROOT / "examples" / "robots" / "arm.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(arm)
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "bad.urdf").write_text("<robot name='r'/>")
    (tmp_path / "notes.xml").write_text("<notes/>")
    head, good, bad, numbers = table([tmp_path])
    assert head == HEAD
    cells = [cell.strip() for cell in good.split("|")[1:-1]]
    assert cells[:2] == ["arm.urdf", "yes"]
    assert cells[4:] == ["yes"] * 6
    assert "inside/bad.urdf" in bad
    assert "<robot> has no <link>" in bad
    assert "2 files, 1 load, 1 run" in numbers
