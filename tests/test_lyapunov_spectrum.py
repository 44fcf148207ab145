"""All Lyapunov exponents: their pairs, closed forms, and the estimate from two neighbouring runs."""

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.derivatives.linear.step_tangents import ROOM, SPARE, TangentRun
from varint.methods.variational.schemes import scheme

FEW = {"interval": 0.1}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "four_bar", "stewart_platform"])
@pytest.mark.parametrize("order", [4, pytest.param(2, marks=pytest.mark.slow)])
def test_exponents_come_in_pairs(name, order):
    """Over each interval, to round-off: the steps are symplectic and the coordinates canonical."""
    mechanism = getattr(vi.mechanisms, name)()
    found = vi.lyapunov_spectrum(mechanism, 2.0, 0.01, order=order, **FEW)
    assert len(found) == 2 * vi.mechanisms.module(name).EXPECTED["mobility"]
    assert np.abs(found.rates + found.rates[:, ::-1]).max() < 1e-9
    assert np.abs(found.rates.sum(axis=1)).max() < 1e-9


@pytest.mark.slow
def test_an_upright_pendulum():
    """Its exponents are those of the linear equation, with a damper the roots of the damped one."""
    damping = 0.7
    plain = vi.mechanisms.n_pendulum(1, angle=np.pi)
    mechanism = with_forces(plain, vi.JointDamper("damper", joint="joint 1", damping=damping))
    body = mechanism.bodies[0]
    inertia = body.inertia[1, 1] + body.mass * 0.25
    exact = np.roots([1.0, damping / inertia, -9.81 * body.mass * 0.5 / inertia])
    found = vi.lyapunov_spectrum(mechanism, 4.0, 0.01, order=4, **FEW)
    settled = found.rates[len(found.rates) // 2]
    assert settled == pytest.approx(np.sort(exact)[::-1], abs=1e-6)
    assert found.exponents.sum() == pytest.approx(-damping / inertia, abs=1e-6)
    first = vi.lyapunov_spectrum(mechanism, 4.0, 0.01, order=4, count=1, **FEW)
    assert first.exponents == pytest.approx(found.exponents[:1], abs=1e-9)


@pytest.mark.long
@pytest.mark.slow
def test_the_largest_is_that_of_two_neighbouring_runs():
    mechanism = vi.mechanisms.double_pendulum(angle=2.5)
    found = vi.lyapunov_spectrum(mechanism, 400.0, 0.005, interval=0.25, order=4)
    other = vi.lyapunov_exponent(mechanism, 400.0, 0.005, interval=0.25, order=4)
    assert abs(found.exponents[0] - other.exponent) < 3 * np.hypot(found.errors[0], other.error)
    assert abs(found.exponents.sum()) < 1e-10
    assert np.abs(found.exponents + found.exponents[::-1]).max() < 1e-10
    assert abs(found.exponents[1]) < 0.05  # along the flow, and across the energy
    assert found.exponents[0] > 1.0


@pytest.mark.slow
def test_a_long_interval_keeps_few_stages():
    mechanism = vi.mechanisms.double_pendulum()
    run = TangentRun(mechanism, scheme(4), mechanism.state(), 1e-3, 400)
    changes = np.zeros((1, 2, 12))
    run.carry(400, changes)
    assert run.march.node == 400
    assert len(run.march.ws.tape.h) <= SPARE * ROOM + 1


@pytest.mark.slow
def test_what_it_says_and_refuses():
    mechanism = vi.mechanisms.double_pendulum()
    found = vi.lyapunov_spectrum(mechanism, 2.0, 0.02, **FEW)
    assert repr(found).startswith("LyapunovSpectrum: '2-link pendulum', 4 exponents")
    assert found.convergence[-1] == pytest.approx(found.exponents)
    with pytest.raises(vi.ArgumentError, match=r"exponents need 16 intervals, 1 s are 10 of 0.1 s"):
        vi.lyapunov_spectrum(mechanism, 1.0, 0.02, **FEW)
    with pytest.raises(vi.ArgumentError, match="count must be a whole number from 1 up to 4"):
        vi.lyapunov_spectrum(mechanism, 2.0, 0.02, count=5, **FEW)
    moved = with_forces(mechanism, vi.Motor("motor", joint="joint 1", effort=lambda t, state: 0.0))
    with pytest.raises(vi.ArgumentError, match="has an input that is a function of the state"):
        vi.lyapunov_spectrum(moved, 2.0, 0.02, **FEW)
