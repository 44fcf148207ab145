"""IFToMM benchmark problems A03 and A05: their forces against published and converged values."""

import numpy as np
import pytest
from test_mechanisms import build

import varint as vi

# IVP test set, "Andrews' squeezing mechanism": (beta, Theta, gamma, Phi, delta, Omega, epsilon) at 0.03 s
SQUEEZER = (
    15.8107711962990, -15.7563710598430, 0.0408222401307, -0.5347301163227, 0.5244099658805, 0.5347301163227,
    1.0480807410423,
)  # fmt: skip


def squeezer_angles(run):
    """(T, 7), rad: the joints measure Phi and Omega the other way round."""
    signed = {"O": 1, "crank pin": 1, "B": 1, "E": -1, "A5": 1, "H": -1, "A7": 1}
    turned = np.stack([sign * run.coordinates[joint] for joint, sign in signed.items()], axis=1)
    return vi.mechanisms.module("andrews_squeezer").ANGLES + turned


@pytest.mark.slow
@pytest.mark.parametrize(("order", "dt"), [(4, 5e-5), (6, 1e-4)])
def test_squeezer_against_the_test_set(order, dt):
    run = vi.simulate(build("andrews_squeezer"), 0.05, dt, order=order)
    q = squeezer_angles(run)
    np.testing.assert_allclose(q[round(0.03 / dt)], SQUEEZER, atol=1e-6)
    beta = q[:, 0]
    assert beta[-1] == pytest.approx(33.82586777, abs=2e-6)
    crank_pin = 0.007 * np.array([np.cos(beta[-1]), np.sin(beta[-1])])
    np.testing.assert_allclose(crank_pin, (-0.0052085047, 0.0046766953), atol=1e-7)
    balance = run.energy - run.energy[0] - 0.033 * (beta - beta[0])
    assert abs(balance).max() < 3.5e-7  # the published error
    np.testing.assert_allclose(balance, run.energy_balance, atol=1e-8)
    assert run.energy[0] == pytest.approx(run.potential[0])
    assert run.substeps == 0


def test_squeezer_is_of_second_order():
    errors = []
    for dt in (5e-5, 2.5e-5):
        run = vi.simulate(build("andrews_squeezer"), 0.03, dt)
        errors.append(np.abs(squeezer_angles(run)[-1] - SQUEEZER).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def slider(duration, dt, order=2):
    """Place s (T,) of the governor's slider, m, and the run."""
    run = vi.simulate(build("governor"), duration, dt, order=order)
    return 0.5 + run.coordinates["slide"], run


def test_governor_at_half_a_second():
    errors = []
    for dt in (5e-4, 2.5e-4):  # in longer steps the springs' dampers take a lead
        s, run = slider(0.5, dt)
        errors.append(s[-1] - 0.74324942)
        np.testing.assert_allclose(run.position[:, 1, 2], s, atol=1e-12)
        assert run.drift.max() < 1e-12
        assert run.substeps == 0
    assert np.abs(errors).max() < 1e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.long
@pytest.mark.slow
def test_governor_over_ten_seconds():
    """At 0.5 ms within 1e-5 m of half the step and of order 4; it turns freely, so its angular momentum stays."""
    (coarse, run), (fine, _), (fourth, _) = slider(10.0, 5e-4), slider(10.0, 2.5e-4), slider(10.0, 6.25e-5, order=4)
    assert abs(coarse[-1] - fine[-1]) < 5e-6
    assert abs(coarse[-1] - fourth[-1]) < 1e-5
    assert abs(fine[-1] - fourth[-1]) < 2.5e-6
    about_z = run.angular_momentum[:, 2]
    np.testing.assert_allclose(about_z, about_z[0], rtol=1e-9)
    taken = run.dissipated["left spring"] + run.dissipated["right spring"]
    np.testing.assert_allclose(run.energy[0] - run.energy, taken, atol=1e-4)
    assert run.energy[0] - run.energy[-1] > 2e-3
    assert np.ptp(fine) > 0.1


def test_governor_stays_symmetric():
    _, run = slider(1.0, 2e-3)
    np.testing.assert_allclose(run.force["left spring"], run.force["right spring"], atol=1e-6)
    np.testing.assert_allclose(run.position[:, 1, :2], 0.0, atol=1e-12)
