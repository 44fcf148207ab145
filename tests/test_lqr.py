"""Regulators: gains against an example by hand, and closed loops that stay where they are put."""

import dataclasses

import numpy as np
import pytest
from force_samples import with_forces
from scipy.linalg import solve_continuous_are

import varint as vi


def upright(mechanism, **coordinates):
    return mechanism.state(coordinates={"pivot": np.pi, **coordinates})


def acrobot():
    """Two links whose elbow has a motor, hanging where the angles are zero."""
    plain = vi.mechanisms.double_pendulum(angle=0.0)
    return with_forces(plain, vi.Motor("elbow", joint="joint 2", effort=0.0))


def test_gains_of_a_cart_pole_by_hand():
    mechanism = vi.mechanisms.cart_pole()
    cart, pole = mechanism.bodies
    arm = np.linalg.norm(pole.position - cart.position)
    coupling, moment = pole.mass * arm, pole.inertia[1, 1] + pole.mass * arm**2
    inertia = np.array([[cart.mass + pole.mass, -coupling], [-coupling, moment]])
    A, B = np.zeros((4, 4)), np.zeros((4, 1))
    A[:2, 2:] = np.eye(2)
    A[2:, 1] = np.linalg.solve(inertia, [0, 9.81 * coupling])
    B[2:, 0] = np.linalg.solve(inertia, [1, 0])
    Q = np.diag([10.0, 10.0, 1.0, 1.0])
    found = vi.lqr(mechanism, upright(mechanism), Q, [[1.0]])
    assert found.system.names == ("track", "pivot")
    assert pytest.approx(B.T @ solve_continuous_are(A, B, Q, np.eye(1)), rel=1e-9) == found.K
    assert found.eigenvalues.real.max() < 0
    assert repr(found).startswith("Regulator: 'cart-pole', 1 input 'motor', slowest eigenvalue -0.9317")


@pytest.mark.slow
def test_an_inverted_pole_stays_upright():
    mechanism, dt = vi.mechanisms.cart_pole(), 0.02
    top = upright(mechanism)
    found = vi.lqr(mechanism, top, np.diag([10.0, 10.0, 1.0, 1.0]), dt=dt)
    start = upright(mechanism, pivot=np.pi - 0.3, track=0.2)
    assert found.inputs(start) == {"motor": pytest.approx(float(-found.K[0] @ [0.2, -0.3, 0, 0]))}
    assert found.inputs(top) == {"motor": pytest.approx(0.0, abs=1e-12)}
    run = vi.simulate(found.closed_loop(mechanism), 20.0, dt, state=start)
    x = np.array([found.system.coordinates(run[i]) for i in range(0, len(run.t), 50)])
    assert np.abs(x[-1]).max() < 1e-6
    slowest = np.abs(found.eigenvalues).max()
    shrunk = np.linalg.norm(x[-1]) / np.linalg.norm(x[len(x) // 2])
    assert np.log(shrunk) / (run.t[-1] / 2 / dt) == pytest.approx(np.log(slowest), rel=0.1)


@pytest.mark.slow
def test_steps_of_the_closed_loop_are_those_of_its_matrix():
    mechanism, dt = acrobot(), 0.01
    top = mechanism.state(coordinates={"joint 1": np.pi})
    found = vi.lqr(mechanism, top, dt=dt, order=4)
    closed, size = found.closed_loop(mechanism), 1e-6
    for k, name in enumerate(found.system.names):
        start = mechanism.state(coordinates={"joint 1": np.pi, **{name: np.pi * (name == "joint 1") + size}})
        end = vi.simulate(closed, dt, dt, state=start, order=4, tol=1e-13)[-1]
        expected = (found.system.A - found.system.B @ found.K)[:, k]
        assert found.system.coordinates(end) / size == pytest.approx(expected, abs=1e-3 * np.abs(expected).max())
    assert np.abs(found.eigenvalues).max() < 1.0


@pytest.mark.slow
def test_an_acrobot_stays_upright_and_costs_what_was_said():
    mechanism, dt = acrobot(), 2e-3
    top = mechanism.state(coordinates={"joint 1": np.pi})
    found = vi.lqr(mechanism, top)
    start = mechanism.state(coordinates={"joint 1": np.pi + 1e-4})
    run = vi.simulate(found.closed_loop(mechanism), 12.0, dt, state=start, order=2)
    some = np.arange(0, len(run.t), 5)
    x, u = np.array([found.system.coordinates(run[i]) for i in some]), run.force["elbow"][some]
    assert np.abs(x[-1]).max() < 1e-3 * np.abs(x).max()
    cost = 5 * dt * (np.sum(x**2) + np.sum(u**2))
    assert cost == pytest.approx(x[0] @ found.cost @ x[0], rel=0.05)


@pytest.mark.slow
def test_gains_of_short_steps_tend_to_those_in_continuous_time():
    mechanism = vi.mechanisms.cart_pole()
    top = upright(mechanism)
    exact = vi.lqr(mechanism, top)
    gaps = []
    for dt in (2e-3, 1e-3):
        found = vi.lqr(mechanism, top, dt * np.eye(4), dt * np.eye(1), dt)
        gaps.append(np.abs(found.K - exact.K).max())
    assert gaps[0] / gaps[1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_a_hanging_loop_is_held_away_from_its_rest():
    """A motor holds a four-bar where its weight would take it down; the input there is not zero."""
    plain = vi.mechanisms.four_bar()
    away = plain.state(coordinates={"crank pivot": 0.9})
    pushed = with_forces(plain, vi.Motor("motor", joint="crank pivot", effort=0.0))
    system = vi.linearize(pushed, away)
    effort = -system.offset[1] / system.B[1, 0]
    held = with_forces(plain, vi.Motor("motor", joint="crank pivot", effort=effort))
    found = vi.lqr(held, away, dt=0.01)
    assert found.system.input == pytest.approx([effort])
    start = plain.state(coordinates={"crank pivot": 1.1})
    run = vi.simulate(found.closed_loop(held), 10.0, 0.01, state=start)
    assert run.coordinates["crank pivot"][-1] == pytest.approx(0.9, abs=1e-4)
    assert run.force["motor"][-1] == pytest.approx(effort, abs=1e-3)


@pytest.mark.slow
def test_what_it_refuses():
    mechanism = vi.mechanisms.cart_pole()
    top = upright(mechanism)
    with pytest.raises(vi.ArgumentError, match="has no force with an input"):
        vi.lqr(vi.mechanisms.four_bar())
    with pytest.raises(
        vi.StateError, match=r"is not at rest in this state: .* '.*' accelerates at .* (rad|m)/s\^2\. G"
    ):
        vi.lqr(mechanism, mechanism.state(coordinates={"pivot": 0.3}))
    with pytest.raises(vi.ArgumentError, match="Q must be a number, a diagonal"):
        vi.lqr(mechanism, top, np.eye(3))
    with pytest.raises(vi.ArgumentError, match="Q must be symmetric"):
        vi.lqr(mechanism, top, np.triu(np.ones((4, 4))))
    with pytest.raises(vi.ArgumentError, match="R must be positive definite"):
        vi.lqr(mechanism, top, R=[[0.0]])
    with pytest.raises(vi.ArgumentError, match="Q must be positive semidefinite"):
        vi.lqr(mechanism, top, Q=-np.eye(4))
    with pytest.raises(vi.ArgumentError, match="Q has no weight on a motion that does not die away"):
        vi.lqr(mechanism, top, np.zeros((4, 4)))
    beside = vi.Mechanism(
        "two", [*mechanism.bodies, dataclasses.replace(vi.mechanisms.n_pendulum(1).bodies[0], name="other")],
        [*mechanism.joints, vi.Revolute("other pin", "world", "other", point=(0, 0, 0), axis=(0, 1, 0))],
        forces=mechanism.forces,
    )  # fmt: skip
    with pytest.raises(vi.ArgumentError, match="no input of 'two' reaches its motion"):
        vi.lqr(beside, vi.equilibrium(beside))
    with pytest.raises(vi.ArgumentError, match="has no force 'motor', which the regulator commands"):
        vi.lqr(mechanism, top).closed_loop(vi.mechanisms.four_bar())


@pytest.mark.slow
def test_weights_as_numbers_and_diagonals():
    cart = vi.mechanisms.cart_pole()
    upright = cart.state(coordinates={"pivot": np.pi})
    given = {"dt": 0.01, "R": np.array([[2.0]]), "Q": np.diag([10.0, 10.0, 1.0, 1.0])}
    whole = vi.lqr(cart, upright, **given)
    short = vi.lqr(cart, upright, Q=[10.0, 10.0, 1.0, 1.0], R=2.0, dt=0.01)
    np.testing.assert_array_equal(short.K, whole.K)
