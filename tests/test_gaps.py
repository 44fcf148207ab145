"""Nodes that are too far apart: a warning tells of whole turns that are missing, and of motion that is not known."""

import warnings

import numpy as np
import pytest

import varint as vi


@pytest.fixture(scope="module")
def rare():
    """A crank that turns by some 6 rad between two nodes."""
    return vi.simulate(vi.mechanisms.four_bar(case="crank-rocker"), 20.0, 0.005, every=200)


def test_coordinates_whose_turns_are_lost(rare):
    with pytest.warns(vi.SparseNodesWarning, match=r"joint 'crank pivot' turns by some \d.* whole turns are missing"):
        found = rare.coordinates["crank pivot"]
    assert found is rare.coordinates["crank pivot"]  # told once
    assert np.ptp(found) < 20 * np.pi


def test_the_motion_in_between_is_not_known(rare):
    with pytest.warns(vi.SparseNodesWarning, match=r"body '.*' turns by some .* between the nodes at 2 and 3 s"):
        rare.at(2.5)
    rare.at(2.0)


def test_nothing_is_said_where_all_is_known(rare):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rare.rates["crank pivot"].shape == rare.t.shape
        run = vi.simulate(vi.mechanisms.four_bar(case="crank-rocker"), 5.0, 0.005)
        some = run[::200]
        assert some.coordinates["crank pivot"] == pytest.approx(run.coordinates["crank pivot"][::200], abs=1e-12)
        assert run.at([1.001, 2.001]).coordinates["crank pivot"].shape == (2,)
        slide = vi.Prismatic("slide", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
        body = vi.Body.box("wheel", (0.1, 0.1, 0.1), 1.0)
        falling = vi.simulate(vi.Mechanism("falls", [body], [slide]), 20.0, 0.01, every=1000)
        assert falling.coordinates["slide"][-1] < -1000


def test_the_command_says_so_in_a_line(rare, tmp_path, capsys):
    from varint.cli import main

    rare.save(tmp_path / "rare.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["plot", str(tmp_path / "rare.h5"), "coordinates", "-o", str(tmp_path / "rare.png")]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "turns by some" in line]
    assert told
    assert all(line.startswith("varint: warning: joint ") for line in told)
