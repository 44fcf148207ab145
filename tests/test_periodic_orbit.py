"""Periodic motions: periods in closed form, normal modes, limit cycles and driven motions, and their multipliers."""

import numpy as np
import pytest
from force_samples import with_forces
from scipy.special import ellipk

import varint as vi
from varint.derivatives.objective import changed_state

VAN_DER_POL = 6.663286859323130  # period of x'' - (1 - x^2) x' + x = 0 (Andersen and Geer, SIAM J. Appl. Math. 1982)


def check_closes(mechanism, orbit, order):
    """A run of its period ends where it began."""
    run = vi.simulate(mechanism, orbit.period, orbit.dt, state=orbit.state, order=order, tol=1e-13)
    assert len(run.t) == orbit.steps + 1
    assert run.position[-1] == pytest.approx(run.position[0], abs=1e-10)
    assert run.velocity[-1] == pytest.approx(run.velocity[0], abs=1e-9)


def check_conservative(orbit):
    """One is a multiplier twice; all together they are one, in pairs with the product one."""
    near_one = np.sort(np.abs(orbit.multipliers - 1.0))
    assert near_one[1] < 1e-5
    assert np.linalg.det(orbit.monodromy) == pytest.approx(1.0, abs=1e-9)
    products = np.abs(orbit.multipliers[:, None] * orbit.multipliers - 1.0).min(axis=1)
    assert products.max() < 1e-5
    assert orbit.stable


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_a_pendulum_has_the_period_of_the_elliptic_integral(order):
    mechanism = vi.mechanisms.n_pendulum(1, angle=0.0)
    body = mechanism.bodies[0]
    square = 9.81 * body.mass * 0.5 / (body.inertia[1, 1] + body.mass * 0.25)
    errors = []
    for steps in (50, 100):
        guess = mechanism.state(coordinates={"joint 1": 2.0})
        orbit = vi.periodic_orbit(mechanism, guess, 2.4, 2.4 / steps, order=order)
        check_conservative(orbit)
        angle, rate = (float(found(orbit.state)["joint 1"]) for found in (mechanism.coordinates, mechanism.rates))
        lifted = 0.5 * (0.5 * rate**2 / square + 1.0 - np.cos(angle))
        errors.append(abs(orbit.period - 4 / np.sqrt(square) * ellipk(lifted)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    check_closes(mechanism, orbit, order)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0, 1])
def test_normal_modes_of_a_double_pendulum(mode):
    """Their periods go away from those of the linear modes in proportion to the energy."""
    mechanism = vi.mechanisms.double_pendulum(angle=0.0)
    rest = vi.equilibrium(mechanism)
    modes = vi.modes(mechanism, rest)
    shape, period = modes.shape[mode] / np.abs(modes.shape[mode]).max(), 1 / modes.frequency[mode]
    away, hanging = [], vi.simulate(mechanism, 1e-3, 1e-3, state=rest).energy[0]
    for size in (0.05, 0.1):
        change = np.hstack([size * shape, np.zeros((2, 6))])
        guess = mechanism.assemble(changed_state(rest, change))
        orbit = vi.periodic_orbit(mechanism, guess, period, period / 100, order=6)
        check_conservative(orbit)
        energy = vi.simulate(mechanism, 1e-3, 1e-3, state=orbit.state).energy[0] - hanging
        away.append((orbit.period - period) / energy)
        turn = 2 * np.pi * modes.frequency[1 - mode] * orbit.period  # of the other mode in a period
        assert np.abs(orbit.multipliers - np.exp(1j * turn)).min() < 5 * size**2
    assert away[1] == pytest.approx(away[0], rel=0.02)
    check_closes(mechanism, orbit, 6)


@pytest.mark.slow
def test_a_loop_swings():
    mechanism = vi.mechanisms.four_bar()
    rest = vi.equilibrium(mechanism)
    period, joint = 1 / vi.modes(mechanism, rest).frequency[0], "crank pivot"
    at = float(mechanism.coordinates(rest)[joint])
    guess = mechanism.assemble(rest, coordinates={joint: at + 0.1})
    orbit = vi.periodic_orbit(mechanism, guess, period, period / 100)
    assert orbit.names == (joint,)
    check_conservative(orbit)
    check_closes(mechanism, orbit, 2)


def van_der_pol(value, rate):
    return (1.0 - value**2) * rate - value, -2.0 * value * rate - 1.0, 1.0 - value**2


@pytest.mark.slow
def test_the_limit_cycle_of_van_der_pol():
    block = vi.Body.box("block", size=(0.1, 0.1, 0.1), mass=1.0)
    slide = vi.Prismatic("slide", "world", "block", point=(0, 0, 0), axis=(1, 0, 0))
    force = vi.UserJointForce("force", joint="slide", law=van_der_pol)
    mechanism = vi.Mechanism("van der Pol", [block], [slide], gravity=(0, 0, 0), forces=[force])
    guess = mechanism.state(coordinates={"slide": 1.8})
    errors = []
    for steps in (100, 200):
        orbit = vi.periodic_orbit(mechanism, guess, 6.5, 6.5 / steps, order=4)
        errors.append(abs(orbit.period - VAN_DER_POL))
        assert orbit.multipliers[0] == pytest.approx(1.0, abs=1e-7)
        assert abs(orbit.multipliers[1]) < 1e-2
        assert orbit.stable
    assert errors[1] < 1e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)


@pytest.mark.slow
def test_a_driven_and_damped_pendulum_keeps_the_period_of_its_drive():
    """By Liouville the multipliers have the product exp(- integral of the damping over the inertia)."""
    plain, damping, period = vi.mechanisms.cart_pole(angle=0.1), 0.2, 1.3
    drive = vi.PrescribedMotion("drive", joint="track", position=lambda t: 0.05 * np.sin(2 * np.pi * t / period))
    mechanism = with_forces(plain, drive, vi.JointDamper("damper", joint="pivot", damping=damping))
    guess = mechanism.state(coordinates={"pivot": 0.1}, rates={"track": 0.1 * np.pi / period})
    orbit = vi.periodic_orbit(mechanism, guess, period, period / 200, fixed_period=True, order=4)
    assert orbit.period == pytest.approx(period, abs=1e-14)
    assert orbit.names == ("pivot",)
    pole = mechanism.bodies[1]
    moment = pole.inertia[1, 1] + pole.mass * np.linalg.norm(pole.position - mechanism.bodies[0].position) ** 2
    assert np.prod(orbit.multipliers).real == pytest.approx(np.exp(-damping * period / moment), abs=1e-6)
    assert orbit.stable
    run = vi.simulate(mechanism, 40 * period, orbit.dt, state=guess, order=4)
    assert run[-1].position == pytest.approx(orbit.state.position, abs=1e-5)


@pytest.mark.slow
def test_an_upright_motion_is_unstable():
    mechanism = vi.mechanisms.double_pendulum(angle=0.0)
    modes = vi.modes(mechanism, mechanism.state(coordinates={"joint 2": np.pi}))
    assert modes.frequency[0] < 0 < modes.frequency[1]
    period = 1 / modes.frequency[1]
    shape = modes.shape[1] / np.abs(modes.shape[1]).max()
    rest = mechanism.state(coordinates={"joint 2": np.pi})
    guess = mechanism.assemble(changed_state(rest, np.hstack([0.02 * shape, np.zeros((2, 6))])))
    orbit = vi.periodic_orbit(mechanism, guess, period, period / 100, order=4)
    assert not orbit.stable
    grows = np.exp(-2 * np.pi * modes.frequency[0] * period)
    assert np.abs(orbit.multipliers).max() == pytest.approx(grows, rel=0.02)


@pytest.mark.slow
def test_what_it_says_and_refuses():
    mechanism = vi.mechanisms.n_pendulum(1, angle=0.0)
    state = mechanism.state(coordinates={"joint 1": 0.5})
    orbit = vi.periodic_orbit(mechanism, state, 1.7, 0.02)
    assert repr(orbit).startswith("PeriodicOrbit: '1-link pendulum', 1.6")
    with pytest.raises(vi.ArgumentError, match=r"a period of 1\.7 s must have one to 2\^53 steps, got dt = 5 s"):
        vi.periodic_orbit(mechanism, state, 1.7, 5.0)
    moved = with_forces(mechanism, vi.Motor("motor", joint="joint 1", effort=lambda t, state: 0.0))
    with pytest.raises(vi.ArgumentError, match="has an input that is a function of the state"):
        vi.periodic_orbit(moved, state, 1.7, 0.02)
    turned = with_forces(mechanism, vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: 0.5))
    with pytest.raises(vi.ArgumentError, match="changes with time: its period is that of the motion"):
        vi.periodic_orbit(turned, state, 1.7, 0.02)
    falling = vi.mechanisms.free_body()
    thrown = vi.Mechanism("thrown", falling.bodies, falling.joints, gravity=(0, 0, -9.81))
    with pytest.raises(vi.ConvergenceError, match="no periodic motion of 'thrown' was found"):
        vi.periodic_orbit(thrown, thrown.state(), 1.0, 0.02)
