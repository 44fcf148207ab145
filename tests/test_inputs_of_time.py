"""Inputs that are functions of the time alone: evaluated within the steps, which keeps the order of the scheme."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varint as vi
from varint.derivatives.numbers import differences
from varint.model.forces.commanded import _takes_one

DURATION = 1.0


def torque(t):
    return 2.0 * np.cos(7.0 * t)


def driven(effort):
    plain = vi.mechanisms.double_pendulum()
    return dataclasses.replace(plain, forces=[vi.Motor("motor", joint="joint 1", effort=effort)])


@pytest.fixture(scope="module")
def exact():
    return vi.redmax.simulate(driven(torque), DURATION, dt=0.01, rtol=1e-12)


@pytest.mark.parametrize(("order", "dt"), [(2, 0.01), (4, 0.01), (6, 0.04)])
def test_order(exact, order, dt):
    errors = []
    for size in (dt, dt / 2):
        run = vi.simulate(driven(torque), DURATION, size, order=order, tol=1e-13)
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.slow
def test_order_on_a_loop():
    """Of a four-bar with a servo that follows a function of time, and an actuator with a state of its own."""
    plain = vi.mechanisms.four_bar()
    servo = vi.FirstOrderActuator("actuator", joint="crank pivot", gain=3.0, time_constant=0.1, command=torque)
    mechanism = dataclasses.replace(plain, forces=[servo])
    reference = vi.redmax.simulate(mechanism, 0.4, dt=0.01, rtol=1e-12)
    errors = []
    for dt in (0.02, 0.01):
        run = vi.simulate(mechanism, 0.4, dt, order=4, tol=1e-13)
        errors.append(np.abs(run.position[-1] - reference.position[-1]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)


def test_instants_between_steps(exact):
    times = [0.333, 0.777]
    run = vi.simulate(driven(torque), DURATION, 0.01, order=4, tol=1e-13, output_times=times)
    for t, found, effort in zip(times, run.position[1:], run.command[1:], strict=False):
        np.testing.assert_allclose(found, exact.at(t).position, atol=2e-8)
        assert effort[0] == pytest.approx(torque(t), abs=1e-14)


@pytest.mark.slow
def test_steps_that_follow_the_motion(exact):
    errors = []
    for turn in (0.1, 0.05):
        run = vi.simulate(driven(torque), DURATION, 0.02, order=4, adaptive=turn, tol=1e-13)
        errors.append(np.abs(run.position[-1] - exact.position[-1]).max())
    assert errors[0] < 2e-7
    assert errors[1] < errors[0] / 4


def test_steps_that_a_stop_cuts():
    """Between the values of a step the function is a polynomial through those that are near."""
    motor, stop = (
        driven(torque).forces[0],
        vi.JointStop("stop", joint="joint 2", lower=-0.3, upper=3.0, restitution=0.7),
    )
    mechanism = dataclasses.replace(driven(torque), forces=[motor, stop])
    runs = [vi.simulate(mechanism, 0.5, dt, tol=1e-13) for dt in (0.02, 0.01, 0.005)]
    far, near = (np.abs(a.position[-1] - b.position[-1]).max() for a, b in pairwise(runs))
    assert near < far / 3


def test_the_function_is_asked_for_times_of_the_run_alone():
    asked = []

    def noted(t):
        asked.append(t)
        return torque(t)

    vi.simulate(driven(noted), 0.1, 0.01, order=4)
    assert min(asked) == 0.0
    assert max(asked) == pytest.approx(0.1, abs=1e-12)


def test_what_is_a_function_of_time_alone():
    amplitude = 2.0

    class Callable:
        def __call__(self, t):
            return t

    assert _takes_one(lambda t: t)
    assert _takes_one(lambda t, a=amplitude: a * t)
    assert _takes_one(np.sin)
    assert _takes_one(CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]))
    assert _takes_one(Callable())
    assert not _takes_one(lambda t, state: t)
    assert not _takes_one(lambda *given: 0.0)
    assert not _takes_one(np.arctan2)


def test_an_error_of_the_function_names_the_force():
    def wrong(t):
        return np.nan if t > 0.05 else 0.0

    with pytest.raises(vi.ArgumentError, match=r"effort of motor 'motor' at t = 0\.05"):
        vi.simulate(driven(wrong), 0.1, 0.01)


@pytest.mark.slow
def test_gradients():
    """By the size of the steps, which moves the times of the function, and by what the function itself has."""

    def build(size, pace):
        return driven(lambda t: size * np.cos(pace * t))

    def height(state):
        return float(state.position[1, 2])

    given = {"size": 2.0, "pace": 7.0}
    asked = {"parameters": given, "with_respect_to": ["size", "pace", "dt"]}
    for order in (2, 4):
        found = vi.gradient(build, height, 0.3, 0.01, order=order, **asked)

        def last(dt=0.01, order=order, **changed):
            return height(vi.simulate(build(**given | changed), 30 * dt, dt, order=order, tol=1e-13)[-1])

        for name, value in given.items():
            exact = differences(lambda share, n=name, v=value: last(**{n: v + share}), 1e-3)
            assert found[name] == pytest.approx(exact, rel=1e-8)
        assert found["dt"] == pytest.approx(differences(lambda share: last(dt=0.01 + share), 1e-5), rel=1e-7)


@pytest.mark.slow
def test_gradients_through_an_impact():
    """The instant of the impact moves, and the function with it."""
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.05, upper=3.0, restitution=0.6)

    def build(size, pace, lower):
        motor = driven(lambda t: size * np.cos(pace * t)).forces[0]
        return dataclasses.replace(driven(torque), forces=[motor, dataclasses.replace(stop, lower=lower)])

    given = {"size": 2.0, "pace": 7.0, "lower": -0.05}
    state = driven(torque).state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "joint 2": 0.5})

    def height(state):
        return float(state.position[1, 2])

    def last(**changed):
        return height(vi.simulate(build(**given | changed), 0.06, 2e-3, state=state, tol=1e-13)[-1])

    found = vi.gradient(build, height, 0.06, 2e-3, state=state, parameters=given, with_respect_to=list(given))
    for name, value in given.items():
        exact = differences(lambda share, n=name, v=value: last(**{n: v + share}), 1e-4)
        assert found[name] == pytest.approx(exact, rel=1e-6)
