"""Controllers in Python that damp a joint by efforts held over a step: the limit of the gain, and who says it."""

import dataclasses
import warnings

import numpy as np
import pytest

import varint as vi

DT, INERTIA = 0.01, 0.1
LIMIT = 2.0 * INERTIA / DT  # 20 N m s/rad


def rotor(effort=0.0):
    """A wheel of 0.1 kg m^2 about its axis."""
    body = vi.Body.cylinder("rotor", radius=0.2, length=0.1, mass=5.0)
    hinge = vi.Revolute("hinge", "world", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    return vi.Mechanism("rotor", [body], [hinge], forces=[vi.Motor("motor", joint="hinge", effort=effort)])


def damped(mechanism, joint, gain, most=np.inf, function=lambda f: f):
    """With a motor whose effort is -gain times the rate, up to ``most``."""

    def effort(t, state):
        return float(np.clip(-gain * mechanism.rates(state)[joint], -most, most))

    motor = vi.Motor("motor", joint=joint, effort=function(effort))
    return dataclasses.replace(mechanism, start={}, forces=[motor])


def warned(run):
    """Messages of the warnings of a run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    assert all(issubclass(each.category, vi.UnresolvedWarning) for each in caught)
    return [str(each.message) for each in caught]


def spun(mechanism, rate=1.0, steps=40):
    return warned(lambda: vi.simulate(mechanism, steps * DT, DT, state=mechanism.state(rates={"hinge": rate})))


@pytest.mark.parametrize(("share", "most"), [(1.1, 11.0), (2.5, 25.0), (1.02, np.inf)])
def test_a_gain_above_the_limit_is_told_with_the_forces_that_do_it(share, most):
    """Limited, the rate alternates for ever; unlimited, it grows. The energy balance of both is right."""
    (message,) = spun(damped(rotor(), "hinge", share * LIMIT, most))
    assert "rate of joint 'hinge' of 'rotor' alternates" in message
    assert f"motor 'motor' damps joint 'hinge' with a gain of about {share * LIMIT:.3g}" in message
    assert "held gain above 2 I/dt = 20 is unstable (I = 0.1)" in message
    assert "JointServo or JointDamper" in message
    assert f"dt below {DT / share:.2g} s" in message


@pytest.mark.parametrize(("gain", "function"), [(0.9 * LIMIT, lambda f: f), (0.4 * LIMIT, vi.extrapolated)])
def test_a_gain_below_the_limit_is_not(gain, function):
    assert spun(damped(rotor(), "hinge", gain, function=function)) == []


def test_what_the_message_says_helps():
    damper = vi.JointDamper("damper", joint="hinge", damping=50.0 * LIMIT)
    assert spun(dataclasses.replace(rotor(), forces=[damper])) == []
    mechanism = damped(rotor(), "hinge", 2.0 * LIMIT, 2.0 * LIMIT)
    start = mechanism.state(rates={"hinge": 1.0})
    assert warned(lambda: vi.simulate(mechanism, 0.4, 0.45 * DT, state=start)) == []


def test_raise_raises_it():
    mechanism = damped(rotor(), "hinge", 1.1 * LIMIT, LIMIT)
    with pytest.raises(vi.UnresolvedError, match="JointServo or JointDamper"):
        vi.simulate(mechanism, 0.4, DT, state=mechanism.state(rates={"hinge": 1.0}), on_unresolved="raise")


def test_a_wheel_that_alternates_for_another_reason_is_not_told():
    """Its effort alternates by the time alone."""
    assert spun(rotor(lambda t, state: 20.0 * (-1.0) ** round(t / DT))) == []


def test_a_chain_that_did_not_resolve_its_motion_says_why():
    mechanism = damped(vi.mechanisms.double_pendulum(), "joint 2", 16.1)
    (message,) = warned(lambda: vi.simulate(mechanism, 0.6, DT))
    assert "did not resolve its motion" in message
    assert "damps joint 'joint 2' with a gain of about 16.1" in message
    assert "JointServo or JointDamper" in message


@pytest.mark.parametrize("together", [1, 2])
def test_a_stepper_says_it_of_its_inputs(together):
    """Steps that are taken together hold an input for longer."""
    mechanism = dataclasses.replace(
        vi.mechanisms.double_pendulum(), forces=[vi.Motor("motor", joint="joint 2", effort=0.0)]
    )
    sim = vi.Stepper(mechanism, DT / together)

    def run():
        for _ in range(60):
            sim.set("motor", -16.1 * sim.rates[1])
            sim.step(together)

    (message,) = warned(run)
    assert f"motor 'motor', held for {DT:g} s, changes the rate of joint 'joint 2' by" in message
    assert "if it damps the joint, a held gain above 2 I/dt =" in message.replace("If", "if")
    assert "JointServo or JointDamper" in message
