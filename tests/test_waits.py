"""What is not done again, and what is not imported, while someone waits; the doors of the pages."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.mechanism import sweep_pool

ROOT = Path(__file__).parents[1]
LOADED = """
import runpy, sys
sys.argv = {words}
try:
    runpy.run_module("varint", run_name="__main__")
finally:
    print(*sys.modules)
"""


@pytest.mark.parametrize("words", [["varint", "--help"], ["varint", "rum"]])
def test_help_and_typos_do_not_wait_for_compilers_files_and_pictures(words):
    command = [sys.executable, "-c", LOADED.format(words=words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    modules = run.stdout.splitlines()[-1].split()
    assert "varint.cli" in modules
    assert not {"numba", "scipy", "h5py", "matplotlib", "networkx"} & set(modules)


def test_a_second_sweep_makes_no_equations_and_no_state(monkeypatch):
    mechanism, values = vi.mechanisms.four_bar(), np.linspace(0.0, 1.0, 20)
    first = mechanism.sweep("crank pivot", values)

    def made_again(*arguments, **named):
        raise AssertionError("made again")

    monkeypatch.setattr(sweep_pool, "DrivenEquations", made_again)
    monkeypatch.setattr(vi.Mechanism, "state", made_again)
    np.testing.assert_array_equal(mechanism.sweep("crank pivot", values).position, first.position)
    with pytest.raises(AssertionError, match="made again"):
        mechanism.sweep("rocker pivot", values)


def test_episodes_begin_from_a_state_that_is_made_once(monkeypatch):
    sim = vi.Stepper(vi.mechanisms.cart_pole(), 0.005)
    start, count = sim.state, []
    original = vi.Mechanism.state
    monkeypatch.setattr(vi.Mechanism, "state", lambda *args, **named: count.append(1) or original(*args, **named))
    for _ in range(3):
        sim.step(10)
        sim.reset()
        np.testing.assert_array_equal(sim.state.position, start.position)
        np.testing.assert_array_equal(sim.state.velocity, start.velocity)
    assert len(count) == 1


def test_the_summary_says_what_its_trend_is(capsys):
    assert main(["run", "double_pendulum", "--duration", "1", "--dt", "0.01"]) == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "its trend" in words
    assert "from the mean of the first tenth to that of the last" in words


def test_the_pages_have_four_doors_each_with_pages_of_its_own():
    page = (ROOT / "docs" / "index.md").read_text()
    doors = re.findall(r"^\* \*\*([^:*]+):\*\*(.*)$", page, re.M)
    assert [name for name, _ in doors] == ["Start", "How to", "Understand", "Look up"]
    trees = re.findall(r":caption: (.+)\n:hidden:\n\n((?:[a-z_/]+\n)+)", page)
    listed = {name: names.split() for name, names in trees}
    assert list(listed) == [name for name, _ in doors]
    for name, text in doors:
        assert set(re.findall(r"\(([a-z_/]+)\.md\)", text)) <= set(listed[name]), name
    everything = [each for names in listed.values() for each in names]
    assert len(everything) == len(set(everything))


def test_the_readme_leads_with_loops():
    first = (ROOT / "README.md").read_text().split("\n\n")[1]
    assert first.startswith("**varint simulates mechanisms with closed loops")
