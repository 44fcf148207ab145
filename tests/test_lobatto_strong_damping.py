"""Strong dissipation in collocation steps: what is left of a momentum, orders, works, dry friction that has stopped."""

import dataclasses

import numpy as np
import pytest
from test_strong_damping import ALONG, BLOCK, DT, FREE, ONE_SIDED, ORIGIN, SLIDE

import varint as vi

ORDERS = (4, 6, 8, 10)
SIZES = (1.0, 2.1, 5.9, 6.1, 10.0, 30.0, 1e2, 1e4, 1e6)
FREE_BOX = vi.Free("floats", "world", "box")
JOINT_LAWS = [name for name in ALONG if name not in ("body damper", "bushing", "spring")]


def slowed(force, order, steps=4, dt=DT):
    """A run of a block of 1 kg from 1 m/s on."""
    mechanism = vi.Mechanism(
        "m", [BLOCK], [SLIDE if getattr(force, "joint", None) else FREE], gravity=ORIGIN, forces=[force]
    )
    problem = vi.Problem(mechanism, steps * dt, mechanism.state(velocity={"b": (1, 0, 0)}))
    return vi.simulate(problem, vi.Lobatto(dt, order, on_unresolved="raise"))


def of_pade(above, below, z):
    """Pade's approximant of exp(-z) with a numerator and a denominator of these degrees."""

    def term(k, own, other):
        return np.prod([(own - i) / (own + other - i) / (i + 1) for i in range(k)])

    numerator = sum(term(k, above, below) * (-z) ** k for k in range(above + 1))
    return numerator / sum(term(k, below, above) * z**k for k in range(below + 1))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", JOINT_LAWS)
def test_the_factor_of_a_step(name, order):
    bends = name in ("friction", "motor")
    for z in (1e-3, 0.1, *SIZES):
        run = slowed(ALONG[name](z / DT), order)
        factor = run.velocity[1, 0, 0]
        half = order // 2
        expected = of_pade(half - 1, half, z) if z > (2.0 if bends else 6.0) else of_pade(half, half, z)
        assert factor == pytest.approx(expected, abs=1e-4)
        assert z < 1.0 or abs(factor) <= 0.5
        assert run.newton_iterations <= 4 * run.steps
        residual = run.energy_balance - run.energy_balance[0]
        assert np.abs(residual).max() < (1e-5 if bends else 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [1e4, 1e6])
def test_a_damper_whose_direction_turns_takes_energy(damping):
    """Of a box that spins on a damped rod; its speed is that of reduced coordinates."""
    box = vi.Body.box("box", (0.1, 0.2, 0.3), mass=1.0)
    rod = vi.Spring(
        "rod", "world", "box", point_a=(0.4, 0, 0), point_b=(0.05, 0.1, 0.15), stiffness=1.0, damping=damping
    )
    mechanism = vi.Mechanism("m", [box], [FREE_BOX], gravity=ORIGIN, forces=[rod])
    state = mechanism.state(velocity={"box": (1, 0.5, 0)}, angular_velocity={"box": (1, 2, 0.5)})
    right = vi.redmax.simulate(mechanism, 0.2, 0.02, state=state, integrator="radau", rtol=1e-9)
    for order, tolerance in ((4, 2e-2), (6, 2e-3), (8, 2e-4)):
        run = vi.simulate(vi.Problem(mechanism, 0.2, state), vi.Lobatto(0.02, order, on_unresolved="raise"))
        assert np.diff(run.dissipated["rod"]).min() > -1e-6
        assert np.abs(run.velocity[-1] - right.velocity[-1]).max() < tolerance


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["body damper", "bushing", "spring", *ONE_SIDED])
def test_no_step_leaves_more_than_half(name, order):
    for z in (1.0, 2.1, 6.1, 1e2, 1e4, 1e6):
        run = slowed((ALONG | ONE_SIDED)[name](z / DT), order)
        assert abs(run.velocity[1, 0, 0]) <= 0.5
        assert np.abs(run.energy_balance - run.energy_balance[0]).max() < 1e-6
        assert z < 6.0 or run.newton_iterations <= 5 * run.steps


@pytest.mark.parametrize("order", ORDERS)
def test_drag_slows(order):
    for z in (5.0, 10.0, 30.0, 1e2, 1e4):
        speed = slowed(vi.Drag("d", "b", linear=z / DT), order, steps=5).velocity[:, 0, 0]
        assert (np.abs(speed[1:]) < np.abs(speed[:-1])).all()


@pytest.mark.parametrize("order", [4, 6])
def test_weak_damping_keeps_the_order(order):
    errors = [
        slowed(ALONG["joint damper"](z / DT / z), order, round(8 / z), DT * z).velocity[-1, 0, 0] - np.exp(-8.0)
        for z in (1.0, 0.5)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def creeping(dt, order):
    """An arm that a strong damper lets down, from rates that fit on."""
    rod = vi.Body.rod("r", ORIGIN, (0, 0, -1), 1.0, radius=0.02)
    hinge = vi.Revolute("h", "world", "r", point=ORIGIN, axis=(0, 1, 0))
    mechanism = vi.Mechanism("m", [rod], [hinge], forces=[vi.JointDamper("d", joint="h", damping=50.0)])
    problem = vi.Problem(mechanism, 2.0, mechanism.state(coordinates={"h": 1.0}, rates={"h": 0.5}))
    return problem, vi.simulate(problem, vi.Lobatto(dt, order))


@pytest.mark.parametrize(("order", "most"), [(4, 1e-3), (6, 1e-7), (8, 1e-9)])
def test_an_arm_creeps_down(order, most):
    """c dt / m = 15 and 7.5: the motion along the damper is not resolved, the creep after it is."""
    for dt in (0.1, 0.05):
        problem, run = creeping(dt, order)
        exact = vi.simulate(problem, vi.Reduced("radau", rtol=1e-11, dt=0.5)).rates["h"][-1]
        assert run.rates["h"][-1] == pytest.approx(exact, abs=most)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("damping", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("joint", [0, 2])
def test_loops_agree_with_reduced_coordinates(joint, damping):
    mechanism = vi.mechanisms.four_bar()
    force = vi.JointDamper("d", joint=mechanism.joints[joint].name, damping=damping)
    problem = vi.Problem(dataclasses.replace(mechanism, forces=[force]), 0.3)
    exact = vi.simulate(problem, vi.Reduced("radau", rtol=1e-10, atol=1e-12, dt=0.1)).position[-1]
    run = vi.simulate(problem, vi.Lobatto(0.01, 8))
    assert np.abs(run.position[-1] - exact).max() < 1e-6
    assert np.abs(run.energy_balance - run.energy_balance[0]).max() < 1e-3 * run.kinetic.max()
    assert run.newton_iterations < 4 * run.steps


@pytest.mark.parametrize("order", [4, 8])
@pytest.mark.parametrize(("inertia", "effort"), [(1e-5, 0.1), (1e-4, 0.5), (1e-3, 1.0)])
def test_what_dry_friction_has_stopped_stays(inertia, effort, order):
    body = vi.Body("b", mass=0.1, inertia=np.eye(3) * inertia)
    hinge = vi.Revolute("h", "world", "b", point=ORIGIN, axis=(0, 0, 1))
    friction, push = vi.JointFriction("f", joint="h", effort=effort), vi.Motor("m", joint="h", effort=0.5 * effort)
    for forces, creep in (((friction,), 0.0), ((friction, push), 1e-2 * np.arctanh(0.5))):
        mechanism = vi.Mechanism("m", [body], [hinge], gravity=ORIGIN, forces=forces)
        problem = vi.Problem(mechanism, 0.1, mechanism.state(rates={"h": 10.0}))
        run = vi.simulate(problem, vi.Lobatto(DT, order))
        assert run.rates["h"].min() >= -1e-2
        np.testing.assert_allclose(run.rates["h"][-20:], creep, atol=1e-9)
        assert np.abs(run.energy_balance - run.energy_balance[0]).max() < 1e-6 * run.kinetic.max()


def test_runs_go_on_to_the_same_bits(tmp_path):
    problem, run = creeping(0.05, 8)
    path = tmp_path / "run.h5"
    vi.simulate(dataclasses.replace(problem, duration=1.0), vi.Lobatto(0.05), vi.Recording(output=path))
    longer = vi.simulate(problem, vi.Lobatto(0.05), vi.Recording(output=path, resume=True))
    stepper = vi.Stepper(problem.mechanism, vi.Lobatto(0.05), state=problem.start(), every=40)
    assert stepper.step(40)
    for other in (longer, stepper.trajectory()):
        assert other.velocity[-1].tobytes() == run.velocity[-1].tobytes()
        assert other.work[-1].tobytes() == run.work[-1].tobytes()


@pytest.mark.slow
def test_gradients_refuse_it_by_name_and_know_what_is_weak():
    rod = vi.Body.rod("r", ORIGIN, (0, 0, -1), 1.0, radius=0.02)
    hinge = vi.Revolute("h", "world", "r", point=ORIGIN, axis=(0, 1, 0))

    def end(damping):
        mechanism = vi.Mechanism("m", [rod], [hinge], forces=[vi.JointDamper("d", joint="h", damping=damping)])
        return vi.Problem(mechanism, 0.2, mechanism.state(coordinates={"h": 1.0}, rates={"h": 0.5}))

    def height(run):
        return run.position[0, 2]

    with pytest.raises(vi.ArgumentError, match=r"'d' damps so strongly that steps of 0\.02 s take its rate"):
        vi.gradient(end(1e3), height, vi.Lobatto(0.02), with_respect_to=["start"])
    assert vi.gradient(end(5.0), height, vi.Lobatto(0.02), with_respect_to=["start"]) is not None
