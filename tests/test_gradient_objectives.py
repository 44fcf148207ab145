"""Gradients by the start and by parameters of a function, and objectives of several numbers and times."""

import numpy as np
import pytest
from gradient_objectives import energy_of
from run_gradients import LENGTH, objective_of

import varint as vi
from varint.derivatives.numbers import differences


@pytest.mark.slow
def test_start(rng):
    """Along changes that the joints allow, of a mechanism with loops."""
    mechanism = vi.mechanisms.jansen_leg()
    objective = objective_of(mechanism, rng)
    found = vi.gradient(mechanism, objective, LENGTH, 1e-3, with_respect_to="start")
    start, joint = mechanism.state(), mechanism.joints[0].name
    rate = float(mechanism.rates(start)[joint])

    def value(share):
        state = mechanism.state(rates={joint: rate + share})
        run = vi.simulate(mechanism, LENGTH, 1e-3, state=state, tol=1e-13)
        return objective(run.state(len(run) - 1))

    faster = mechanism.state(rates={joint: rate + 1.0})
    by_rate = np.sum(found["start"].velocity * (faster.velocity - start.velocity))
    by_rate += np.sum(found["start"].angular_velocity * (faster.angular_velocity - start.angular_velocity))
    assert by_rate == pytest.approx(differences(value, 1e-2), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [2000, pytest.param(100_000, marks=pytest.mark.long)])
def test_the_last_energy_depends_on_the_start_as_the_first(rng, steps):
    """It is conserved, so its gradient by the start is that of the energy there, to the error of the scheme."""
    mechanism = vi.mechanisms.n_pendulum(1, angle=1.0)
    energy, state = energy_of(mechanism), mechanism.state()
    found = vi.gradient(mechanism, energy, steps * 0.005, 0.005, with_respect_to="start", order=6)["start"]
    change = np.concatenate(mechanism.state(rates={"joint 1": 1.0}).__dict__["velocity"][None])
    spin = mechanism.state(rates={"joint 1": 1.0}).angular_velocity
    motion = np.concatenate([change, spin], axis=1)
    by_pose = np.sum(found.position * motion[:, :3] + found.rotation * motion[:, 3:])
    by_rate = np.sum(found.velocity * motion[:, :3] + found.angular_velocity * motion[:, 3:])
    arm = state.position[0] @ [1.0, 0.0, 0.0]
    torque = mechanism.bodies[0].mass * 9.81 * motion[0, 2]
    assert by_pose == pytest.approx(torque, abs=2e-6 * abs(mechanism.bodies[0].mass * 9.81 * arm))
    assert abs(by_rate) < 2e-6 * abs(torque)


def test_several_times(rng):
    mechanism = vi.mechanisms.double_pendulum()
    target = rng.standard_normal((3, 2, 3))
    names, times = ["gravity", "link 1.mass", "start"], [0.1, 0.25, 0.3]

    def distance(states):
        return float(sum(np.sum((s.position - t) ** 2) for s, t in zip(states, target, strict=True)))

    whole = vi.gradient(mechanism, distance, 0.4, 0.01, with_respect_to=names, times=times)
    parts = []
    for k, time in enumerate(times):
        part = lambda state, k=k: float(np.sum((state.position - target[k]) ** 2))  # noqa: E731
        parts.append(vi.gradient(mechanism, part, time, 0.01, with_respect_to=names))
    assert whole.value == pytest.approx(sum(part.value for part in parts), rel=1e-12)
    for name in names:
        added = sum(np.asarray(part[name]) for part in parts)
        np.testing.assert_allclose(np.asarray(whole[name]), added, atol=1e-8 * np.abs(added).max())


@pytest.mark.slow
@pytest.mark.parametrize("gradient", [vi.gradient, vi.redmax.gradient])
def test_several_objectives_share_a_run(gradient):
    mechanism = vi.mechanisms.double_pendulum()
    names = ["link 1.mass", "gravity", "joint 2.point", "link 2.position", "start"]
    both = gradient(mechanism, lambda s: s.position[1, [0, 2]], 0.2, 0.01, with_respect_to=names)
    assert both.value.shape == (2,)
    assert both["link 1.mass"].shape == (2,)
    assert both["gravity"].shape == (2, 3)
    for k, axis in enumerate((0, 2)):
        one = gradient(mechanism, lambda s, axis=axis: float(s.position[1, axis]), 0.2, 0.01, with_respect_to=names)
        assert both.value[k] == one.value
        for name in names[:-1]:
            np.testing.assert_allclose(both[name][k], one[name], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(both["start"].velocity[k], one["start"].velocity, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
def test_parameters_of_different_sizes():
    def build(n):
        arm = vi.Body.box("arm", (0.1, 0.1, 0.6), 1.0)
        hinge = vi.Revolute("hinge", "world", "arm", point=(0.0, 0.0, 0.3), axis=(0.0, 1.0, 0.0))
        spring = vi.Spring("spring", "world", "arm", stiffness=n[0], point_a=(n[1], 0.0, 0.5), point_b=(0.0, 0.0, -0.3),
                           rest_length=0.1)  # fmt: skip
        return vi.Mechanism("arm", [arm], [hinge], forces=[spring])

    def rate(state):
        return float(state.angular_velocity[0, 1])

    given = {"with_respect_to": ["n"], "on_unresolved": "ignore"}  # the step is long for the spring
    both = vi.gradient(build, rate, 0.1, 0.005, parameters={"n": [2000.0, 0.1]}, **given)["n"]
    alone = vi.gradient(
        lambda s, a: build((s, a)), rate, 0.1, 0.005,
        **given | {"with_respect_to": ["s", "a"]}, parameters={"s": 2000.0, "a": 0.1},
    )  # fmt: skip
    assert both == pytest.approx([alone["s"], alone["a"]], rel=1e-9)


NONE = np.zeros((2, 3))


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        (lambda s: (NONE, NONE, NONE), "must have four arrays"),
        (lambda s: (NONE, NONE, NONE, np.zeros(3)), "by angular velocity must"),
        (lambda s: (NONE, NONE, NONE, np.full((2, 3), np.nan)), "by angular velocity"),
        (lambda s: None, "the gradient of the objective"),
        (3, "the gradient of the objective"),
    ],
)
def test_own_derivatives_that_are_wrong(own, problem):
    def objective(state):
        return 0.0

    objective.gradient = own
    with pytest.raises(vi.ArgumentError, match=problem):
        vi.gradient(vi.mechanisms.double_pendulum(), objective, 0.1, 0.01, with_respect_to=["start"])


def test_own_derivatives_one_a_time():
    def objective(states):
        return 0.0

    objective.gradient = lambda states: [(NONE, NONE, NONE, NONE)]
    given = {"with_respect_to": ["start"], "times": [0.05, 0.1]}
    with pytest.raises(vi.ArgumentError, match="must give 2 entries"):
        vi.gradient(vi.mechanisms.double_pendulum(), objective, 0.1, 0.01, **given)
    objective.gradient = lambda states: [vi.StateGradient(NONE, NONE, NONE, NONE)] * 2
    found = vi.gradient(vi.mechanisms.double_pendulum(), objective, 0.1, 0.01, **given)
    assert not found["start"].position.any()


def test_own_derivative_of_the_objective(rng):
    mechanism = vi.mechanisms.double_pendulum()

    def height(state):
        return float(state.position[1, 2])

    plain = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=["link 1.mass"])
    none = np.zeros((2, 3))
    height.gradient = lambda state: (np.array([[0, 0, 0], [0, 0, 1.0]]), none, none, none)
    own = vi.gradient(mechanism, height, 0.2, 0.01, with_respect_to=["link 1.mass"])
    assert own["link 1.mass"] == pytest.approx(plain["link 1.mass"], rel=1e-9)


def test_parameters_of_a_function(rng):
    def build(length, mass):
        rod = vi.Body.box("rod", (0.1, 0.1, length), mass, position=(0.5 * length, 0, 0))
        hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
        return vi.Mechanism("pendulum", [rod], [hinge])

    def height(state):
        return float(state.position[0, 2])

    given = {"length": 0.8, "mass": 2.0}
    found = vi.gradient(build, height, 0.3, 0.005, with_respect_to=["length", "mass"], parameters=given)

    def value(share):
        run = vi.simulate(build(0.8 + share, 2.0), 0.3, 0.005, tol=1e-13)
        return height(run.state(len(run) - 1))

    assert found["length"] == pytest.approx(differences(value, 1e-3), rel=1e-8)
    assert np.isfinite(found["mass"])
    with pytest.raises(vi.ArgumentError, match="parameters= are those of a function"):
        vi.gradient(build(**given), height, 0.3, 0.005, with_respect_to=["gravity"], parameters=given)
