"""Gradients of runs in reduced coordinates: against the reference, tangents, differences of runs, the maximal form."""

import re
from pathlib import Path

import numpy as np
import pytest
import redmax_scenes
from force_samples import SAMPLES, sample_mechanism, with_forces
from holonomic import HOLONOMIC
from random_mechanisms import random_closed, random_tree, random_velocity_state
from reduced_gradient_checks import (
    BACK,
    DT,
    IMPLICIT,
    LENGTH,
    TAKEN,
    agree,
    check,
    check_start,
    objective_of,
    swing,
    value_of_run,
)

import varint as vi
from varint.derivatives.numbers import differences, numbers_in
from varint.model.rotation_vectors import rotation_matrix

TWO = [pytest.param("bdf1", marks=pytest.mark.slow), "bdf2"]
ARGUMENTS = {"cart_pole": {"effort": 1.0}}  # differences need a step, which a zero has no size for


# ---------------------------------------------------------------------------------------- the reference


@pytest.mark.slow
def test_the_adjoint_of_the_reference():
    """Scene 100: where the tip of two links is after a second, by constant torques."""
    given = redmax_scenes.scene("matlab-diff", 100)
    task = given["adjoint"]

    def distance(state):
        tip = state.position[task["body"]] + rotation_matrix(state.quat_wxyz[task["body"]]) @ task["x_body"]
        return task["w_pos"] / 2 * np.sum((tip - task["target"]) ** 2)

    order = task["parameter_order_joints"]
    for case in task["evaluations"]:
        p = np.array(case["p"], dtype=float)
        motors = [
            vi.Motor(f"motor {j}", joint=f"j{j}", effort=task["scale"] * v) for j, v in zip(order, p, strict=True)
        ]
        mechanism, start = redmax_scenes.build(given, motors)
        names = [f"motor {j}.effort" for j in order]
        found = vi.redmax.gradient(
            mechanism, distance, task["t1"], task["h"], with_respect_to=names, scheme=task["integrator"], state=start
        )
        assert found.value + task["w_reg"] / 2 * p @ p == pytest.approx(case["objective"], rel=1e-9)
        slope = task["scale"] * np.array([found[name] for name in names]) + task["w_reg"] * p
        assert slope == pytest.approx(case["gradient_reference"], rel=1e-9)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("scheme", IMPLICIT)
@pytest.mark.parametrize("name", [name for name in HOLONOMIC if name != "escapement"])
def test_catalogue_forwards_and_back(name, scheme):
    near_singular = name in ("delta_robot", "andrews_squeezer")
    agree(getattr(vi.mechanisms, name)(), scheme, tolerance=1e-11 if near_singular else 1e-12)


@pytest.mark.many
@pytest.mark.parametrize("scheme", BACK)
@pytest.mark.parametrize("name", TAKEN)
def test_forces_forwards_and_back(rng, name, scheme):
    mechanism = sample_mechanism(np.random.default_rng(1), SAMPLES[name])
    agree(mechanism, scheme, random_velocity_state(rng, mechanism, 0.3))


@pytest.mark.slow
def test_random_mechanisms_forwards_and_back(rng):
    for _ in range(20):
        for mechanism in (random_tree(rng, 6), random_closed(rng, 6, 2)):
            agree(mechanism, "bdf2", random_velocity_state(rng, mechanism, 0.5))


# ---------------------------------------------------------------------------------------- numbers of the description


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("scheme", BACK)
def test_numbers_of_a_tree(rng, scheme):
    names = ["gravity", "link 1.mass", "link 2.inertia", "link 2.position", "joint 2.point", "joint 1.axis"]
    check(vi.mechanisms.double_pendulum(), names, rng, scheme)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO)
def test_numbers_of_a_loop(rng, scheme):
    """Three hinges are redundant with the fourth; in the plane they stay closed."""
    names = ["gravity", "crank.mass", "coupler.position", "crank pin.point[0]", "rocker pivot.point[2]"]
    check(vi.mechanisms.four_bar(), names, rng, scheme)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("scheme", [pytest.param("bdf1", marks=pytest.mark.long), "bdf2"])
@pytest.mark.parametrize("name", HOLONOMIC)
def test_numbers_of_the_catalogue(rng, name, scheme):
    """Gravity, masses, where bodies are, and the numbers of the forces."""
    mechanism = getattr(vi.mechanisms, name)(**ARGUMENTS.get(name, {}))
    names = ["gravity", f"{mechanism.bodies[-1].name}.mass", f"{mechanism.bodies[0].name}.position"]
    names += [
        f"{force.name}.{key}" for force in mechanism.forces[:2] for key in numbers_in(force) if key != "restitution"
    ]
    # rows that the scheme leaves out as redundant are open by its error, and so far its steps are not differentiable
    check(mechanism, names, rng, scheme, within=1e-4 if (name, scheme) == ("bennett", "bdf1") else 1e-7)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("scheme", [pytest.param("bdf1", marks=pytest.mark.long), "bdf2"])
@pytest.mark.parametrize("name", TAKEN)
def test_numbers_of_forces(rng, name, scheme):
    """Each number of each force and coupling, with the state that the mechanism starts from given."""
    mechanism = sample_mechanism(np.random.default_rng(1), SAMPLES[name])
    names = ["b1.mass"] + [
        f"{force.name}.{key}"
        for force in mechanism.forces
        for key in numbers_in(force)
        if not (force.constraint and force.commanded) and key not in ("restitution", "integral")
    ]
    state = random_velocity_state(rng, mechanism, 0.3)
    within = 1e-5 if "Tabulated" in name else 1e-6 if name == "spline" else 1e-7  # as differences tell it
    check(mechanism, names, rng, scheme, state, within)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO)
def test_integral_gains(rng, scheme):
    servo = vi.JointServo("servo", joint="joint 2", target=0.8, stiffness=40.0, damping=6.0, integral=300.0)
    mechanism = with_forces(vi.mechanisms.double_pendulum(), servo)
    check(mechanism, [f"servo.{key}" for key in numbers_in(servo)], rng, scheme)
    off = with_forces(mechanism, vi.JointServo("servo", joint="joint 2", target=0.8, stiffness=4.0))
    with pytest.raises(vi.ArgumentError, match="a gain that is zero has no law"):
        vi.redmax.gradient(off, lambda state: 0.0, LENGTH, DT, with_respect_to=["servo.integral"])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO)
def test_inputs_with_one_value_a_node(rng, scheme):
    efforts = np.sin(np.arange(11.0))
    motors = [
        vi.Motor("motor", joint="joint 1", effort=efforts),
        vi.FirstOrderActuator("muscle", joint="joint 2", gain=2.0, time_constant=0.05, command=efforts[::-1]),
    ]
    check(with_forces(vi.mechanisms.double_pendulum(), *motors), ["motor.effort", "muscle.command"], rng, scheme)


def test_one_value_of_an_input(rng):
    motor = vi.Motor("motor", joint="joint 1", effort=np.sin(np.arange(11.0)))
    mechanism = with_forces(vi.mechanisms.double_pendulum(), motor)
    found = vi.redmax.gradient(
        mechanism, objective_of(mechanism, rng), LENGTH, DT, with_respect_to=["motor.effort", "motor.effort[4]"]
    )
    assert found["motor.effort[4]"] == pytest.approx(found["motor.effort"][4], rel=1e-9)


@pytest.mark.slow
def test_loads_and_functions_of_time(rng):
    mechanism = vi.mechanisms.double_pendulum()
    motor = vi.Motor("motor", joint="joint 2", effort=vi.mechanisms.double_pendulum().gravity[2])
    given = {"torque": {"link 1": rng.standard_normal((11, 3))}, "force": {"link 2": (1.0, 2.0, 3.0)}}
    check(with_forces(mechanism, motor), ["link 1.mass", "motor.effort"], rng, "bdf2", **given)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO)
@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the start has another rate
def test_prescribed_joints(rng, scheme):
    agree(vi.mechanisms.four_bar(), scheme, prescribed={"crank pivot": swing})
    names = ["gravity", "link 1.mass", "joint 2.point"]
    check(vi.mechanisms.double_pendulum(), names, rng, scheme, prescribed={"joint 1": swing})
    driven = with_forces(vi.mechanisms.four_bar(), vi.PrescribedMotion("drive", joint="crank pivot", rate=3.0))
    agree(driven, scheme)
    check(driven, ["gravity", "coupler.mass", "crank pin.point[0]"], rng, scheme)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the start has another rate
def test_parameters_of_a_prescribed_motion(rng):
    """Of a function that makes the mechanism: the rate of a drive."""

    def build(rate):
        return with_forces(vi.mechanisms.four_bar(), vi.PrescribedMotion("drive", joint="crank pivot", rate=rate))

    objective = objective_of(build(3.0), rng)
    found = vi.redmax.gradient(build, objective, LENGTH, DT, with_respect_to=["rate"], parameters={"rate": 3.0})
    exact = differences(lambda share: value_of_run(build(3.0 + share), objective, None, "bdf2"), 3e-3)
    assert found["rate"] == pytest.approx(exact, rel=1e-7)


def random_start(mechanism, rng, size=1.0):
    n = vi.redmax.reduced_state(mechanism, mechanism.state()).q.size
    return vi.redmax.ReducedState(*(size * rng.standard_normal((2, n))))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", TWO)
def test_start_of_a_tree(rng, scheme):
    mechanism = random_tree(rng, 2, kinds=("Spherical", "Universal", "Cylindrical", "Free"))
    check_start(mechanism, random_start(mechanism, rng), rng, scheme)


@pytest.mark.slow
def test_start_where_a_drive_goes_on_from(rng):
    driven = with_forces(vi.mechanisms.double_pendulum(), vi.PrescribedMotion("drive", joint="joint 1", rate=3.0))
    start = vi.redmax.ReducedState(rng.standard_normal(2), np.array([3.0, 1.0]))
    found = check_start(driven, start, rng, "bdf2", np.eye(4).reshape(4, 2, 2)[[0, 1, 3]])
    assert found["start.q"][0] != 0.0
    assert found["start.qdot"][0] == 0.0


@pytest.mark.slow
def test_start_of_couplings(rng):
    mechanism = sample_mechanism(np.random.default_rng(1), SAMPLES["Gear"])
    check_start(mechanism, random_start(mechanism, rng, 0.3), rng, "bdf2")


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["exponential", "xyz"])
def test_start_where_charts_change(rng, chart):
    """A rotation vector that becomes too long, or Euler angles near their singularity, within the run."""
    mechanism = vi.mechanisms.free_body()
    mechanism = with_forces(mechanism, vi.BodyDamper("drag", mechanism.bodies[0].name, linear=0.3, angular=0.2))
    turned = [0.0, 1.16, 0.1] if chart == "xyz" else [4.69, 0.2, 0.1]
    start = vi.redmax.ReducedState(np.array([0.1, 0.2, 0.3, *turned]), np.array([1.0, 2.0, 3.0, 5.0, 9.0, 1.0]))
    run = vi.redmax.simulate(mechanism, LENGTH, dt=DT, integrator="bdf2", state=start, chart=chart)
    assert np.abs(np.diff(run.q[:, 3:], axis=0)).max() > 0.5
    agree(mechanism, "bdf2", start, steps=10, chart=chart)
    check_start(mechanism, start, rng, "bdf2", chart=chart)


@pytest.mark.slow
def test_start_by_states(rng):
    """Along changes of a closed loop that keep it closed."""
    mechanism = vi.mechanisms.jansen_leg()
    objective, joint = objective_of(mechanism, rng), mechanism.joints[0].name
    start = mechanism.state()
    found = vi.redmax.gradient(mechanism, objective, LENGTH, DT, with_respect_to="start")["start"]
    rate = float(mechanism.rates(start)[joint])

    def value(share):
        return value_of_run(mechanism, objective, mechanism.state(rates={joint: rate + share}), "bdf2")

    faster = mechanism.state(rates={joint: rate + 1.0})
    by_rate = np.sum(found.velocity * (faster.velocity - start.velocity))
    by_rate += np.sum(found.angular_velocity * (faster.angular_velocity - start.angular_velocity))
    assert by_rate == pytest.approx(differences(value, 1e-2), rel=1e-8)


# ---------------------------------------------------------------------------------------- objectives


@pytest.mark.slow
def test_several_times(rng):
    mechanism = vi.mechanisms.double_pendulum()
    target = rng.standard_normal((4, 2, 3))
    names, times = ["gravity", "link 1.mass", "start.q", "start.qdot"], [0.0, 0.1, 0.25, 0.3]

    def distance(states):
        return float(sum(np.sum((s.position - t) ** 2) for s, t in zip(states, target, strict=True)))

    whole = vi.redmax.gradient(mechanism, distance, 0.4, 0.01, with_respect_to=names, times=times)
    parts = []
    for k, time in enumerate(times):
        part = lambda states, k=k: float(np.sum((states[0].position - target[k]) ** 2))  # noqa: E731
        parts.append(vi.redmax.gradient(mechanism, part, 0.4, 0.01, with_respect_to=names, times=[time]))
    assert whole.value == pytest.approx(sum(part.value for part in parts), rel=1e-12)
    for name in names:
        added = sum(np.asarray(part[name]) for part in parts)
        np.testing.assert_allclose(np.asarray(whole[name]), added, atol=1e-10 * max(1.0, np.abs(added).max()))


def test_own_derivative_of_the_objective():
    mechanism = vi.mechanisms.double_pendulum()

    def height(state):
        return float(state.position[1, 2])

    given = {"duration": 0.2, "dt": 0.01, "with_respect_to": ["link 1.mass"]}
    plain = vi.redmax.gradient(mechanism, height, **given)
    none = np.zeros((2, 3))
    height.gradient = lambda state: (np.array([[0, 0, 0], [0, 0, 1.0]]), none, none, none)
    assert vi.redmax.gradient(mechanism, height, **given)["link 1.mass"] == pytest.approx(
        plain["link 1.mass"], rel=1e-9
    )


# ---------------------------------------------------------------------------------------- rest, and what has none


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("angle", [pytest.param(0.0, marks=pytest.mark.slow), np.pi / 2, np.pi])
@pytest.mark.parametrize("rest", [0.0, pytest.param(0.1, marks=pytest.mark.slow)])
def test_at_rest_and_aligned(angle, rest):
    """Nothing is infinite where links lie on a line, nothing moves or a spring is not stretched."""
    mechanism = vi.mechanisms.n_pendulum(3, angle=angle)
    middle = mechanism.bodies[0].position
    forces = [
        vi.Spring("spring", "link 1", "link 3", point_a=middle, point_b=middle, stiffness=5.0, rest_length=rest),
        vi.TorsionSpring("torsion", joint="joint 1", stiffness=2.0),
        vi.Drag("drag", "link 2", linear=2.0, angular=0.5),
        vi.JointFriction("friction", joint="joint 2", effort=2.0, smoothing=1.0),
    ]
    mechanism = with_forces(mechanism, *forces)
    names = ["start", "start.q", "gravity", "link 1.mass", "spring.stiffness", "spring.rest_length", "joint 2.point"]
    for scheme in ("bdf2", "sdirk2", "dop853"):
        found = vi.redmax.gradient(
            mechanism, lambda s: float(np.sum(s.position**2 + s.velocity)), 0.05, 0.01, with_respect_to=names,
            scheme=scheme,
        )  # fmt: skip
        for name in names:
            assert np.isfinite(np.asarray(found[name])).all()


def test_a_slope_that_is_not_finite(monkeypatch):
    """The body is named where Newton's iteration gives up, and where it did not."""

    def root(value, rate):
        return -(abs(rate) ** 0.5), 0.0, np.inf if rate == 0.0 else -0.5 * abs(rate) ** -0.5

    pendulum = vi.mechanisms.n_pendulum(1, angle=0.0)
    law = vi.UserJointForce("root", joint="joint 1", law=root)
    given = {"duration": 0.02, "dt": 0.01, "with_respect_to": ["gravity"]}
    with pytest.raises(vi.ConvergenceError, match="hardest for body 'link 1'"):
        vi.redmax.gradient(with_forces(pendulum, law), lambda state: 0.0, **given)

    def then_none(state):
        none = np.full((1, 1), np.nan), np.zeros((0, 1))
        monkeypatch.setattr("varint.methods.reduced.inverse.InverseDynamics.derivatives", lambda *_: none)
        return 0.0

    with pytest.raises(vi.ArgumentError, match=r"to t = 0.02 s, hardest for body 'link 1', has no derivative"):
        vi.redmax.gradient(pendulum, then_none, **given)


def test_what_has_no_derivative():
    pendulum = vi.mechanisms.n_pendulum(1)
    given = {"objective": lambda state: 0.0, "duration": 0.1, "dt": 0.01, "with_respect_to": ["gravity"]}
    for scheme in ("euler", "radau", "bdf3"):
        with pytest.raises(vi.ArgumentError, match="scheme must be one of rk45, dop853, bdf1, bdf2, sdirk2"):
            vi.redmax.gradient(pendulum, scheme=scheme, **given)
    geared = sample_mechanism(np.random.default_rng(1), SAMPLES["Gear"])
    for mechanism in (vi.mechanisms.four_bar(), geared):
        with pytest.raises(vi.ArgumentError, match="'dop853' are those of trees"):
            vi.redmax.gradient(mechanism, scheme="dop853", **given)
    with pytest.raises(vi.ArgumentError, match="times must rise"):
        vi.redmax.gradient(pendulum, times=[0.015], **given)
    for what, match in (
        (vi.JointStop("stop", joint="joint 1", lower=-3.0, upper=3.0), "jointstop 'stop' .* give it a stiffness"),
        (vi.JointCoulombFriction("pin", joint="joint 1", coefficient=0.2, radius=0.05), "'pin' .* remove this force"),
        (vi.Motor("motor", joint="joint 1", effort=lambda t, state: 1.0), "motor 'motor' .* function of the state"),
    ):
        with pytest.raises(vi.ArgumentError, match=match):
            vi.redmax.gradient(with_forces(pendulum, what), **given)
    with pytest.raises(
        vi.ArgumentError, match=r"component 1 of 'crank pin.point_b' cannot change .* 'crank pin.point_b\[0\]'"
    ):
        vi.redmax.gradient(vi.mechanisms.four_bar(), **given | {"with_respect_to": ["crank pin.point_b"]})


def test_a_step_that_cannot_be_done(monkeypatch):
    monkeypatch.setattr("varint.methods.reduced.implicit.ITERATIONS", 1)
    with pytest.raises(vi.ConvergenceError, match="the step at t = 0 s, hardest for body"):
        vi.redmax.gradient(vi.mechanisms.double_pendulum(), lambda state: 0.0, 1.0, 0.1, with_respect_to="start")


@pytest.mark.slow
def test_the_examples_of_the_page():
    page = (Path(__file__).parents[1] / "docs" / "redmax.md").read_text()
    names: dict = {}
    exec("\n".join(re.findall(r"```python\n(.*?)```", page, re.S)), names)
    assert names["g"]["start.q"].shape == (3,)
    assert names["fit"].fun < 1e-6
