"""Impacts of bodies on joints with a compliance: those of rigid joints, where the steps do not resolve the ringing."""

import numpy as np
import pytest
from test_compliant_joints import STEEL, apart, soft

import varint as vi


def falling(compliance=None, damping_time=None):
    """Two rods of 1 m, 1 kg, from horizontal, whose first joint has a stop."""
    bodies = [vi.Body.rod(name, (k, 0, 0), (k + 1, 0, 0), mass=1.0, radius=0.02) for k, name in enumerate("ab")]
    given = {"axis": (0, 1, 0), "compliance": compliance, "damping_time": damping_time}
    joints = [
        vi.Revolute(f"pin {k}", a, b, point=(k, 0, 0), **given) for k, (a, b) in enumerate([("world", "a"), ("a", "b")])
    ]
    stop = vi.JointStop("stop", joint="pin 0", upper=0.5, restitution=0.5)
    return vi.Mechanism("falling", bodies, joints, forces=[stop])


@pytest.mark.parametrize("damping_time", [None, 5e-4])
def test_hard_stops(damping_time):
    """Rates after the impact are those of rigid joints: no spring keeps ringing with them."""
    run, steel = (
        vi.simulate(each, 0.5, 1e-3, on_unresolved="raise") for each in (falling(), falling(STEEL, damping_time))
    )
    assert np.abs(np.diff(run.rates["pin 0"])).max() > 1.0  # there is an impact
    assert apart(run, steel) < 2e-5
    assert np.abs(steel.velocity - run.velocity).max() < 1e-3
    assert np.abs(steel.angular_velocity - run.angular_velocity).max() < 1e-3
    assert np.abs(steel.energy_balance).max() < 1.1 * np.abs(run.energy_balance).max()


def test_springs_that_steps_resolve():
    """They take no part in an impact, which leaves the other body with its momentum."""
    mechanism = falling(1e-2)
    run = vi.simulate(mechanism, 0.5, 1e-3, on_unresolved="raise")
    k = int(np.abs(np.diff(run.angular_velocity[:, 0, 1])).argmax())
    jump = np.abs(np.diff(run.angular_velocity[:, :, 1], axis=0)[k])
    assert jump[0] > 1.0
    assert jump[1] < 0.02 * jump[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("friction", "damping_time"), [(0.1, None), (0.1, 5e-4), (0.1, 1e-3), (0.0, 5e-4), (0.0, None)]
)
def test_a_ratchet_of_steel(friction, damping_time):
    """It is caught as a rigid one, at most one more iteration a step, and its steps are resolved."""
    rigid = vi.mechanisms.ratchet(friction=friction)
    run, steel = (vi.simulate(m, 0.5, 1e-3, on_unresolved="raise") for m in (rigid, soft(rigid, STEEL, damping_time)))
    assert steel.newton_iterations <= run.newton_iterations + 500
    assert apart(run, steel) < 1e-5


@pytest.mark.slow
def test_the_force_of_a_catch_does_not_ring():
    """Joints without a damping time settle about their load; with one of zero they ring for ever."""
    rigid = vi.mechanisms.ratchet()
    settled, ringing = (vi.simulate(soft(rigid, STEEL, damping_time), 0.3, 1e-3) for damping_time in (None, 0.0))
    held = vi.simulate(rigid, 0.3, 1e-3).force["catch"][280:].mean()
    assert np.abs(settled.force["catch"][280:] / held - 1.0).max() < 0.1
    assert np.ptp(ringing.force["catch"][280:]) > held


@pytest.mark.slow
@pytest.mark.parametrize("compliance", [1e-3, 1e-5, STEEL])
def test_a_nose_in_a_notch(compliance):
    """Two contacts with friction hold one point of a body whose joints give: their states are found."""
    rigid = vi.mechanisms.ratchet()
    run = vi.simulate(soft(rigid, compliance, 0.0), 0.46, 1e-3, on_unresolved="ignore")
    assert run.newton_iterations < 15 * run.steps
