"""Models of other packages: what is read of them equals what MuJoCo reads, and each runs or is refused in words.

The extra varint[test-peers] installs them. Without it this file is skipped.
"""

import dataclasses
import warnings

import numpy as np
import pytest
from mujoco_peer import Peer
from robot_files import label, models, packages_of
from test_mjcf import MOVED, check_bodies

import varint as vi

pytest.importorskip("mujoco", reason="needs the extra varint[mjcf]")
MODELS = models()
if not MODELS:
    pytest.skip("needs the models of the extra varint[test-peers]", allow_module_level=True)


def loaded(path):
    """The mechanism, or a skip where it is refused."""
    try:
        return vi.load_mechanism(path, packages=packages_of(path))
    except (vi.FileError, vi.MechanismError) as problem:
        assert str(path) in str(problem)  # noqa: PT017
        pytest.skip("refused")


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=label)
def test_bodies_joints_and_accelerations_are_those_of_mujoco(path):
    """Without actuators, and without tendons that are told as not understood."""
    loaded(path)
    peer = Peer(path, packages_of(path))
    check_bodies(peer)
    m = peer.model
    if m.eq_active0.any():
        pytest.skip("equalities, which are soft in MuJoCo")
    m.opt.disableflags |= int(peer.mj.mjtDisableBit.mjDSBL_ACTUATION)
    kept = [force for force in peer.mechanism.forces if "actuator " not in force.name]
    peer.mechanism = dataclasses.replace(peer.mechanism, forces=kept)
    left_out = " ".join(entry.what for entry in peer.report.not_understood)
    for tendon in range(m.ntendon):
        if f"tendon '{m.tendon(tendon).name}'" in left_out:
            m.tendon_stiffness[tendon] = m.tendon_damping[tendon] = 0.0
    rng = np.random.default_rng(3)
    for _ in range(3):
        peer.randomise(rng)
        assert peer.errors_of_accelerations() < MOVED


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=label)
def test_runs_of_a_second_stay_closed(path):
    mechanism = loaded(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        traj = vi.simulate(mechanism, 1.0, 1e-3, every=10)
    assert np.isfinite(traj.position).all()
    assert traj.drift.max() < 1e-9
