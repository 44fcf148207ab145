"""Gradients of runs with inputs that are functions of the state, against differences of whole runs."""

from dataclasses import replace

import numpy as np
import pytest
from run_gradients import check

import varint as vi
from varint.derivatives.objective import by_states

RUN = 0.05, 2e-3  # s


def law(t, state):
    """N, by all parts of the state, and not linear."""
    push = 3.0 * np.sin(4 * t + 0.3) - 2.0 * state.velocity[0, 0] - np.tanh(state.angular_velocity[1, 1])
    return push + 3.0 * state.position[1, 0] ** 2 + 2.0 * state.quat_wxyz[1, 2]


def height(state):
    return float(state.position[-1, 2] + 0.3 * state.velocity[-1, 0] ** 2)


def differences_of(value, at, step=1e-3):
    """The derivative of a function of a number, of fourth order."""
    return sum(w * value(at + k * step) for k, w in ((1, 8), (-1, -8), (2, -1), (-2, 1))) / (12 * step)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_numbers_of_a_tree(rng, order):
    names = ["gravity", "cart.mass", "pole.inertia", "pivot.point", "dt"]
    check(vi.mechanisms.cart_pole(effort=law), names, rng, order=order)


@pytest.mark.slow
def test_numbers_of_a_loop(rng):
    motor = vi.Motor("motor", joint="crank pivot", effort=lambda t, state: law(t, state) - 0.2 * state.velocity[-1, 2])
    check(replace(vi.mechanisms.four_bar(), forces=[motor]), ["gravity", "coupler.mass", "crank pin.point[0]"], rng)


@pytest.mark.slow
def test_the_start():
    mechanism = vi.mechanisms.cart_pole(effort=law)

    def run(rate):
        state = mechanism.state(rates={"pivot": rate})
        return height(vi.simulate(mechanism, *RUN, state=state, tol=1e-13).state(-1))

    state = mechanism.state(rates={"pivot": 1.0})
    by = vi.gradient(mechanism, height, *RUN, with_respect_to=["start"], state=state)["start"]
    change = mechanism.state(rates={"pivot": 2.0})
    found = np.sum(by.velocity * (change.velocity - state.velocity))
    found += np.sum(by.angular_velocity * (change.angular_velocity - state.angular_velocity))
    assert found == pytest.approx(differences_of(run, 1.0), rel=1e-7)


@pytest.mark.slow
def test_gains_that_a_function_of_parameters_has():
    """They act through the function alone. With few bytes the run is marched again from checkpoints: the same bits."""

    def build(gain, length):
        def feedback(t, state):
            return -gain * (state.velocity[0, 0] + np.sin(state.angular_velocity[1, 1]))

        return vi.mechanisms.cart_pole(effort=feedback, length=length)

    values = {"gain": 4.0, "length": 0.9}
    options = {"with_respect_to": ["gain", "length"], "parameters": values, "times": [0.02, 0.05]}

    def cost(states):
        return sum(map(height, states))

    found = vi.gradient(build, cost, *RUN, **options)
    few = vi.gradient(build, cost, *RUN, memory=60_000, **options)
    for name in values:

        def run(value, name=name):
            trajectory = vi.simulate(build(**values | {name: value}), *RUN, tol=1e-13)
            return cost([trajectory.state(10), trajectory.state(25)])

        assert found[name] == pytest.approx(differences_of(run, values[name]), rel=1e-7), name
        assert found[name] == few[name]
    assert found.value == pytest.approx(run(0.9), rel=1e-12)


@pytest.mark.slow
def test_a_regulator_has_its_own_gradient(rng):
    """It has that of its function; the gradient of a run takes it."""
    mechanism = vi.mechanisms.cart_pole(angle=3.0)
    regulator = vi.lqr(mechanism, mechanism.state(coordinates={"pivot": np.pi}), dt=2e-3)
    closed = regulator.closed_loop(mechanism)
    feedback = closed.force("motor").effort
    state = mechanism.state(coordinates={"pivot": 2.9, "track": 0.1}, rates={"pivot": 0.3, "track": -0.2})
    own = np.hstack(feedback.gradient(0.0, state))
    _, by, _ = by_states(lambda state: feedback(0.0, state), [state], True, 1.0, 1.0)
    np.testing.assert_allclose(own, by[0, 0], rtol=0, atol=1e-7 * np.abs(own).max())
    check(closed, ["pole.mass", "gravity"], rng)


def test_what_is_refused():
    given = {"objective": height, "duration": 0.1, "dt": 0.01, "with_respect_to": ["gravity"]}
    with pytest.raises(vi.ArgumentError, match="has an input that is extrapolated, which gradients do not support"):
        vi.gradient(vi.mechanisms.cart_pole(effort=vi.extrapolated(law)), **given)
    with pytest.raises(vi.ArgumentError, match="has an input that is a function of the state, which gradients of ada"):
        vi.gradient(vi.mechanisms.cart_pole(effort=law), adaptive=True, **given)


@pytest.mark.slow
def test_a_wrong_gradient_of_a_function_is_told():
    def feedback(t, state):
        return 0.0

    feedback.gradient = lambda t, state: 3
    with pytest.raises(vi.ArgumentError, match="the gradient of effort of motor 'motor'"):
        vi.gradient(vi.mechanisms.cart_pole(effort=feedback), height, *RUN, with_respect_to=["gravity"])
