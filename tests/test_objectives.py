"""Objectives that depend on the mechanism itself: energies, reactions, coordinates; and the energy at one state."""

import dataclasses

import numpy as np
import pytest

import varint as vi
from varint.derivatives.numbers import differences, number_of

NAMES = ["gravity", "crank.mass", "coupler.inertia", "crank pin.point[0]", "spring.stiffness", "spring.rest_length"]
DURATION, DT = 0.05, 2e-3


def sprung():
    plain = vi.mechanisms.four_bar()
    pin = plain.joint("crank pin").point
    spring = vi.Spring(
        "spring", "world", "crank", point_a=pin + [0.2, 0, 0.5], point_b=pin, stiffness=80.0, rest_length=0.4
    )
    return dataclasses.replace(plain, forces=[spring, vi.JointDamper("friction", joint="rocker pin", damping=0.2)])


def energy(mechanism, state):
    return vi.energy(mechanism, state).total


def reaction(mechanism, state):
    return float(vi.accelerations(mechanism, state, closed=False).reactions["rocker pin"].force @ [0.3, 0.0, -1.0])


def angle(mechanism, state):
    return float(mechanism.coordinates(state)["rocker pivot"])


OBJECTIVES = {"energy": energy, "reaction": reaction, "coordinate": angle}


def test_energy_of_a_pendulum_on_a_spring():
    ends = {"point_a": (1, 0, 0), "point_b": (0, 0, -1)}
    mechanism = vi.Mechanism(
        "pendulum",
        [vi.Body.box("bob", (0.1, 0.1, 0.1), 2.0, position=(0, 0, -1.0))],
        [vi.Revolute("pivot", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))],
        forces=[vi.Spring("spring", "world", "bob", **ends, stiffness=50.0, rest_length=0.3)],
    )
    a, w = 0.7, 1.5
    found = vi.energy(mechanism, mechanism.state(coordinates={"pivot": a}, rates={"pivot": w}))
    inertia = 2.0 * (0.1**2 + 0.1**2) / 12 + 2.0
    stretch = np.hypot(1.0 + np.sin(a), np.cos(a)) - 0.3
    assert found.kinetic == pytest.approx(0.5 * inertia * w**2, rel=1e-14)
    assert found.gravity == pytest.approx(-2.0 * 9.81 * np.cos(a), rel=1e-14)
    assert found.forces["spring"] == pytest.approx(25.0 * stretch**2, rel=1e-13)
    assert found.total == found.kinetic + found.gravity + found.forces["spring"]


def test_energy_is_that_of_a_run():
    run = vi.simulate(sprung(), 0.1, 0.01)
    found = [vi.energy(run.mechanism, state).total for state in run]
    np.testing.assert_allclose(found, run.energy, rtol=1e-14)


def by_runs(objective, number, last):
    """Derivatives by a number, by differences of whole runs."""

    def value(share, direction):
        changed = number.replaced(number.value + share * direction)
        return objective(changed, last(changed))

    pairs = zip(number.steps, number.directions(), strict=True)
    found = [differences(lambda share, d=direction: value(share, d), step) for step, direction in pairs]
    return np.reshape(found, number.value.shape)


def in_maximal_coordinates(mechanism):
    return vi.simulate(mechanism, DURATION, DT, tol=1e-13)[-1]


def in_reduced_coordinates(mechanism):
    return vi.redmax.simulate(mechanism, DURATION, dt=DT, integrator="sdirk2")[-1]


@pytest.mark.slow
@pytest.mark.parametrize("what", OBJECTIVES)
def test_numbers(what):
    mechanism, objective = sprung(), OBJECTIVES[what]
    found = vi.gradient(mechanism, objective, DURATION, DT, with_respect_to=NAMES, of_mechanism=True)
    for name in NAMES:
        exact = by_runs(objective, number_of(mechanism, name), in_maximal_coordinates)
        np.testing.assert_allclose(found[name], exact, rtol=0, atol=1e-7 * max(np.abs(exact).max(), 1e-2), err_msg=name)


@pytest.mark.slow
@pytest.mark.long
def test_numbers_in_reduced_coordinates():
    mechanism, names = sprung(), ["gravity", "crank.mass", "spring.stiffness"]
    asked = {"with_respect_to": names, "scheme": "sdirk2", "of_mechanism": True}
    for objective in OBJECTIVES.values():
        found = vi.redmax.gradient(mechanism, objective, DURATION, DT, **asked)
        for name in names:
            exact = by_runs(objective, number_of(mechanism, name), in_reduced_coordinates)
            scale = max(np.abs(exact).max(), 1e-2)
            np.testing.assert_allclose(found[name], exact, rtol=0, atol=1e-6 * scale, err_msg=name)


def test_the_cost_of_inputs():
    """What an input costs is a derivative by it on top of what it does; several objectives, states at times."""
    plain, rng = vi.mechanisms.double_pendulum(), np.random.default_rng(4)
    efforts = rng.standard_normal(6)
    motor = vi.Motor("motor", joint="joint 1", effort=efforts)
    mechanism = dataclasses.replace(plain, forces=[motor])

    def heights(states):
        return np.array([states[0].position[1, 2], states[1].position[0, 0]])

    def with_cost(mechanism, states):
        return heights(states) + np.sum(mechanism.force("motor").effort ** 2) * np.array([1.0, 0.5])

    asked = {"with_respect_to": ["motor.effort"], "times": [0.02, 0.05]}
    bare = vi.gradient(mechanism, heights, 0.05, 0.01, **asked)
    found = vi.gradient(mechanism, with_cost, 0.05, 0.01, of_mechanism=True, **asked)
    exact = bare["motor.effort"] + np.array([[2.0], [1.0]]) * efforts
    np.testing.assert_allclose(found["motor.effort"], exact, atol=1e-10)


@pytest.mark.slow
def test_a_parameter_and_an_own_gradient():
    def build(mass):
        plain = vi.mechanisms.n_pendulum(1)
        return dataclasses.replace(plain, bodies=[dataclasses.replace(plain.bodies[0], mass=mass)])

    def kinetic(mechanism, state):
        return vi.energy(mechanism, state).kinetic

    class Kinetic:
        """The same, which knows its derivatives."""

        def __call__(self, mechanism, state):
            return kinetic(mechanism, state)

        def gradient(self, mechanism, state):
            none, body = np.zeros((1, 3)), mechanism.bodies[0]
            return none, none, body.mass * state.velocity, state.angular_velocity @ body.inertia

    asked = {"with_respect_to": ["mass", "start"], "parameters": {"mass": 1.3}, "of_mechanism": True}
    found, own = (vi.gradient(build, objective, DURATION, DT, **asked) for objective in (kinetic, Kinetic()))
    assert own["mass"] == pytest.approx(found["mass"], rel=1e-9)
    np.testing.assert_allclose(own["start"].rotation, found["start"].rotation, atol=1e-9)

    def at(mass):
        return kinetic(build(mass), in_maximal_coordinates(build(mass)))

    assert found["mass"] == pytest.approx(differences(lambda share: at(1.3 + share), 1e-3), rel=1e-8)


def test_what_is_no_flag():
    with pytest.raises(vi.ArgumentError, match="of_mechanism"):
        vi.gradient(sprung(), energy, DURATION, DT, with_respect_to=["gravity"], of_mechanism="yes")
