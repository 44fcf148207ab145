"""Collocation with prescribed motions, couplings and other constraints of forces, and with inputs of all kinds."""

import dataclasses

import numpy as np
import pytest
from force_samples import SAMPLES, sample_mechanism, with_forces
from random_mechanisms import random_velocity_state

import varint as vi

CONSTRAINTS = (
    "Gear", "RackAndPinion", "Screw", "Belt", "Equality", "Coupling", "CoordinateMap", "Attachment", "UserConstraint",
    "PrescribedMotion", "PrescribedPoint", "PrescribedBody",
)  # fmt: skip
ON_SEVERAL_LINKS = ("Bushing", "JointDamper on a ball", "MultiPointSpring", "roll, pitch, yaw", "BeamElement")
pytestmark = [
    pytest.mark.slow,  # by what they compile
    pytest.mark.filterwarnings("ignore::varint.base.errors.ReplacedRateWarning"),  # starts have other rates
]
LAST = vi.Recording(every=10**9)


def end_of(mechanism, state, duration, method):
    return vi.simulate(vi.Problem(mechanism, duration, state), method, LAST)


def distance(one, other):
    return max(np.abs(getattr(one, name) - getattr(other, name)).max() for name in ("position", "velocity"))


@pytest.mark.parametrize("name", [*CONSTRAINTS, *ON_SEVERAL_LINKS])
def test_the_motion_and_the_works_are_those_of_reduced_coordinates(name):
    mechanism = sample_mechanism(np.random.default_rng(3), SAMPLES[name])
    state, T = random_velocity_state(np.random.default_rng(7), mechanism), 0.1
    exact = end_of(mechanism, state, T, vi.Reduced("dop853", rtol=1e-12, dt=T / 8))
    runs = [end_of(mechanism, state, T, vi.Lobatto(T / n, order)) for n, order in ((10, 4), (20, 4), (40, 8))]
    errors = [distance(run.state(-1), exact.state(-1)) for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.4)
    assert errors[2] < 1e-12
    assert runs[2].newton_iterations <= 2.5 * 40
    assert np.ptp(runs[2].energy_balance) < 1e-12 * runs[2].kinetic.max() + 1e-12
    assert np.max(runs[2].drift) < 1e-13


def turning(t):
    return 0.3 * np.sin(3 * t) + t * t


def driven_four_bar(**motion):
    linkage = vi.mechanisms.four_bar()
    return with_forces(linkage, vi.PrescribedMotion("motor", joint=linkage.joints[0].name, **motion))


def test_a_driven_four_bar_is_where_its_motor_turns_it_and_the_work_is_what_it_gains():
    mechanism = driven_four_bar(position=turning)
    run = vi.simulate(vi.Problem(mechanism, 0.5), vi.Lobatto(0.0125, 6))
    joint = mechanism.joints[0].name
    assert np.abs(run.coordinates[joint] - turning(run.t)).max() < 1e-14
    assert np.ptp(run.energy_balance) < 1e-13
    assert run.work[-1, 0] == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-13)
    assert np.max(run.drift) < 1e-14


def test_a_motor_may_turn_more_than_half_a_turn_in_a_step():
    wheel = vi.Body.box("wheel", (0.1, 0.2, 0.1), 1.0)
    hinge = vi.Revolute("hinge", "world", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    motor = vi.PrescribedMotion("motor", joint="hinge", rate=350.0)  # 3.5 rad in a step
    run = vi.simulate(vi.Problem(vi.Mechanism("rig", [wheel], [hinge], forces=[motor]), 0.2), vi.Lobatto(0.01, 8))
    angle = 2 * np.arctan2(run.quat_wxyz[:, 0, 3], run.quat_wxyz[:, 0, 0])
    assert np.abs(np.angle(np.exp(1j * (angle - 350.0 * run.t)))).max() < 1e-12
    assert run.angular_velocity[:, 0, 2] == pytest.approx(350.0)


@pytest.mark.parametrize("turn", [1.0, 2.9, 4.0])  # rad in a step
def test_gears_and_coils_count_turns_however_far_a_step_turns_them(turn):
    wheels = [vi.Body.box(name, (0.1, 0.2, 0.1), 1.0, position=(x, 0, 0)) for name, x in (("slow", 0.0), ("fast", 1.0))]
    axis = {"axis": (0, 0, 1)}
    hinges = [vi.Revolute(f"{b.name} hinge", "world", b.name, point=b.position, **axis) for b in wheels]
    gear = vi.Gear("gear", joint_a="slow hinge", joint_b="fast hinge", radius_a=0.6, radius_b=0.3)
    coil = vi.TorsionSpring("coil", joint="fast hinge", stiffness=1e-3, rest_angle=0.0)
    mechanism = vi.Mechanism("gears", wheels, hinges, forces=[gear, coil], gravity=(0, 0, 0))
    start = mechanism.state(rates={"slow hinge": -turn / 0.02, "fast hinge": turn / 0.01})
    run = vi.simulate(vi.Problem(mechanism, 0.3, start), vi.Lobatto(0.01, 8))
    inertia = 1.25 * wheels[1].inertia[2, 2]  # of both, seen from the fast one
    w = np.sqrt(1e-3 / inertia)
    angle = turn / 0.01 / w * np.sin(w * run.t[-1])
    assert run.work[-1, 1] == pytest.approx(-0.5e-3 * angle**2, rel=1e-2)
    slow, fast = (2 * np.arctan2(run.quat_wxyz[:, k, 3], run.quat_wxyz[:, k, 0]) for k in range(2))
    assert np.abs(np.angle(np.exp(1j * (fast + 2 * slow)))).max() < 1e-12
    assert np.ptp(run.energy_balance) < 1e-3 * run.kinetic[0]


def test_values_at_nodes_are_the_motion_through_them():
    t = np.linspace(0.0, 0.5, 41)
    table, function = driven_four_bar(position=turning(t)), driven_four_bar(position=turning)
    one, other = (vi.simulate(vi.Problem(m, 0.5), vi.Lobatto(0.0125, 6)) for m in (table, function))
    assert np.abs(one.position - other.position).max() < 1e-12  # at nodes the same
    assert np.abs(one.velocity - other.velocity).max() < 1e-4  # the spline's rates, not the function's


def test_inputs_at_nodes_are_linear_in_between():
    pendulum = vi.mechanisms.double_pendulum()
    hinge = pendulum.joints[0].name
    values = 2.0 - 3.0 * np.arange(21)
    ramp, line = (
        with_forces(pendulum, vi.Motor("motor", joint=hinge, effort=effort))
        for effort in (values, lambda t: 2.0 - 3.0 * t / 0.01)
    )
    one, other = (vi.simulate(vi.Problem(m, 0.2), vi.Lobatto(0.01, 6)) for m in (ramp, line))
    assert distance(one.state(-1), other.state(-1)) < 1e-12
    assert np.abs(one.work - other.work).max() < 1e-12


def cart(effort):
    body = vi.Body.box("cart", (0.1, 0.1, 0.1), 2.0)
    rail = vi.Prismatic("rail", "world", "cart", point=(0, 0, 0), axis=(1, 0, 0))
    return vi.Mechanism("cart", [body], [rail], forces=[vi.Motor("motor", joint="rail", effort=effort)])


def pull(t, state):
    return 3.0 - 50.0 * state.position[0, 0] + t


@pytest.mark.parametrize("follows", [False, True])
def test_functions_of_the_state_are_held_or_extrapolated_over_a_step(follows):
    h, m, x, v, slope = 0.01, 2.0, 0.0, 0.0, 0.0
    effort, efforts, places = 3.0, [], []
    for step in range(1, 31):  # a closed form: the effort is constant, or linear, over each step
        efforts.append(effort)
        x += h * v + h * h / m * (effort / 2 + slope * h / 6)
        v += h / m * (effort + slope * h / 2)
        places.append(x)
        last, effort = effort, 3.0 - 50.0 * x + step * h
        slope = (effort - last) / h if follows else 0.0
    mechanism = cart(vi.extrapolated(pull) if follows else pull)
    run = vi.simulate(vi.Problem(mechanism, 0.3), vi.Lobatto(h, 6))
    assert run.position[1:, 0, 0] == pytest.approx(places, abs=1e-14)
    assert run.command[:-1, 0] == pytest.approx(efforts, abs=1e-13)


def named(*forces):
    return [dataclasses.replace(force, name=f"force {k}") for k, force in enumerate(forces)]


def test_driven_and_coupled_runs_resume_to_the_same_bits(tmp_path):
    mechanism = sample_mechanism(np.random.default_rng(3), named(*SAMPLES["Equality"], *SAMPLES["Bushing"]))
    state = random_velocity_state(np.random.default_rng(7), mechanism)
    for duration in (0.05, 0.1):
        recording = vi.Recording(output=tmp_path / "run.h5", resume=duration > 0.05)
        vi.simulate(vi.Problem(mechanism, duration, state), vi.Lobatto(0.005), recording)
    whole, loaded = vi.simulate(vi.Problem(mechanism, 0.1, state), vi.Lobatto(0.005)), vi.load(tmp_path / "run.h5")
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))
