"""Work that gradients need not do: evaluations of objectives, and compilations of changed descriptions."""

import dataclasses
import importlib

import numpy as np
import pytest
from run_gradients import check

import varint as vi
from varint.errors import MechanismError
from varint.gradients.numbers import differences
from varint.gradients.objective import STEP, by_states, changed_state

LENGTH, DURATION = 0.7, 2.0


def distance(state):
    """Of two bodies: it does not change where both move alike."""
    return float(np.linalg.norm(state.position[3] - state.position[1]))


def of_all(state):
    return float(np.sum(state.position**2 + state.velocity * state.angular_velocity) + np.prod(state.quat_wxyz[:, 1:3]))


def pair(state):
    """Two numbers, of an orientation and of a spin."""
    return np.array([state.quat_wxyz[2, 1] * state.quat_wxyz[2, 3], np.sin(state.angular_velocity[0, 2])])


def changed_everywhere(objective, state):
    """The gradient (m, nb, 12), by differences along every component of the state."""
    steps = np.repeat(STEP * np.array([LENGTH, 1.0, LENGTH / DURATION, 1.0 / DURATION]), 3)
    slopes = np.empty((np.size(objective(state)), len(state.position), 12))
    for i, k in np.ndindex(*slopes.shape[1:]):
        unit = np.zeros(slopes.shape[1:])
        unit[i, k] = 1.0
        slopes[:, i, k] = differences(lambda share, unit=unit: objective(changed_state(state, share * unit)), steps[k])
    return slopes


@pytest.mark.parametrize("objective", [distance, of_all, pair])
def test_differences_by_all_that_an_objective_depends_on(rng, objective):
    mechanism = vi.mechanisms.n_pendulum(5)
    rest = mechanism.state(coordinates={joint.name: rng.uniform(-1, 1) for joint in mechanism.joints})
    state = changed_state(rest, np.hstack([np.zeros((5, 6)), rng.standard_normal((5, 6))]))
    slopes = by_states(objective, [state], True, LENGTH, DURATION)[1][:, 0]
    expected = changed_everywhere(objective, state)
    np.testing.assert_allclose(slopes, expected, rtol=1e-10, atol=1e-11)
    assert np.abs(expected).max() > 0.01


def test_bodies_that_an_objective_ignores_cost_one_evaluation():
    calls = []

    def height(state):
        calls.append(state)
        return float(state.position[-1, 2])

    by_states(height, [vi.mechanisms.n_pendulum(20).state()], True, LENGTH, DURATION)
    assert len(calls) == 1 + 4 + 20 + 3 * 4  # itself, four parts, bodies of one part, components of one body


def test_an_objective_at_a_bound_is_differenced_from_one_side():
    state = vi.mechanisms.n_pendulum(2).state()
    lowest = state.position[1, 0]

    def shift(state):
        if state.position[1, 0] < lowest:
            raise MechanismError("below the bound")
        return float(state.position[1, 0] ** 2)

    slopes = by_states(shift, [state], True, LENGTH, DURATION)[1]
    assert slopes[0, 0, 1, 0] == pytest.approx(2.0 * lowest, rel=1e-9)
    assert np.count_nonzero(slopes) == 1


def test_masses_of_a_moving_tree_compile_nothing(rng, monkeypatch):
    plain = vi.mechanisms.double_pendulum()
    start = {"coordinates": {"joint 1": 0.3, "joint 2": -0.4}, "rates": {"joint 1": 2.0}}
    mechanism = dataclasses.replace(plain, start=start)

    def refuse(*arguments):
        raise AssertionError("a changed description was compiled")

    monkeypatch.setattr(importlib.import_module("varint.gradients.gradient"), "Changed", refuse)
    check(mechanism, ["link 1.mass", "link 2.mass", "link 2.inertia"], rng)


def test_masses_move_the_start_of_a_loop(rng):
    """The other bodies of a loop follow a given velocity as their masses let them."""
    plain = vi.mechanisms.rhombus_chain(2)
    body = plain.bodies[-1].name
    mechanism = dataclasses.replace(plain, start={"velocity": {body: (0.3, 0.0, 0.1)}})
    check(mechanism, [f"{plain.bodies[0].name}.mass"], rng)
