"""Unresolved steps are reported beside motors and brakes that exchange far more energy than the motion has."""

import numpy as np
import pytest

import varint as vi

RATE = 10.0  # rad/s, of the wheel


def chain_and_wheel(power):
    """Ten links that start level, and a wheel of its own with a motor and a brake that exchange ``power``, W."""
    chain = vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2)
    wheel = vi.Body("wheel", mass=1.0, inertia=0.1 * np.eye(3), position=(5.0, 5.0, 0.0))
    axle = vi.Revolute("axle", "world", "wheel", point=(5.0, 5.0, 0.0), axis=(0, 0, 1))
    forces = [
        vi.Motor("motor", joint="axle", effort=power / RATE),
        vi.JointDamper("brake", joint="axle", damping=power / RATE**2),
    ]
    bodies, joints = [*chain.bodies, wheel], [*chain.joints, axle]
    return vi.Mechanism("chain and wheel", bodies, joints, forces=forces, gravity=chain.gravity)


@pytest.mark.parametrize("power", [0.0, 1e2, 1e4, 1e5])
@pytest.mark.parametrize("order", [2, 4])
def test_a_chain_that_whips_is_reported_at_any_throughput(order, power):
    mechanism = chain_and_wheel(power)
    with pytest.warns(vi.UnresolvedWarning, match="'chain and wheel' did not resolve its motion"):
        run = vi.simulate(mechanism, 8.0, 0.01, order=order, state=mechanism.state(rates={"axle": RATE}))
    named = {run.mechanism.bodies[i].name for i in run.unresolved_body if i >= 0}
    assert "wheel" not in named


def test_a_wheel_between_motor_and_brake_is_resolved():
    """The wheel alone speeds up from rest and exchanges 200 kW for 20 s: no step is reported."""
    rig = chain_and_wheel(1e4)
    forces = [vi.Motor("motor", joint="axle", effort=1e3), vi.JointDamper("brake", joint="axle", damping=5.0)]
    wheel = vi.Mechanism("wheel", rig.bodies[-1:], rig.joints[-1:], forces=forces)
    run = vi.simulate(wheel, 20.0, 0.01, on_unresolved="raise")
    assert run.work[-1, 0] > 1e6
