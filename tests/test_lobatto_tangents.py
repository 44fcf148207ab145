"""Derivatives of steps by collocation along changes: `linearize`, `periodic_orbit`, `lyapunov_spectrum`."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ellipk

import varint as vi

pytestmark = pytest.mark.slow


def driven(name, motion):
    plain = vi.mechanisms.n_pendulum(2, angle=0.5) if name == "n_pendulum" else getattr(vi.mechanisms, name)()
    motor = vi.PrescribedMotion("drive", joint=plain.joints[0].name, position=motion)
    return dataclasses.replace(plain, forces=[*plain.forces, motor])


def turning(t):
    return 0.3 * math.sin(3 * t) + t * t


MECHANISMS = {
    "double pendulum": lambda: vi.mechanisms.n_pendulum(2, angle=0.8),
    "spinning top": vi.mechanisms.spinning_top,
    "four-bar": vi.mechanisms.four_bar,
    "overconstrained": vi.mechanisms.bricard,
    "driven": lambda: driven("n_pendulum", turning),
    "function of time": lambda: vi.mechanisms.cart_pole(effort=lambda t: 3.0 * math.cos(5 * t)),
}


@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # of the drive
@pytest.mark.parametrize("chart", [False, True])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_step_against_differences_of_steps(name, chart):
    mechanism, method = MECHANISMS[name](), vi.Lobatto(0.01, order=6)
    found = vi.linearize(vi.Problem(mechanism, 0.01), method, chart=chart)

    def end(x):
        run = vi.simulate(vi.Problem(mechanism, method.dt, found.state_at(x)), method)
        return found.coordinates(run.state(-1))

    h, exact = 1e-3, np.zeros_like(found.A)
    for k, unit in enumerate(np.eye(len(exact))):
        one, two, three = (end(n * h * unit) - end(-n * h * unit) for n in (1, 2, 3))
        exact[:, k] = (45 * one - 9 * two + three) / (60 * h)
    np.testing.assert_allclose(found.A, exact, rtol=0, atol=1e-9 * np.abs(exact).max())
    np.testing.assert_allclose(found.offset, end(np.zeros(len(exact))), rtol=0, atol=1e-13)


@pytest.mark.parametrize("effort", [0.5, lambda t: 3.0 * math.cos(5 * t)])
def test_a_step_by_its_inputs(effort):
    """Over a step an input adds a constant; the step is linear in it to the differences' error."""
    method = vi.Lobatto(0.02, order=6)

    def pushed(more):
        force = effort + more if isinstance(effort, float) else lambda t: effort(t) + more
        return vi.mechanisms.cart_pole(effort=force)

    found = vi.linearize(vi.Problem(pushed(0.0), 0.02), method)

    def end(more):
        return found.coordinates(vi.simulate(vi.Problem(pushed(more), method.dt, found.state), method).state(-1))

    exact = (8 * (end(0.1) - end(-0.1)) - (end(0.2) - end(-0.2))) / 1.2
    np.testing.assert_allclose(found.B[:, 0], exact, rtol=0, atol=1e-10 * np.abs(exact).max())


def test_steps_keep_areas_and_the_period_is_that_of_the_pendulum():
    """The period of a rod by the elliptic integral, at the amplitude of the orbit that is found."""
    rod = vi.mechanisms.n_pendulum(1, angle=1.2)
    found = vi.periodic_orbit(vi.Problem(rod, 1.9), vi.Lobatto(0.1, order=8))
    run = vi.simulate(vi.Problem(rod, found.period, found.state), vi.Lobatto(found.period / 2000, order=8))
    body, arm = rod.bodies[0], float(np.linalg.norm(rod.bodies[0].position))
    about = body.inertia[1, 1] + body.mass * arm**2
    slow = math.sqrt(about / (body.mass * 9.81 * arm))
    most = 0.5 * np.ptp(run.coordinates["joint 1"])
    assert found.period == pytest.approx(4 * slow * ellipk(math.sin(most / 2) ** 2), rel=1e-6)
    assert found.gap < 1e-12
    assert np.linalg.det(found.monodromy) == pytest.approx(1.0, abs=1e-11)
    other = vi.periodic_orbit(vi.Problem(rod, 1.9), vi.Variational(dt=0.01, order=6))
    assert found.period == pytest.approx(other.period, rel=1e-8)


def test_exponents_come_in_pairs_and_are_those_of_steps_of_order_6_in_the_limit():
    """The others have momenta of steps in their coordinates, so that they differ in proportion to the step."""
    problem = vi.Problem(vi.mechanisms.n_pendulum(2, angle=0.7), 3.2)
    found = vi.lyapunov_spectrum(problem, vi.Lobatto(0.02, order=8), interval=0.2).exponents
    np.testing.assert_allclose(found + found[::-1], 0.0, atol=1e-11)
    coarse, fine = (
        vi.lyapunov_spectrum(problem, vi.Variational(dt=dt, order=6), interval=0.2).exponents for dt in (0.02, 0.01)
    )
    np.testing.assert_allclose(found, 2 * fine - coarse, rtol=0, atol=1e-5)


def test_exponents_follow_inputs_over_time():
    problem = vi.Problem(vi.mechanisms.cart_pole(effort=lambda t: 3.0 * math.cos(5 * t)), 3.2)
    found = vi.lyapunov_spectrum(problem, vi.Lobatto(0.02, order=8), interval=0.2).exponents
    coarse, fine = (
        vi.lyapunov_spectrum(problem, vi.Variational(dt=dt, order=6), interval=0.2).exponents for dt in (0.02, 0.01)
    )
    np.testing.assert_allclose(found, 2 * fine - coarse, rtol=0, atol=2e-4)
    assert np.abs(found - fine).max() > 2e-4  # which the limit explains


def test_what_has_no_such_derivative_is_refused_by_name():
    method, double = vi.Lobatto(0.01, order=6), vi.mechanisms.n_pendulum(2)
    fed = vi.mechanisms.cart_pole(effort=lambda t, state: -state.velocity[0, 0])
    stop = vi.JointStop("stop", joint="joint 1", upper=1.0)
    for mechanism, name in ((fed, "motor 'motor'"), (dataclasses.replace(double, forces=[stop]), "jointstop 'stop'")):
        with pytest.raises(vi.ArgumentError, match=name):
            vi.linearize(vi.Problem(mechanism, 0.1), method)
    found = vi.linearize(vi.Problem(double, 0.1), method)
    with pytest.raises(vi.ArgumentError, match="keep to the joints alone"):
        found.fdx  # noqa: B018
    with pytest.raises(vi.ArgumentError, match=r"a step of varint\.Variational"):
        found.second_derivatives(np.ones(4))
    with pytest.raises(vi.ArgumentError, match="linearize does not support 'on_unresolved'"):
        vi.linearize(vi.Problem(double, 0.1), vi.Lobatto(0.01, on_unresolved="ignore"))
