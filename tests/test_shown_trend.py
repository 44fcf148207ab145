"""The trend of an energy in the summary of a run: its error, and the verdict of `energy_trend`."""

import re

import numpy as np
import pytest

import varint as vi
from varint.results.derived import QUANTITIES


def rows_of(run, name):
    return dict(QUANTITIES[name].rows(run))


@pytest.mark.parametrize("duration", [1.0, 20.0, 60.0])
def test_the_summary_has_the_slope_and_verdict_of_energy_trend(duration):
    run = vi.simulate(vi.mechanisms.double_pendulum(), duration, 0.01)
    trend = vi.energy_trend(run)
    shown = rows_of(run, "energy")["by a line"]
    slope, error = (float(number) for number in re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", shown)[:2])
    assert slope == pytest.approx(trend.slope, rel=0.01)
    assert error == pytest.approx(trend.error, rel=0.1)
    verdict = "a trend" if trend.significant else "no trend distinguishable from zero"
    assert shown.endswith(f" J/s: {verdict}")


def test_a_method_that_gains_energy_has_a_trend():
    run = vi.redmax.simulate(vi.mechanisms.double_pendulum(), 20.0, dt=0.01, integrator="heun")
    assert vi.energy_trend(run).significant
    shown = rows_of(run, "energy")["by a line"]
    assert shown.endswith("J/s: a trend")


def test_few_nodes_have_no_error():
    run = vi.simulate(vi.mechanisms.double_pendulum(), 0.05, 0.01)
    for name, quantity in QUANTITIES.items():
        if quantity.rows:
            assert "by a line" not in rows_of(run, name)
    assert len(run) < 8
    assert np.isfinite(run.energy).all()
