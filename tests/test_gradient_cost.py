"""Work that gradients need not do: evaluations of objectives, and compilations of changed descriptions."""

import dataclasses
import importlib

import numpy as np
import pytest
from run_gradients import check

import varint as vi
from varint.base.errors import MechanismError
from varint.derivatives.numbers import differences
from varint.derivatives.objective import STEP, by_states, changed_state

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


@pytest.mark.slow
def test_masses_of_a_moving_tree_compile_nothing(rng, monkeypatch):
    plain = vi.mechanisms.double_pendulum()
    start = {"coordinates": {"joint 1": 0.3, "joint 2": -0.4}, "rates": {"joint 1": 2.0}}
    mechanism = dataclasses.replace(plain, start=start)

    def refuse(*arguments):
        raise AssertionError("a changed description was compiled")

    monkeypatch.setattr(importlib.import_module("varint.derivatives.gradient"), "Changed", refuse)
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

    monkeypatch.setattr(importlib.import_module("varint.derivatives.gradient"), "Changed", refuse)
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
    changed = importlib.import_module("varint.derivatives.gradient")
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


def refuse_compilations(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a changed description was compiled")

    monkeypatch.setattr(importlib.import_module("varint.derivatives.gradient"), "Changed", refuse)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain", "four-bar"])
def test_points_and_centres_of_mass_at_rest_compile_nothing(rng, monkeypatch, name):
    if name == "chain":
        chain = vi.mechanisms.n_pendulum(n=3)
        forces = [
            vi.TorsionSpring("spring", joint="joint 2", stiffness=3.0),
            vi.Motor("motor", joint="joint 3", effort=2.0),
        ]
        mechanism = dataclasses.replace(chain, forces=forces)
        numbers = ["joint 2.point", "joint 3.point[2]", "link 1.position", "link 3.position[0]", "spring.stiffness"]
    else:  # closed; points out of its plane would lock it
        mechanism = dataclasses.replace(vi.mechanisms.four_bar(), start={})
        numbers = [f"{body.name}.position[{k}]" for body in mechanism.bodies for k in (0, 2)]
        numbers += [f"{joint.name}.point[{k}]" for joint in mechanism.joints for k in (0, 2)]
    refuse_compilations(monkeypatch)
    check(mechanism, numbers, rng)


@pytest.mark.slow
def test_lengths_of_a_chain_compile_nothing(rng, monkeypatch):
    """A function that makes bodies, points and pictures by lengths, against differences of runs."""

    def build(lengths):
        ends = np.concatenate([[0.0], np.cumsum(lengths)])
        bodies = [
            vi.Body.box(f"link {k}", (0.05, 0.04, length), density=800.0, position=(ends[k] + length / 2, 0.0, 0.0))
            for k, length in enumerate(lengths)
        ]
        names = ["world", *(body.name for body in bodies)]
        joints = [
            vi.Revolute(f"pin {k}", names[k], names[k + 1], point=(ends[k], 0.0, 0.0), axis=(0, 1, 0))
            for k in range(len(lengths))
        ]
        return vi.Mechanism("chain", bodies, joints)

    def height(state):
        return float(state.position[-1] @ [1.0, 0.0, 2.0])

    def end(lengths):
        run = vi.simulate(build(lengths), 0.2, 0.01, tol=1e-13)
        return height(run.state(len(run) - 1))

    lengths = np.array([0.5, 0.3, 0.4])
    refuse_compilations(monkeypatch)
    found = vi.gradient(build, height, 0.2, 0.01, parameters={"lengths": lengths}, with_respect_to=["lengths"])
    units = np.eye(3)
    exact = [differences(lambda share, unit=unit: end(lengths + share * unit), 2e-3) for unit in units]
    np.testing.assert_allclose(found["lengths"], exact, rtol=1e-7)
    assert np.abs(exact).min() > 0.01


@pytest.mark.slow
def test_components_of_inputs_and_of_points_are_those_of_the_whole(rng):
    chain = vi.mechanisms.n_pendulum(n=3)
    motor = vi.Motor("motor", joint="joint 3", effort=np.linspace(0.0, 2.0, 21))
    mechanism, whole = dataclasses.replace(chain, forces=[motor]), ["joint 2.point", "motor.effort"]
    parts = [*(f"joint 2.point[{k}]" for k in range(3)), "motor.effort[7]"]

    def height(state):
        return float(state.position[-1, 2])

    expected = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=whole)
    alone = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=parts)
    np.testing.assert_allclose([alone[name] for name in parts[:3]], expected["joint 2.point"], rtol=1e-9, atol=1e-9)
    assert alone[parts[3]] == pytest.approx(expected["motor.effort"][7], rel=1e-6)
    assert alone[parts[3]] != 0.0
