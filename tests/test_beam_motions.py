"""Motions of flexible links against solutions with cubic elements, computed apart from the package."""

import importlib
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from beam_cases import CASES, chord_frequency, pendulum_tip, rod_deflection


@pytest.mark.slow
def test_flexible_pendulum():
    """Tip at 0.25, 0.5, 0.75 and 1 s by 8 cubic elements, which differ from 6 by 1e-4."""
    case = next(case for case in CASES if case.values is pendulum_tip)
    errors = [case.error(pendulum_tip(n)) for n in (16, 32)]
    assert errors[1] < 1.4e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "halved"),
    [
        (partial(pendulum_tip, times=(0.25, 0.5)), (1, 2, 4)),
        # the start has no tension: the rod rings along itself, and steps have to resolve that
        (partial(rod_deflection, times=(0.002,)), (16, 32, 64)),
    ],
    ids=["pendulum", "slider-crank"],
)
def test_order_two_in_time(values, halved):
    found = [values(4, finer=finer) for finer in halved]
    steps = [np.abs(a - b).max() for a, b in pairwise(found)]
    assert np.log2(steps[0] / steps[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.slow
def test_slider_crank_with_a_flexible_rod():
    """Deflections at 0.02, 0.04 and 0.06 s by 4 cubic elements, of 1.87 mm at most."""
    case = next(case for case in CASES if case.values is rod_deflection)
    errors = [case.error(rod_deflection(n)) for n in (8, 16)]
    assert errors[0] < 7e-3
    assert errors[1] < 1.5e-3  # the reference is no more exact


@pytest.mark.slow
def test_chord_frequency_of_a_beam_on_a_hub():
    case = next(case for case in CASES if case.values is chord_frequency)
    errors = [case.error(chord_frequency(n)) for n in (8, 16)]
    assert errors[1] < 6e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


@pytest.mark.slow
def test_a_loaded_beam_takes_a_fifth_of_the_bodies_of_rigid_pieces(monkeypatch):
    """Six elements against 40 rods on hinges with springs: three swings of a load at the tip."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    link = importlib.import_module("flexible_link")
    monkeypatch.setattr(link, "STEPS", 600)
    load = link.LOADS[0]
    wanted = link.tip(link.as_beam(32, load), load)
    beam, pieces = (
        np.abs(link.tip(made, load) - wanted).max() / np.abs(wanted).max()
        for made in (link.as_beam(6, load), link.as_pieces(40, load))
    )
    assert beam < pieces
    assert pieces < 0.01  # the same motion
    assert 5 * len(link.as_beam(6, load).bodies) <= len(link.as_pieces(40, load).bodies)
