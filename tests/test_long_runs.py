"""What the integrator promises over long and hard runs: energy, momentum, closed joints, loud failures."""

import numpy as np
import pytest
from random_mechanisms import random_velocity_state

import varint as vi

TEN_MINUTES = 60_000  # steps of 10 ms


@pytest.mark.slow
@pytest.mark.parametrize("joint", [pytest.param("revolute", marks=pytest.mark.long), "spherical"])
def test_hour_of_a_double_pendulum_keeps_its_energy(joint):
    run = vi.simulate(vi.mechanisms.double_pendulum(joint=joint, angle=np.pi / 4), 3600, 0.01)
    energy = run.energy / (2 * 9.81)
    assert np.abs(energy - energy[0]).max() < 5e-4
    assert abs(energy[:TEN_MINUTES].mean() - energy[-TEN_MINUTES:].mean()) < 1e-6
    assert run.drift.max() < 1e-10
    assert run.substeps == 0


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["revolute", pytest.param("spherical", marks=pytest.mark.long)])
def test_hour_of_a_chaotic_double_pendulum_shows_no_trend(joint):
    run = vi.simulate(vi.mechanisms.double_pendulum(joint=joint, angle=np.pi / 2), 3600, 0.01)
    energy = run.energy / (2 * 9.81)
    assert np.abs(energy - energy[0]).max() < 2e-2
    assert run.drift.max() < 1e-10
    means = energy[1:].reshape(6, TEN_MINUTES).mean(axis=1)
    # a chaotic energy error wanders within its ten minutes: the trend must drown in that scatter
    minutes = energy[1:].reshape(60, -1).mean(axis=1)
    scatter = minutes.std() / np.sqrt(10)
    slope = np.polyfit(np.arange(6), means, 1)[0]
    assert abs(slope) < 2 * scatter
    assert np.ptp(means) < 8 * scatter


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("angle", "order", "most"),
    [
        *(pytest.param(*case, marks=pytest.mark.long) for case in ((90, 6, 2e-7), (90, 8, 1e-8), (45, 6, 1e-11))),
        (45, 8, 1e-13),
    ],
)
def test_hour_at_a_high_order(angle, order, most):
    """Of m g L n, m and L of a link; from 90 degrees it is chaotic, from 45 there is little but round-off."""
    pendulum = vi.mechanisms.double_pendulum(angle=np.radians(angle))
    run = vi.simulate(pendulum, 3600, 0.01, order=order, every=360_000, diagnostics_every=1)
    energy = run.diagnostics.energy
    assert np.abs(energy - energy[0]).max() < most * 9.81 * 2


@pytest.mark.slow
@pytest.mark.parametrize(("tol", "bound"), [(1e-13, 1e-11), pytest.param(1e-10, 1e-9, marks=pytest.mark.long)])
def test_momenta_of_a_floating_chain_stay_constant(tol, bound):
    chain = vi.mechanisms.snake(n=20)
    run = vi.simulate(chain, 1000.0, 0.01, tol=tol, every=100)
    assert run.steps == 100_000
    for momentum in (run.linear_momentum, run.angular_momentum):
        assert np.abs(momentum - momentum[0]).max() < bound * np.linalg.norm(momentum[0])
    assert run.drift.max() < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_mean_energy_of_a_free_body_does_not_move(order):
    for tol, most in ((1e-8, 1e-12), (1e-10, 2e-15), (1e-13, 2e-15)):
        run = vi.simulate(vi.mechanisms.free_body(), 200.0, 0.01, order=order, tol=tol)
        means = run.energy[1:].reshape(20, -1).mean(axis=1)
        assert abs(np.polyfit(10.0 * np.arange(20), means, 1)[0]) < most  # J/s of 0.7 J


@pytest.mark.slow
def test_round_off_does_not_move_the_mean_energy():
    """Of a four-bar with 12 J at order 6, in J a step. Residuals in plain numbers move it by 1e-18 J."""
    steps, dt, harmonics = 100_000, 0.005, 200
    run = vi.simulate(vi.mechanisms.four_bar(), steps * dt, dt, order=6, every=10)
    angle, time = run.coordinates["crank pivot"], run.t / run.t[-1] - 0.5
    # the error of the scheme is a function of the pose, which the angle of the crank tells
    waves = [f(k * angle) for k in range(1, harmonics) for f in (np.cos, np.sin)]
    columns = np.column_stack([time, np.ones_like(time), *waves])
    factors, *_ = np.linalg.lstsq(columns, run.energy - run.energy[0])
    rest = run.energy - run.energy[0] - columns @ factors
    assert rest.std() < 1e-14  # little but the rounding of the energy itself is left: the fit sees a trend
    assert abs(factors[0]) / steps < 2e-20


@pytest.mark.slow
def test_whipping_chain_does_not_fail():
    run = vi.simulate(vi.mechanisms.n_pendulum(100, angle=np.pi / 2), 10.0, 0.01, on_unresolved="ignore")
    assert run.success
    assert np.isfinite(run.energy).all()
    assert run.substeps > 0  # it whips: otherwise this would test nothing
    assert run.drift.max() < 1e-10


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_unsolvable_step_ends_in_convergence_error(order):
    mechanism = vi.mechanisms.double_pendulum()
    force = np.zeros((101, 3))
    force[50:] = 1e15, 0, 0
    with pytest.raises(vi.ConvergenceError, match=r"body 'link [12]' and joint 'joint [12]'") as caught:
        vi.simulate(mechanism, 1.0, 0.01, order=order, force={"link 2": force})
    error = caught.value
    assert error.body in ("link 1", "link 2")
    assert error.joint in ("joint 1", "joint 2")
    # the load rises from node 49 to node 50: orders 1 and 2 first feel it in the step from node 50
    assert error.time == pytest.approx(0.5 if order <= 2 else 0.49)
    reached = error.trajectory
    assert not reached.success
    assert reached.status == 1
    assert reached.t[-1] == pytest.approx(error.time)
    for array in (reached.position, reached.quat_wxyz, reached.velocity, reached.angular_velocity):
        assert len(array) == round(100 * error.time) + 1
        assert np.isfinite(array).all()


def test_same_run_same_bits():
    mechanism = vi.mechanisms.four_bar()
    first, second = (vi.simulate(mechanism, 2.0, 0.01) for _ in range(2))
    assert np.array_equal(first.position, second.position)
    assert np.array_equal(first.angular_velocity, second.angular_velocity)


@pytest.mark.parametrize("order", [2, 4, 6])
def test_runs_backwards_to_where_it_started(order, rng):
    """The node-momentum form and its symmetric compositions are time-reversible."""
    mechanism = vi.mechanisms.slider_crank()
    state = random_velocity_state(rng, mechanism)
    there = vi.simulate(mechanism, 1.0, 0.01, state=state, order=order, tol=1e-13)
    turned = vi.State(there.position[-1], there.quat_wxyz[-1], -there.velocity[-1], -there.angular_velocity[-1])
    back = vi.simulate(mechanism, 1.0, 0.01, state=turned, order=order, tol=1e-13)
    assert np.abs(back.position[-1] - state.position).max() < 1e-9
    assert np.abs(back.velocity[-1] + state.velocity).max() < 1e-8


def test_fast_spin_is_stepped_in_pieces():
    """A body cannot turn by more than 29 degrees in one piece of a step: beyond, sub-steps are taken and counted."""
    body = vi.Body.cylinder("rotor", radius=0.1, length=0.1, mass=1.0)
    rotor = vi.Mechanism("rotor", [body], [vi.Revolute("shaft", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))])
    state = rotor.state(rates={"shaft": 300.0})
    run = vi.simulate(rotor, 1.0, 0.01, state=state, on_unresolved="ignore")  # it turns 2.5 % too far
    assert run.substeps == 700
    angle = 2 * np.arctan2(run.quat_wxyz[-1, 0, 3], run.quat_wxyz[-1, 0, 0])
    # closed form of the scheme: each of the 800 pieces turns by asin(h w)
    assert np.exp(1j * angle) == pytest.approx(np.exp(800j * np.arcsin(300.0 * 0.01 / 8)), abs=1e-9)
