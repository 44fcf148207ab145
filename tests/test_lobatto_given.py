"""Damping that begins within a step of collocation: a run reports energy that a damped force gave."""

import warnings

import pytest
from test_strong_damping import BLOCK, DT, ORIGIN, SLIDE

import varint as vi


def stopped(damping, method):
    """A block of 1 kg that meets a soft stop at 1 m/s, within a step: its speeds and the warnings of the run."""
    stop = vi.JointStop("s", joint="p", lower=-1.0, upper=0.0205, stiffness=1.0, damping=damping)
    mechanism = vi.Mechanism("m", [BLOCK], [SLIDE], gravity=ORIGIN, forces=[stop])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = vi.simulate(vi.Problem(mechanism, 0.04, mechanism.state(velocity={"b": (1, 0, 0)})), method)
    return run.velocity[:, 0, 0], [str(each.message) for each in told]


@pytest.mark.parametrize("damping", [10.0, 1e3, 1e5])
def test_energy_that_a_damped_stop_gave_is_reported(damping):
    speed, told = stopped(damping, vi.Lobatto(DT, 4))
    if abs(speed).max() > 1.02:
        (message,) = told
        assert "jointstop 's' gave" in message
        assert "it can only store and dissipate energy" in message
        assert "order 2" in message
    else:
        assert not told
    assert (damping < 1e4) == (not told)
    speed, told = stopped(damping, vi.Variational(DT))
    assert abs(speed).max() < 1.0 + 1e-9
    assert not told
