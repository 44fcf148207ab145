"""Gradients in reduced coordinates by explicit pairs, and against those of the maximal form."""

import numpy as np
import pytest
from force_samples import SAMPLES, sample_mechanism, with_forces
from random_mechanisms import random_tree, random_velocity_state
from reduced_gradient_checks import (
    DT,
    EXPLICIT,
    LENGTH,
    agree,
    check,
    check_start,
    objective_of,
    swing,
    value_of_run,
)

import varint as vi
from varint.derivatives.numbers import differences

# ---------------------------------------------------------------------------------------- explicit pairs


@pytest.mark.slow
@pytest.mark.parametrize("scheme", EXPLICIT)
def test_explicit_pairs_forwards_and_back(rng, scheme):
    for mechanism in (vi.mechanisms.tree(), vi.mechanisms.cart_pole(effort=1.0), random_tree(rng, 3)):
        agree(mechanism, scheme)
    sample = sample_mechanism(np.random.default_rng(1))
    for name in ("FirstOrderActuator", "GroundContact", "Bushing"):
        agree(with_forces(sample, *SAMPLES[name]), scheme, random_velocity_state(rng, sample, 0.3))
    driven = vi.PrescribedMotion("drive", joint="joint 1", rate=3.0)
    agree(with_forces(vi.mechanisms.double_pendulum(), driven), scheme)


@pytest.mark.slow
def test_numbers_by_explicit_pairs(rng):
    """At fine tolerances: differences of runs have steps of their own."""
    servo = vi.JointServo("servo", joint="joint 2", target=0.8, stiffness=40.0, damping=6.0, integral=300.0)
    mechanism = with_forces(vi.mechanisms.double_pendulum(), servo)
    names = ["gravity", "link 1.mass", "joint 2.point", "servo.integral", "servo.target"]
    check(mechanism, names, rng, "dop853", within=1e-6, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.long
def test_inputs_and_drives_by_explicit_pairs(rng):
    """Inputs have a kink at each node, on which the error control of differences of runs depends: large steps."""
    plain, efforts = vi.mechanisms.double_pendulum(), np.sin(np.arange(11.0))
    objective = objective_of(plain, rng)

    def driven(efforts):
        return with_forces(plain, vi.Motor("motor", joint="joint 1", effort=efforts))

    given = {"scheme": "dop853", "rtol": 1e-12}
    found = vi.redmax.gradient(driven(efforts), objective, LENGTH, DT, with_respect_to=["motor.effort"], **given)
    exact = [
        differences(lambda x, e=e: value_of_run(driven(efforts + x * e), objective, None, "dop853", rtol=1e-12), 1.0)
        for e in np.eye(11)
    ]
    assert found["motor.effort"] == pytest.approx(exact, abs=1e-6 * np.abs(exact).max())
    check(vi.mechanisms.double_pendulum(), ["link 2.mass"], rng, "dop853", within=1e-6, rtol=1e-12,
          prescribed={"joint 1": swing})  # fmt: skip


@pytest.mark.slow
def test_start_by_explicit_pairs(rng):
    mechanism = vi.mechanisms.free_body()
    turned = vi.redmax.ReducedState(np.array([0.1, 0.2, 0.3, 4.69, 0.2, 0.1]), np.array([1.0, 2.0, 3.0, 5.0, 9.0, 1.0]))
    agree(mechanism, "rk45", turned, steps=10, tolerance=1e-11)
    check_start(mechanism, turned, rng, "dop853", within=1e-6, rtol=1e-12)


@pytest.mark.slow
def test_all_schemes_go_to_the_same_gradient(rng):
    mechanism = vi.mechanisms.double_pendulum()
    objective = objective_of(mechanism, rng)
    given = {"with_respect_to": ["gravity", "link 1.mass"], "times": [0.0, 0.05, 0.2]}
    summed = lambda states: sum(map(objective, states))  # noqa: E731
    exact = vi.gradient(mechanism, summed, 0.2, 0.005, order=6, **given)
    for scheme in EXPLICIT:
        found = vi.redmax.gradient(mechanism, summed, 0.2, 0.05, scheme=scheme, rtol=1e-11, **given)
        assert found.value == pytest.approx(exact.value, rel=1e-9)
        assert found["link 1.mass"] == pytest.approx(exact["link 1.mass"], rel=1e-7)
        assert found["gravity"] == pytest.approx(exact["gravity"], abs=1e-7)


# ---------------------------------------------------------------------------------------- the maximal form


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("double_pendulum", {"joint 1": 2.0, "joint 2": -1.0}),
        pytest.param("four_bar", {}, marks=pytest.mark.slow),
    ],
)
def test_converges_to_the_gradient_of_the_maximal_form(rng, name, start):
    """As dt goes to zero, at the order of the schemes."""
    mechanism = getattr(vi.mechanisms, name)()
    state = mechanism.state(rates=start) if start else mechanism.state()
    body, joint = mechanism.bodies[-1].name, mechanism.joints[1].name
    names = ["gravity", f"{body}.mass", f"{body}.position[2]", f"{joint}.point[0]"]
    objective = objective_of(mechanism, rng)
    given = {"with_respect_to": names, "state": state}

    def numbers(gradient):
        return np.concatenate([np.atleast_1d(gradient[name]) for name in names])

    exact = numbers(vi.gradient(mechanism, objective, 0.2, 0.01, order=6, **given))
    for scheme, order in (("bdf1", 1), ("bdf2", 2), ("sdirk2", 2)):
        errors = []
        for steps in (30, 60):
            found = vi.redmax.gradient(mechanism, objective, 0.2, 0.2 / steps, scheme=scheme, **given)
            errors.append(np.abs(numbers(found) - exact).max())
        assert errors[1] < 0.05 * np.abs(exact).max()
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.slow
def test_start_agrees_with_the_maximal_form(rng):
    """By states: along the changes that joints allow, the same number."""
    mechanism = vi.mechanisms.double_pendulum()
    objective, state = objective_of(mechanism, rng), mechanism.state(rates={"joint 1": 1.0})
    exact = vi.gradient(mechanism, objective, 0.1, 0.01, order=6, with_respect_to="start", state=state)["start"]
    found = vi.redmax.gradient(mechanism, objective, 0.1, 1e-3, with_respect_to="start", state=state)["start"]
    for joint in ("joint 1", "joint 2"):
        moved = mechanism.state(rates={"joint 1": 0.0} | {joint: 1.0})
        products = [
            np.sum(by.velocity * moved.velocity) + np.sum(by.angular_velocity * moved.angular_velocity)
            for by in (exact, found)
        ]
        products += [
            np.sum(by.position * moved.velocity) + np.sum(by.rotation * moved.angular_velocity) for by in (exact, found)
        ]
        assert products[1] == pytest.approx(products[0], rel=1e-4)
