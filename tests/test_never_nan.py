"""Derivatives where something is zero or in line: finite, or an error that names what has none."""

import dataclasses
import re

import force_samples
import numpy as np
import pytest
from random_mechanisms import random_body, random_joint

import varint as vi
from varint.derivatives.numbers import numbers_in
from varint.model.forces import FORCES
from varint.model.joints import REGISTRY
from varint.model.motion import Turn

FAST = "Universal", "Spring", "JointFriction"


def some_fast(names):
    return [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in names]


def numbers_of(found):
    """All numbers of a result."""
    if dataclasses.is_dataclass(found):
        found = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
        found.pop("turns", None)  # NaN there: the nearest turn
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return [number for each in found for number in numbers_of(each)]
    return list(np.ravel(found)) if isinstance(found, (float, np.ndarray)) and np.size(found) else []


def answer(call):
    """What a call gives, and the text of its error."""
    try:
        return call(), ""
    except vi.VarintError as problem:
        return None, str(problem)


def finite_or_named(mechanism, analysis):
    """Whether an analysis gives finite numbers; else its error names an element of the mechanism."""
    result, problem = answer(analysis)
    if problem:
        names = [mechanism.name, *(item.name for item in (*mechanism.bodies, *mechanism.joints, *mechanism.forces))]
        assert re.search("|".join(f"'{re.escape(name)}" for name in names), problem), problem
        return False
    found = [number for number in numbers_of(result) if isinstance(number, (float, complex, np.inexact))]
    assert found
    assert np.isfinite(found).all()
    return True


def spread(state):
    """Of all that a state has."""
    arrays = state.position, state.velocity, state.angular_velocity, state.quat_wxyz**2
    return float(sum(np.sum((1 + np.arange(each.size).reshape(each.shape)) * each) for each in arrays))


def check_all(mechanism, state, items):
    """All that takes derivatives about a state; gradients by the numbers of the items, where one is refused by each."""
    numbers = [f"{item.name}.{key}" for item in items for key in numbers_in(item)]

    def gradient(names):
        return vi.gradient(mechanism, spread, 0.004, 0.002, with_respect_to=names, state=state)

    moved = any(type(force).__name__ in force_samples.IN_THE_WORLD for force in mechanism.forces)  # refused by name
    assert finite_or_named(mechanism, lambda: gradient(["start", "gravity", "dt"])) is not moved
    if not finite_or_named(mechanism, lambda: gradient(numbers)):
        for name in numbers:
            finite_or_named(mechanism, lambda name=name: gradient([name]))
    finite_or_named(mechanism, lambda: vi.linearize(mechanism, state))
    finite_or_named(mechanism, lambda: vi.linearize(mechanism, state, 0.002))
    finite_or_named(mechanism, lambda: vi.modes(mechanism, state))
    run = vi.simulate(mechanism, 0.004, 0.002, state=state, on_unresolved="ignore")
    finite_or_named(mechanism, lambda: vi.inverse_dynamics(run))


def hanging(rng, kind):
    bodies = [random_body(rng, name) for name in ("upper", "lower")]
    hinge = vi.Revolute("hinge", "world", "upper", point=bodies[0].position + 0.3, axis=(0, 1, 0))
    joint = random_joint(rng, kind, "joint", "upper", "lower", bodies[1].position + 0.2)
    return vi.Mechanism("hanging", bodies, [hinge, joint], forces=[vi.Motor("motor", joint="hinge", effort=0.0)])


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("angle", [0.0, *(pytest.param(angle, marks=pytest.mark.long) for angle in (np.pi / 2, np.pi))])
@pytest.mark.parametrize("kind", some_fast(REGISTRY))
def test_joints_at_rest(rng, kind, angle):
    """With all angles at zero, a quarter and half a turn: Euler angles and rotation vectors are singular there."""
    mechanism = hanging(rng, kind)
    joint = mechanism.joint("joint")
    turns = np.array([isinstance(motion, Turn) for motion in joint.allowed for _ in range(motion.size)], dtype=bool)
    coordinates = {"hinge": angle, "joint": np.where(turns, angle, 0.0)}
    state, problem = answer(lambda: mechanism.state(coordinates=coordinates))
    if problem:
        assert "'joint'" in problem
    else:
        check_all(mechanism, state, [joint])


def brought_together(force):
    """A force between points with all of them in one place."""
    names = [field.name for field in dataclasses.fields(force)]
    if "point_b" in names:
        changed = {"point_b": force.point_a, "point_a": force.point_a}
    elif getattr(force, "points", None) is not None:
        changed = {"points": np.tile(force.points[0], (len(force.points), 1))}
    else:
        return force
    if "rest_length" in names:
        changed["rest_length"] = 0.0
    found, problem = answer(lambda: dataclasses.replace(force, **changed))
    assert not problem or f"'{force.name}'" in problem
    return found or force


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", some_fast(force_samples.IN_STEPS))
def test_forces_at_rest(name):
    """At rest in the reference configuration, where angles are zero; between points that are one point."""
    forces = [brought_together(force) for force in force_samples.SAMPLES[name]]
    mechanism = force_samples.sample_mechanism(np.random.default_rng(1), forces)
    check_all(mechanism, dataclasses.replace(mechanism, forces=[]).state(), mechanism.forces)


def test_every_force_is_here():
    kinds = {type(force).__name__ for name in force_samples.IN_STEPS for force in force_samples.SAMPLES[name]}
    assert kinds == {name for name, kind in FORCES.items() if not (kind.solved_for or kind.restricted)}


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi])
def test_links_in_line(angle):
    chain = vi.mechanisms.n_pendulum(3, angle=angle)
    check_all(chain, chain.state(), chain.joints[:2])


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_a_flat_parallelogram(angle):
    mechanism = vi.mechanisms.four_bar(case="change-point")
    state = mechanism.state(coordinates={"crank pivot": angle - np.pi / 3})
    check_all(mechanism, state, mechanism.bodies[:1])


def test_a_spring_between_points_that_meet():
    """Without a rest length it is linear: omega^2 = k / m, also where its length is zero, and runs through that."""
    ball = vi.Body.sphere("ball", 0.1, 2.0)
    slide = vi.Translational("slide", "world", "ball", point=(0, 0, 0))
    spring = vi.Spring("spring", "world", "ball", point_a=(0, 0, 0), point_b=(0, 0, 0), stiffness=50.0, rest_length=0.0)
    mechanism = vi.Mechanism("ball on a spring", [ball], [slide], gravity=(0, 0, 0), forces=[spring])
    assert vi.modes(mechanism, mechanism.state()).omega == pytest.approx([5.0, 5.0, 5.0], rel=1e-12)
    exact = np.kron([[0, 1], [-25, 0]], np.eye(3))
    np.testing.assert_allclose(vi.linearize(mechanism, mechanism.state()).A, exact, atol=1e-12)
    by = vi.gradient(
        mechanism, lambda s: s.position[0], 0.2, 1e-3, with_respect_to=["start"], state=mechanism.state(), order=6
    )["start"]
    assert by.position[:, 0] == pytest.approx(np.cos(1.0) * np.eye(3), abs=1e-12)
    assert by.velocity[:, 0] == pytest.approx(np.sin(1.0) / 5.0 * np.eye(3), abs=1e-12)
