"""The rules by which runs beside limits are judged see what they are for, and let right runs pass."""

from types import SimpleNamespace

import limit_rules
import numpy as np
import pytest
from limit_rules import GAIN, energy_gain, frozen_joints

import varint as vi

STOP = vi.JointStop("stop", joint="pin", lower=-1.0, upper=2.0, restitution=0.5)


def pendulum(*forces):
    body = vi.Body("rod", mass=1.0, inertia=0.01 * np.eye(3), position=(0.5, 0.0, 0.0))
    pin = vi.Revolute("pin", "world", "rod", point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    return vi.Mechanism("pendulum", [body], [pin], forces=[STOP, *forces])


class Frozen:
    """A run in which the pendulum stands at ``angle``, under the effort ``held`` of its stop."""

    def __init__(self, mechanism, angle=0.0, held=0.0):
        self.mechanism, self.t, self.angle = mechanism, np.arange(6) * 0.01, angle
        self.rates, self.force = {"pin": np.zeros(6)}, {"stop": np.full(6, held)}

    def __getitem__(self, node):
        return self.mechanism.state(coordinates={"pin": self.angle})


def test_a_joint_that_stands_though_it_is_free():
    assert frozen_joints(Frozen(pendulum())) == ["pin"]
    assert frozen_joints(Frozen(pendulum(), held=5.0)) == []
    assert frozen_joints(Frozen(pendulum(), angle=np.pi / 2)) == []  # it hangs
    assert frozen_joints(Frozen(pendulum(vi.JointDamper("damper", joint="pin", damping=1e6)))) == []
    assert frozen_joints(Frozen(pendulum(vi.JointFriction("friction", joint="pin", effort=9.0)))) == []


@pytest.mark.parametrize(("error", "gain"), [((0, 0, 0.4, 0.4, 0.4), 0.2), ((0, 0.4, 0, 0, 0.02), 0.01)])
def test_a_rise_of_the_energy_that_stays(monkeypatch, error, gain):
    own = SimpleNamespace(error=np.array(error, dtype=float), energy=np.full(5, 2.0))
    monkeypatch.setattr(limit_rules, "component_energies", lambda run: [own])
    assert energy_gain(None) == pytest.approx(gain)


def test_right_runs_pass():
    run = vi.simulate(pendulum(), 2.0, 0.002)
    assert 1.98 < run.coordinates["pin"].max() < 2.0 + 1e-9
    assert energy_gain(run) < 0.1 * GAIN
    assert frozen_joints(run) == []
