"""Inputs that are functions of time and state: held over a step, or extrapolated from the last two nodes."""

import dataclasses

import numpy as np
import pytest

import varint as vi

DURATION = 1.0


def feedback(t, state):
    """N m: a damped spring with a moving target, of the angle and speed of the first link."""
    angle = 2 * np.arctan2(state.quat_wxyz[0, 2], state.quat_wxyz[0, 0])
    return 3.0 * np.cos(5 * t) - 2.0 * np.sin(angle) - 0.5 * state.angular_velocity[0, 1]


def driven(function):
    return dataclasses.replace(
        vi.mechanisms.double_pendulum(), forces=[vi.Motor("motor", joint="joint 1", effort=function)]
    )


@pytest.fixture(scope="module")
def exact():
    return vi.redmax.simulate(driven(vi.extrapolated(feedback)), DURATION, dt=0.1, rtol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "order"), [(feedback, 1), (vi.extrapolated(feedback), 2)])
def test_order(exact, function, order):
    errors = [
        np.abs(vi.simulate(driven(function), DURATION, dt, order=4).position[-1] - exact.position[-1]).max()
        for dt in (2e-3, 1e-3)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"adaptive": 0.02}, {"output_times": [0.5]}])
def test_other_ways_to_run(exact, options):
    errors = []
    for function in (feedback, vi.extrapolated(feedback)):
        run = vi.simulate(driven(function), DURATION, 5e-3, **options)
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
    assert errors[1] < errors[0] / 10


@pytest.mark.slow
def test_instants_between_nodes():
    mechanism = driven(vi.extrapolated(feedback))
    exact = vi.redmax.simulate(mechanism, 0.5, rtol=1e-11, dt=0.1237)
    errors = []
    for dt in (2e-3, 1e-3):
        run = vi.simulate(mechanism, 0.5, dt, order=4, output_times=exact.t[1:-1])
        errors.append(np.abs(run.position[1:-1] - exact.position[1:-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


def test_what_cannot_be_called_is_refused():
    with pytest.raises(vi.ArgumentError, match="the function that is extrapolated must be a function"):
        vi.extrapolated(2.0)
