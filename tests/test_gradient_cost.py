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


def test_parameters_that_change_masses_and_stiffnesses_compile_nothing(monkeypatch):
    """The chain rule through the numbers of the description, against the derivatives by those."""
    plain = vi.mechanisms.n_pendulum(4)

    def build(masses, stiffness):
        bodies = [
            dataclasses.replace(body, mass=float(mass), inertia=body.inertia * mass**2)
            for body, mass in zip(plain.bodies, masses, strict=True)
        ]
        springs = [vi.TorsionSpring(f"s {joint.name}", joint=joint.name, stiffness=stiffness) for joint in plain.joints]
        return dataclasses.replace(plain, bodies=bodies, forces=springs, gravity=(0.0, 0.0, -stiffness))

    def height(state):
        return float(state.position[-1] @ [1.0, 0.0, 2.0])

    values = {"masses": np.array([0.5, 1.0, 1.5, 2.0]), "stiffness": 7.0}
    through = ["gravity", *(f"{part.name}.{what}" for part in plain.bodies for what in ("mass", "inertia"))]
    through += [f"s {joint.name}.stiffness" for joint in plain.joints]
    by = vi.gradient(build(**values), height, 0.3, 0.01, with_respect_to=through)

    def refuse(*arguments):
        raise AssertionError("a changed description was compiled")

    monkeypatch.setattr(importlib.import_module("varint.gradients.gradient"), "Changed", refuse)
    found = vi.gradient(build, height, 0.3, 0.01, parameters=values, with_respect_to=list(values))
    masses = [
        by[f"{body.name}.mass"] + 2.0 * mass * np.sum(by[f"{body.name}.inertia"] * body.inertia)
        for body, mass in zip(plain.bodies, values["masses"], strict=True)
    ]
    np.testing.assert_allclose(found["masses"], masses, rtol=1e-9)
    stiffness = sum(by[f"s {joint.name}.stiffness"] for joint in plain.joints) - by["gravity"][2]
    assert found["stiffness"] == pytest.approx(stiffness, rel=1e-9)
    assert np.abs(masses).min() > 1e-4


def test_parameters_that_move_bodies_are_differenced_as_a_whole(monkeypatch):
    """A length changes positions, which no derivative by a number of its own covers."""
    changed = importlib.import_module("varint.gradients.gradient")
    made, Changed = [], changed.Changed

    def counted(*arguments):
        made.append(arguments)
        return Changed(*arguments)

    monkeypatch.setattr(changed, "Changed", counted)

    def build(length):
        return vi.mechanisms.slider_crank(rod=length)

    vi.gradient(build, lambda s: s.position[1, 2], 0.02, 0.01, parameters={"length": 1.0}, with_respect_to=["length"])
    assert made


def test_masses_move_the_start_of_a_loop(rng):
    """The other bodies of a loop follow a given velocity as their masses let them."""
    plain = vi.mechanisms.rhombus_chain(2)
    body = plain.bodies[-1].name
    mechanism = dataclasses.replace(plain, start={"velocity": {body: (0.3, 0.0, 0.1)}})
    check(mechanism, [f"{plain.bodies[0].name}.mass"], rng)


@pytest.mark.slow
def test_components_of_points_and_of_inputs_cost_as_the_whole(monkeypatch):
    chain = vi.mechanisms.n_pendulum(n=3)
    forces = [
        vi.TorsionSpring("spring", joint="joint 2", stiffness=3.0),
        vi.Motor("motor", joint="joint 3", effort=np.linspace(0.0, 2.0, 21)),
    ]
    mechanism = dataclasses.replace(chain, forces=forces)
    whole = [f"joint {k}.point" for k in (1, 2, 3)] + ["motor.effort"]
    parts = [f"{name}[{k}]" for name in whole[:3] for k in (0, 1, 2)] + ["motor.effort[7]"]

    def height(state):
        return float(state.position[-1, 2])

    expected = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=whole)
    points = np.concatenate([expected[name] for name in whole[:3]])
    alone = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=parts)
    np.testing.assert_allclose([alone[name] for name in parts[:9]], points, rtol=1e-9, atol=1e-9)
    assert np.abs(points).max() > 0.01
    assert alone[parts[9]] == pytest.approx(expected["motor.effort"][7], rel=1e-6)
    assert alone[parts[9]] != 0.0

    def refuse(*arguments):
        raise AssertionError("a changed description was compiled")

    monkeypatch.setattr(importlib.import_module("varint.gradients.gradient"), "Changed", refuse)
    vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=parts[:9])
