"""Collocation with rolling wheels, knife edges and users' constraints on velocities: conditions on rates."""

import numpy as np
import pytest
from force_samples import OF_RATES, SAMPLES, sample_mechanism
from random_mechanisms import random_velocity_state

import varint as vi
from varint.methods.variational.lobatto import ORDERS
from varint.methods.variational.lobatto_rule import node_rule

PARTS = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work")


def sample(name):
    mechanism = sample_mechanism(np.random.default_rng(3), SAMPLES[name])
    return mechanism, random_velocity_state(np.random.default_rng(7), mechanism, 0.5)


@pytest.mark.parametrize("order", ORDERS)
def test_conditions_are_displacements_of_constant_rows(order):
    """C l'(c) = 1, and the conditions are those of all polynomials of degree q - 1 or less."""
    rule = node_rule(order // 2 + 1)
    q = len(rule.node) - 1
    assert rule.combined @ rule.slope[:, 1:] == pytest.approx(np.eye(q), abs=1e-13)
    values = rule.combined / rule.weight  # of the polynomials at the nodes: their highest differences vanish
    top = [1.0 / np.prod([c - d for d in rule.node if d != c]) for c in rule.node]
    assert values @ top == pytest.approx(np.zeros(q), abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (20, 40)), (6, (10, 20)), (8, (4, 8))])
@pytest.mark.parametrize("name", OF_RATES)
def test_the_order_holds(name, order, steps):
    """Slopes 4, 6 and 8; rows at the nodes themselves in place of the conditions give 2, 3 and 4."""
    mechanism, state = sample(name)
    problem = vi.Problem(mechanism, 0.2, state)
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-13, dt=0.025))
    runs = [vi.simulate(problem, vi.Lobatto(0.2 / n, order)) for n in steps]
    for part in ("position", "velocity"):
        coarse, fine = (np.abs(getattr(run, part)[-1] - getattr(exact, part)[-1]).max() for run in runs)
        assert fine < 1e-7
        assert fine < 1e-11 or np.log2(coarse / fine) > order - 0.3
    assert runs[1].newton_iterations < 7 * steps[1]
    assert runs[1].drift.max() < 1e-13


def upright_disc():
    """A disc that stands on the ground, free otherwise."""
    disc = vi.Body.box("disc", (0.4, 0.1, 0.4), 2.0, position=(0, 0, 0.2))
    wheel = vi.RollingWheel("wheel", "disc", radius=0.2, axis=(0, 1, 0), centre=(0, 0, 0.2), ground=(0, 0, 0))
    return vi.Mechanism("disc", [disc], [vi.Free("base", "world", "disc")], forces=[wheel])


def test_a_wheel_that_rolls_straight_goes_its_radius_times_its_turn():
    """It pulls on: a constant torque T about its axis, a = T r / (J + m r^2)."""
    mechanism, torque, r = upright_disc(), 0.3, 0.2
    disc = mechanism.bodies[0]
    run = vi.simulate(vi.Problem(mechanism, 0.5, torque={"disc": (0.0, torque, 0.0)}), vi.Lobatto(0.01, 6))
    a = torque * r / (disc.inertia[1, 1] + disc.mass * r * r)
    assert run.position[:, 0, 0] == pytest.approx(0.5 * a * run.t**2, abs=1e-12)
    assert run.velocity[:, 0, 0] == pytest.approx(r * run.angular_velocity[:, 0, 1], abs=1e-12)
    assert run.position[:, 0, 2] == pytest.approx(0.2, abs=1e-13)


def spun_disc():
    """A disc that rolls and spins about the vertical, on a circle."""
    mechanism = upright_disc()
    r, roll, spin = 0.2, 6.0, 2.0
    state = vi.State(
        mechanism.state().position, mechanism.state().quat_wxyz, np.array([[r * roll, 0.0, 0.0]]),
        np.array([[0.0, roll, spin]]),
    )  # fmt: skip
    return mechanism, state


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rolling_disc", "chaplygin_sleigh", "ball_on_turntable", "spun disc"])
def test_its_energy_stays(name):
    mechanism, state = spun_disc() if name == "spun disc" else (getattr(vi.mechanisms, name)(), None)
    run = vi.simulate(vi.Problem(mechanism, 10.0, state), vi.Lobatto(0.01, 8))
    change = np.abs(run.energy - run.work.sum(axis=1) - run.energy[0])
    print(name, change.max() / run.kinetic.max(), run.newton_iterations / 1000, run.substeps, run.drift.max())
    assert change.max() < 1e-9 * run.kinetic.max()


def test_resumed_runs_have_the_same_bits(tmp_path):
    (mechanism, state), path = sample("KnifeEdge"), tmp_path / "run.h5"
    for duration in (0.05, 0.1):
        recording = vi.Recording(output=path, resume=duration > 0.05)
        vi.simulate(vi.Problem(mechanism, duration, state), vi.Lobatto(0.01), recording)
    whole, resumed = vi.simulate(vi.Problem(mechanism, 0.1, state), vi.Lobatto(0.01)), vi.load(path)
    for name in PARTS:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name


def test_steppers_and_instants_between_nodes_have_them():
    mechanism, state = sample("RollingWheel")
    sim = vi.Stepper(mechanism, vi.Lobatto(0.01, 6), every=1, state=state)
    assert sim.step(10)
    problem = vi.Problem(mechanism, 0.1, state)
    run = vi.simulate(problem, vi.Lobatto(0.01, 6))
    assert np.array_equal(sim.trajectory().position, run.position)
    times = [0.0234, 0.0789]
    at, fine = (vi.simulate(problem, vi.Lobatto(dt, 6), vi.Recording(output_times=times)) for dt in (0.01, 0.001))
    assert at.position == pytest.approx(fine.position, abs=1e-9)


@pytest.mark.slow
def test_impacts_of_a_stop_keep_the_order():
    """A cart on a knife edge, whose arm meets a stop: slope 6 at order 6."""
    cart = vi.Body.box("cart", (0.4, 0.2, 0.1), 2.0)
    arm = vi.Body.box("arm", (0.3, 0.05, 0.05), 0.5, position=(0.15, 0, 0.1))
    joints = [
        vi.Free("base", "world", "cart"),
        vi.Revolute("hinge", "cart", "arm", point=(0, 0, 0.1), axis=(0, 0, 1)),
    ]
    edge = vi.KnifeEdge("edge", "cart", point=(-0.1, 0, 0), direction=(1, 0, 0), normal=(0, 0, 1))
    stop = vi.JointStop("stop", joint="hinge", upper=0.5, lower=-0.7, restitution=0.7)
    mechanism = vi.Mechanism("cart", [cart, arm], joints, forces=[edge, stop], gravity=(0, 0, 0))
    problem = vi.Problem(mechanism, 0.4, mechanism.state(rates={"hinge": 5.0}))
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-12, dt=0.05)).position[-1]
    errors = [np.abs(vi.simulate(problem, vi.Lobatto(dt, 6)).position[-1] - exact).max() for dt in (0.04, 0.02)]
    assert errors[1] < 1e-10
    assert np.log2(errors[0] / errors[1]) > 5.7


def test_gradients_refuse_them_by_name():
    mechanism, state = sample("KnifeEdge")
    with pytest.raises(vi.ArgumentError, match="knifeedge 'f' constrains velocities"):
        vi.gradient(vi.Problem(mechanism, 0.05, state), len, vi.Lobatto(0.01), with_respect_to=["start"])
