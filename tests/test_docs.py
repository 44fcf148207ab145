"""The examples of the README run, and what it says of the package is so."""

import re
import runpy
from pathlib import Path

import varint as vi
from varint.model.joints import REGISTRY

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_python_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert blocks
    for block in blocks:
        names = {}
        exec(block, names)
        traj = names["traj"]
        assert traj.success
        assert abs(traj.energy - traj.energy[0]).max() < 1e-2 * traj.kinetic.max()
        assert traj.orientation.shape == (1001, len(traj.mechanism.bodies))
        for attribute in re.findall(r"`(\w+)`", README.split("A `Trajectory` has")[1].split("\n\n")[0]):
            assert hasattr(traj, attribute), attribute


def test_names_every_joint():
    listed = README.split("**Joints:**")[1].split("* **")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(REGISTRY)


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_public_name_is_documented():
    for name in vi.__all__:
        assert getattr(vi, name).__doc__, name


def test_tables_of_runs_are_those_of_the_registries():
    """``make docs`` writes them."""
    filled = runpy.run_path(str(ROOT / "docs" / "tables.py"))["filled"]
    page = (ROOT / "docs" / "runs.md").read_text()
    assert filled(page) == page
