"""Collocation with laws that have an internal variable: orders, closed forms, restarts, entrances."""

import warnings

import numpy as np
import pytest
from force_samples import sample_mechanism, with_forces
from random_mechanisms import random_velocity_state
from scipy.linalg import expm

import varint as vi

DT = 0.01
PARTS = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "law_states", "work")
SERVO = {"stiffness": 40.0, "damping": 0.5, "integral": 600.0}


def swing(t):
    return np.sin(9.0 * t)


def actuated():
    actuator = vi.FirstOrderActuator("f", joint="joint 2", gain=8.0, time_constant=0.05, command=swing)
    return with_forces(vi.mechanisms.double_pendulum(), actuator)


def with_servo(mechanism, joint, **changes):
    return with_forces(mechanism, vi.JointServo("servo", joint=joint, **{"target": swing} | SERVO | changes))


def with_muscle():
    path = [vi.At("world", (0.5, 0.0, 0.3)), vi.At("link 1", (0.0, 0.0, -0.7)), vi.At("link 2", (0.0, 0.0, -1.6))]
    muscle = vi.Musculotendon(
        "m", path=path, max_force=20.0, optimal_length=0.8, slack_length=1.1, excitation=swing_of_muscle,
        activation_times=(0.1, 0.1), activation_blend=0.2,
    )  # fmt: skip
    return with_forces(vi.mechanisms.double_pendulum(), muscle)


def swing_of_muscle(t):
    return 0.5 + 0.3 * np.sin(9.0 * t)


def on_several_links(joint, coordinate):
    """An actuator, and a servo with integral, along a coordinate of a joint of several, whose efforts have rows."""
    forces = [
        vi.FirstOrderActuator("f", joint=joint, coordinate=coordinate, gain=2.0, time_constant=0.05, command=swing),
        vi.JointServo("g", joint=joint, coordinate=coordinate, target=0.3, **SERVO),
    ]
    mechanism = sample_mechanism(np.random.default_rng(3), forces)
    return mechanism, random_velocity_state(np.random.default_rng(7), mechanism, 0.5)


CASES = {
    "actuator": lambda: (actuated(), None),
    "servo": lambda: (with_servo(vi.mechanisms.double_pendulum(), "joint 2"), None),
    "servo of a four-bar": lambda: (with_servo(vi.mechanisms.four_bar(), "crank pivot"), None),
    "both on a universal joint": lambda: on_several_links("hooke", 1),
}


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (20, 40)), (6, (10, 20)), (8, (10, 20))])
@pytest.mark.parametrize("name", CASES)
def test_the_order_holds(name, order, steps):
    errors, iterations = errors_of(*CASES[name](), order, steps)
    for coarse, fine in zip(*errors, strict=True):
        assert fine < 1e-11 or np.log2(coarse / fine) > order - 0.3
    assert max(errors[1]) < 1e-6
    assert iterations < 4 * steps[1]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps", "slope"), [(4, (20, 40), 3.7), (6, (40, 80), 5.7), (8, (16, 32), 7.0)])
def test_the_order_holds_with_a_muscle(order, steps, slope):
    """Its curves are bells that are narrow for these steps: the slope still rises where the error is 1e-12 m."""
    (coarse, fine), iterations = errors_of(with_muscle(), None, order, steps)
    assert np.log2(coarse[0] / fine[0]) > slope
    assert fine[0] < 1e-7
    assert iterations < 6 * steps[1]


def errors_of(mechanism, state, order, steps):
    """Errors at the end by numbers of steps, of positions and internal variables; iterations of the last run."""
    problem = vi.Problem(mechanism, 0.2, state)
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-13, dt=0.025))
    runs = [vi.simulate(problem, vi.Lobatto(0.2 / n, order, on_unresolved="ignore")) for n in steps]
    errors = [
        [np.abs(getattr(run, part)[-1] - getattr(exact, part)[-1]).max() for part in ("position", "law_states")]
        for run in runs
    ]
    return errors, runs[1].newton_iterations


def test_a_servo_with_integral_has_the_motion_of_its_linear_equation():
    """A wheel about its axis: J a'' = -k (a - b) - d a' - i z, z' = a - b."""
    wheel = vi.Body.box("wheel", (0.4, 0.3, 0.1), 2.0)
    hinge = vi.Revolute("hinge", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    k, d, i, b, inertia = 3.0, 0.2, 8.0, 0.4, wheel.inertia[2, 2]
    servo = vi.JointServo("servo", joint="hinge", target=b, stiffness=k, damping=d, integral=i)
    run = vi.simulate(vi.Problem(vi.Mechanism("rig", [wheel], [hinge], forces=[servo]), 0.5), vi.Lobatto(DT, 8))
    A = np.array([[0.0, 1.0, 0.0], [-k / inertia, -d / inertia, -i / inertia], [1.0, 0.0, 0.0]])
    exact = np.array([expm(A * t) @ (-b, 0.0, 0.0) for t in run.t])
    assert run.coordinates["hinge"] - b == pytest.approx(exact[:, 0], abs=1e-12)
    assert run.law_states[:, 0] == pytest.approx(exact[:, 2], abs=1e-13)
    effort = -k * exact[:, 0] - d * exact[:, 1] - i * exact[:, 2]
    assert run.force["servo"] == pytest.approx(effort, abs=1e-10)
    assert np.ptp(run.energy_balance) < 1e-10
    assert run.newton_iterations <= 2 * len(run.t)


def test_an_actuator_follows_its_command():
    """z' = (u - z) / T at all orders, and the column of results that has it."""
    run = vi.simulate(vi.Problem(actuated(), 0.3), vi.Lobatto(DT))
    a, w = 1.0 / 0.05, 9.0
    t = run.t
    exact = a * (a * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-a * t)) / (a * a + w * w)
    assert run.law_states[:, 0] == pytest.approx(exact, abs=1e-12)
    assert run.force["f"] == pytest.approx(8.0 * exact, abs=1e-11)
    assert run.energy[-1] - run.energy[0] == pytest.approx(run.work[-1, 0], abs=1e-9)


@pytest.mark.slow
def test_integrals_take_hardly_more_iterations_than_springs():
    """Their share is in Newton's matrix: on a hinge as on a joint of two coordinates, where efforts have rows."""
    arm = vi.Body.box("arm", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    at, gains = {"point": (0, 0, 0), "axis": (1, 0, 0)}, {"target": 0.3, "stiffness": 300, "damping": 30}
    for joint in (
        vi.Revolute("joint", "world", "arm", **at),
        vi.Universal("joint", "world", "arm", **at, axis_b=(0, 1, 0)),
    ):
        counts = []
        for integral in (0.0, 4000.0):
            servos = [
                vi.JointServo(f"s{k}", joint="joint", coordinate=k, integral=integral, **gains)
                for k in range(joint.dof)
            ]
            mechanism = vi.Mechanism("arm", [arm], [joint], forces=servos)
            counts.append(vi.simulate(vi.Problem(mechanism, 0.5), vi.Lobatto(0.02, 6)).newton_iterations)
        assert counts[1] < 1.25 * counts[0]
    # without its share a hinge takes twice as many


def test_instants_between_nodes_and_other_steps_know_it():
    mechanism = actuated()
    problem = vi.Problem(mechanism, 0.2)
    at = vi.simulate(problem, vi.Lobatto(DT, 6), vi.Recording(output_times=[0.0567, 0.1234]))
    fine = vi.simulate(problem, vi.Lobatto(DT / 20), vi.Recording(output_times=[0.0567, 0.1234]))
    for name in ("position", "law_states"):
        assert getattr(at, name) == pytest.approx(getattr(fine, name), abs=1e-8)
    sim = vi.Stepper(mechanism, vi.Lobatto(DT, 6), every=1)
    assert sim.step(20)
    whole = vi.simulate(problem, vi.Lobatto(DT, 6))
    held = sim.trajectory()
    assert held.law_states == pytest.approx(whole.law_states, abs=2e-3)  # inputs are linear within its steps


def test_resumed_runs_have_the_same_bits(tmp_path):
    mechanism, path = with_servo(vi.mechanisms.four_bar(), "crank pivot", target=0.3), tmp_path / "run.h5"
    for duration in (0.1, 0.3):
        vi.simulate(vi.Problem(mechanism, duration), vi.Lobatto(DT), vi.Recording(output=path, resume=duration > 0.1))
    whole, resumed = vi.simulate(vi.Problem(mechanism, 0.3), vi.Lobatto(DT)), vi.load(path)
    for name in PARTS:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name


def test_a_stepper_goes_on_from_what_it_kept():
    sim = vi.Stepper(CASES["servo"]()[0], vi.Lobatto(DT), every=1)
    assert sim.step(7)
    kept = sim.save()
    ends = []
    for _ in range(2):
        assert sim.step(9)
        ends.append(sim.state)
        sim.restore(kept)
    assert np.array_equal(ends[0].position, ends[1].position)
    assert np.array_equal(ends[0].velocity, ends[1].velocity)


@pytest.mark.slow
def test_a_step_that_is_divided_starts_from_the_variables_before_it():
    """Spun so fast that steps are halved: the same law, at the same time, by steps that need no halves."""
    wheel = vi.Body.box("wheel", (0.4, 0.3, 0.1), 2.0)
    hinge = vi.Revolute("hinge", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    actuator = vi.FirstOrderActuator("f", joint="hinge", gain=1.0, time_constant=0.05, command=1.0)
    mechanism = vi.Mechanism("rig", [wheel], [hinge], forces=[actuator])
    state = mechanism.state(rates={"hinge": 500.0})
    run = vi.simulate(vi.Problem(mechanism, 0.1, state), vi.Lobatto(DT))
    assert run.substeps > 0
    assert run.law_states[:, 0] == pytest.approx(1.0 - np.exp(-run.t / 0.05), abs=1e-12)


@pytest.mark.parametrize(("order", "dt"), [(4, 0.02), (6, 0.05), (8, 0.1), (10, 0.2)])
def test_a_variable_that_is_too_fast_for_the_steps_is_told_with_a_step_that_does(order, dt):
    wheel = vi.Body.box("wheel", (0.4, 0.3, 0.1), 2.0)
    hinge = vi.Revolute("hinge", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    actuator = vi.FirstOrderActuator("f", joint="hinge", gain=1e-3, time_constant=1e-3, command=1.0)
    problem = vi.Problem(vi.Mechanism("rig", [wheel], [hinge], forces=[actuator]), 4 * dt)
    with pytest.warns(vi.UnresolvedWarning, match="firstorderactuator 'f' follows within 0.001 s") as told:
        run = vi.simulate(problem, vi.Lobatto(dt, order))
    assert abs(run.law_states[1, 0] - 1.0) > 0.5  # what the warning is about
    below = float(str(told[0].message).split("below ")[1].split(" s")[0])
    ok = vi.simulate(vi.Problem(problem.mechanism, 4 * below), vi.Lobatto(below, order))
    assert abs(ok.law_states[1, 0] - 1.0) < 0.5


def test_a_variable_that_becomes_too_fast_in_a_run_is_told():
    """An activation that falls within seconds and rises within a millisecond, excited after two nodes."""
    load = vi.Body.box("load", (0.1, 0.1, 0.1), 1.0, position=(1, 0, 0))
    slide = vi.Prismatic("slide", "world", "load", axis=(1, 0, 0))
    fibre = {"max_force": 1e-3, "optimal_length": 0.6, "slack_length": 0.3, "pennation": 0.0, "activation": 0.1}

    def problem(excitation):
        path = [vi.At("world", (-0.5, 0, 0)), vi.At("load", (0.05, 0, 0))]
        times = {"activation_times": (1e-3, 5.0), "activation_blend": 0.1}
        muscle = vi.Musculotendon("m", path=path, excitation=excitation, **fibre, **times)
        return vi.Problem(vi.Mechanism("rig", [load], [slide], (0, 0, 0), forces=[muscle]), 0.08)

    with pytest.warns(vi.UnresolvedWarning, match="musculotendon 'm' follows within 0.0002"):
        run = vi.simulate(problem([0.0, 0.0, 1.0, 1.0, 1.0]), vi.Lobatto(0.02, 4))
    assert run.law_states[3, 0] > 1.0  # what the warning is about: an activation is at most 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vi.simulate(problem(0.0), vi.Lobatto(0.02, 4))


def test_gradients_refuse_it_by_name():
    with pytest.raises(vi.ArgumentError, match="firstorderactuator 'f' has a law with an internal variable"):
        vi.gradient(vi.Problem(actuated(), 0.05), len, vi.Lobatto(DT), with_respect_to=["start"])
