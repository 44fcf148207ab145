"""Models of MyoSuite with their muscles excited: accelerations are those of MuJoCo.

The extra varint[test-peers] installs the models. Without it this file is skipped.
"""

import dataclasses

import numpy as np
import pytest
from mujoco_peer import OFF, SMOOTHED, Peer

import varint as vi

mujoco = pytest.importorskip("mujoco", reason="needs the extra varint[mjcf]")
myo_sim = pytest.importorskip("myo_sim", reason="needs the models of the extra varint[test-peers]")

EXACT, RINGS = 1e-8, 1e-6  # of the largest acceleration; MuJoCo's Newton method within rings stops at 1e-6
MODELS = {"myoelbow": EXACT, "myofinger": EXACT, "myohand_r": RINGS}


def _is_equality(force):
    """Whether it couples coordinates of the model, and no rotor."""
    return isinstance(force, vi.Coupling) and not any(term[0].startswith("rotor of ") for term in force.terms)


class MyoPeer(Peer):
    """`Peer` of a model that myo-sim composes, without equalities; muscles are at activations that `excite` sets."""

    def __init__(self, name):
        self.mj = mujoco
        read = vi.load_mechanism(myo_sim.load_spec(name))
        self.model = myo_sim.load_spec(name).compile()
        self.report, m = read.import_report, self.model
        forces = [force for force in read.forces if not isinstance(force, SMOOTHED) and not _is_equality(force)]
        self.mechanism = dataclasses.replace(read, forces=forces, start={})
        self.bodies = {m.body(i).name: i for i in range(1, m.nbody)}
        self.joints = {m.joint(i).name: i for i in range(m.njnt)}
        for flag in (*OFF, "EQUALITY"):
            m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
        self.data = mujoco.MjData(m)

    @property
    def muscles(self):
        return [force for force in self.mechanism.forces if isinstance(force, vi.Musculotendon)]

    def excite(self, rng):
        """Random activations."""
        given = {f"actuator {self.model.actuator(i).name}": i for i in range(self.model.nu)}
        activation = rng.uniform(0.0, 1.0, self.model.nu)
        self.data.act[:], self.data.ctrl[:] = activation[-self.model.na :], activation
        at = {force.name: float(activation[given[force.name]]) for force in self.muscles}
        forces = [
            dataclasses.replace(force, activation_times=None, excitation=at[force.name]) if force.name in at else force
            for force in self.mechanism.forces
        ]
        self.mechanism = dataclasses.replace(self.mechanism, forces=forces)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_accelerations_with_muscles_are_those_of_mujoco(name, rng):
    peer = MyoPeer(name)
    m, d = peer.model, peer.data
    assert not any("muscle" in entry.what for entry in peer.report.not_understood)
    assert len(peer.muscles) == m.nu == m.na
    for _ in range(2):
        mujoco.mj_resetData(m, d)
        peer.excite(rng)
        d.qvel[:] = rng.uniform(-1.0, 1.0, m.nv)
        for joint in range(m.njnt):
            if m.jnt_limited[joint]:
                low, high = m.jnt_range[joint]
                d.qpos[m.jnt_qposadr[joint]] = rng.uniform(low, high)
        peer.forward()
        assert np.abs(d.actuator_force).max() > 10.0
        assert peer.errors_of_accelerations() < MODELS[name]
