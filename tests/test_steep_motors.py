"""Motors that hold a speed: what the law says, and what is said where steps are too long for it."""

import dataclasses
import warnings

import numpy as np
import pytest

import varint as vi
from varint.results.resolution import inertia_along


def rotor(**motor):
    """0.1 kg m^2."""
    body = vi.Body.cylinder("rotor", radius=0.2, length=0.1, mass=5.0)
    hinge = vi.Revolute("hinge", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("rotor", [body], [hinge], forces=[vi.VelocityMotor("drive", joint="hinge", **motor)])


def crank(**motor):
    mechanism = vi.mechanisms.four_bar()
    force = vi.VelocityMotor("motor", joint="crank pivot", **({"speed": 6.0, "max_effort": 20.0} | motor))
    return dataclasses.replace(mechanism, start={}, forces=[force])


def test_all_it_has_then_steady_in_steps_that_resolve_it():
    """At 2 N m the speed grows by 20 rad/s each second up to 5 rad/s, then no effort is needed."""
    run = vi.simulate(rotor(speed=5.0, max_effort=2.0), 0.5, 5e-4)
    rate, effort = run.rates["hinge"], run.force["drive"]
    rising, steady = run.t < 0.245, run.t > 0.255
    assert rate[rising] == pytest.approx(20.0 * run.t[rising], abs=1e-5)
    assert effort[rising] == pytest.approx(2.0, abs=1e-7)
    assert rate[steady] == pytest.approx(5.0, abs=1e-4)
    assert effort[steady] == pytest.approx(0.0, abs=2e-3)
    assert run.work[-1, 0] == pytest.approx(0.5 * 0.1 * 25.0, rel=1e-3)


def test_inertia_that_a_motor_moves():
    mechanism = rotor(speed=5.0, max_effort=2.0)
    assert inertia_along(mechanism, mechanism.forces[0], mechanism.state()) == pytest.approx(0.1, rel=1e-12)
    linkage = crank()
    state = linkage.state(rates={"crank pivot": 1.0})
    moving = sum(
        body.mass * v @ v + w @ body.inertia @ w
        for body, v, w in zip(linkage.bodies, state.velocity, state.angular_velocity, strict=True)
    )
    assert inertia_along(linkage, linkage.forces[0], state) == pytest.approx(moving, rel=1e-9)


@pytest.mark.slow
def test_steps_that_are_too_long_are_told_with_those_that_are_not():
    linkage = crank()
    with pytest.warns(vi.UnresolvedWarning, match="too long for velocitymotor 'motor'.*dt below 0.00015 s") as told:
        run = vi.simulate(linkage, 0.3, 0.01)
    assert len(told) == 1
    exact = vi.redmax.simulate(linkage, 0.3, dt=0.01, integrator="radau", rtol=1e-8)
    steady = run.t > 0.1
    wrong = np.abs(run.force["motor"] - exact.force["motor"])[steady]
    assert wrong.max() > 5.0  # as was told
    fine = vi.simulate(linkage, 0.3, 1.25e-4)
    assert fine.force["motor"][::80][steady] == pytest.approx(exact.force["motor"][steady], abs=0.05)
    assert fine.rates["crank pivot"][::80] == pytest.approx(exact.rates["crank pivot"], abs=1e-3)
    with pytest.raises(vi.UnresolvedError, match="velocitymotor 'motor'") as caught:
        vi.simulate(linkage, 0.3, 0.01, on_unresolved="raise")
    assert len(caught.value.trajectory) == 31
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vi.simulate(linkage, 0.3, 0.01, on_unresolved="ignore")


@pytest.mark.slow
def test_the_mean_effort_of_a_step_is_right_in_long_ones():
    linkage = crank()
    run = vi.simulate(linkage, 0.3, 0.005, on_unresolved="ignore")
    exact = vi.redmax.simulate(linkage, 0.3, dt=0.005, integrator="radau", rtol=1e-8)
    found, right = (np.diff(each.work[:, 0]) / np.diff(each.coordinates["crank pivot"]) for each in (run, exact))
    swing = 0.5 * (found[1:] + found[:-1]), 0.5 * (right[1:] + right[:-1])  # over two steps
    assert swing[0][20:] == pytest.approx(swing[1][20:], abs=0.5)
    assert np.abs(run.energy_balance).max() < 1e-2 * run.kinetic.max()


def test_a_brake_in_long_steps_comes_to_rest():
    mechanism = rotor(speed=0.0, max_effort=2.0)
    run = vi.simulate(mechanism, 0.5, 0.01, state=mechanism.state(rates={"hinge": 3.03}))
    assert run.rates["hinge"].min() > -1e-9
    assert abs(run.rates["hinge"][-1]) < 1e-9


def test_less_steep_laws_and_prescribed_rates_are_silent():
    vi.simulate(crank(smoothing=0.7), 0.3, 0.01)
    drive = vi.PrescribedMotion("motor", joint="crank pivot", rate=6.0)
    run = vi.simulate(dataclasses.replace(crank(), forces=[drive]), 0.3, 0.01)
    assert run.rates["crank pivot"] == pytest.approx(6.0, abs=1e-9)
