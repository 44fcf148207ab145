"""Bodies that spin so fast that steps turn them too far."""

import warnings

import numpy as np
import pytest

import varint as vi
from varint.methods.variational.schemes import SCHEMES
from varint.results.fast_spin import excess_of

ORIGIN = (0, 0, 0)


def wheel():
    disc = vi.Body.cylinder("disc", 0.1, 0.02, 1.0)
    hinge = vi.Revolute("h", "world", "disc", point=ORIGIN, axis=(0, 0, 1))
    return vi.Mechanism("wheel", [disc], [hinge], gravity=ORIGIN)


def spun(rate, duration=0.1, dt=1e-3, **options):
    mechanism = wheel()
    return vi.simulate(mechanism, duration, dt, state=mechanism.state(rates={"h": rate}), **options)


def quiet(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        return run()


@pytest.mark.parametrize("rate", [140.0, 300.0, 450.0, 700.0])
def test_a_wheel_that_steps_turn_too_far_is_named(rate):
    with pytest.warns(vi.UnresolvedWarning, match=rf"body 'disc' .* {rate:g} rad/s, .*order=4"):
        spun(rate)


@pytest.mark.parametrize(("rate", "order"), [(100.0, 2), (130.0, 2), (450.0, 4), (450.0, 6)])
def test_a_wheel_that_is_resolved_is_not(rate, order):
    run = spun(rate, order=order)
    assert abs(run.coordinates["h"][-1] / (0.1 * rate) - 1) < 3e-3


def test_the_step_of_the_warning_resolves():
    with pytest.warns(vi.UnresolvedWarning) as told:
        spun(450.0)
    dt = float(str(told[0].message).split("dt = ")[1].split(" s")[0])
    run = spun(450.0, dt=dt)
    assert abs(run.coordinates["h"][-1] / (450.0 * run.t[-1]) - 1) < 3e-3


@pytest.mark.parametrize("scheme", ["rattle", "suzuki", "sofroniou-spaletta-11"])
@pytest.mark.parametrize("turn", [0.1, 0.45])
def test_the_excess_is_that_of_a_run(scheme, turn):
    run = quiet(lambda: spun(turn / 1e-3, duration=0.05, scheme=scheme))
    excess = excess_of(np.array([turn]), SCHEMES[scheme].stages)[0]
    np.testing.assert_allclose(run.coordinates["h"][-1] - 50 * turn, 50 * excess, atol=1e-10)


def test_a_rotor_of_a_gyroscope_is_named():
    rotor = vi.Body("rotor", mass=1.0, inertia=np.diag([0.002, 0.002, 0.004]))
    ball = vi.Spherical("ball", "world", "rotor", point=(0, 0, -0.2))
    mechanism = vi.Mechanism("top", [rotor], [ball])
    state = mechanism.state(angular_velocity={"rotor": (0, 0, 600.0)}, velocity={"rotor": ORIGIN})
    with pytest.warns(vi.UnresolvedWarning, match="body 'rotor'"):
        vi.simulate(mechanism, 0.1, 5e-4, state=state)


def test_a_swing_is_no_spin():
    rod = vi.Body.rod("rod", ORIGIN, (0, 0, -1), 1.0)
    mechanism = vi.Mechanism("swing", [rod], [vi.Revolute("h", "world", "rod", point=ORIGIN, axis=(0, 1, 0))])
    vi.simulate(mechanism, 3.0, 0.04, state=mechanism.state(coordinates={"h": 2.0}))


@pytest.mark.slow
@pytest.mark.parametrize(("order", "most"), [(None, 3e-4), (2, 1e-4), (4, 1e-4)])
def test_a_chosen_step_takes_spin_into_account(order, most):
    mechanism = wheel()
    run = vi.simulate(mechanism, 0.5, "auto", order=order, state=mechanism.state(rates={"h": 450.0}))
    assert abs(run.coordinates["h"][-1] / 225.0 - 1) < most
