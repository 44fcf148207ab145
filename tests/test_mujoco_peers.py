"""Models of other packages: what is read of them equals what MuJoCo reads, and each runs or is refused in words.

The extra varint-dynamics[test-peers] installs them. Without it this file is skipped.
"""

import dataclasses
import warnings

import numpy as np
import pytest
from mujoco_peer import Peer
from robot_files import label, models, packages_of
from test_mjcf import MOVED, check_bodies

import varint as vi

pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
pytestmark = pytest.mark.slow  # `make test` does without MuJoCo
MODELS = models()
if not MODELS:
    pytest.skip("needs the models of the extra varint-dynamics[test-peers]", allow_module_level=True)


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
    m.jnt_actgravcomp[:] = 0  # where it counts as an actuator's effort it is the same, but for limits of that
    kept = [force for force in peer.mechanism.forces if "actuator " not in force.name]
    peer.mechanism = dataclasses.replace(peer.mechanism, forces=kept)
    left_out = " ".join(entry.what for entry in peer.report.not_understood)
    for name, tendon in peer.tendons.items():
        if f"tendon '{name}'" in left_out:
            m.tendon_stiffness[tendon] = m.tendon_damping[tendon] = 0.0
    if "armature of tendon" in left_out:
        m.tendon_armature[:] = 0.0
    for name, joint in peer.joints.items():
        if f"armature of joint '{name}'" in left_out:
            m.dof_armature[m.dof_jntid == joint] = 0.0
        if f"damping of ball '{name}'" in left_out:
            m.dof_damping[m.dof_jntid == joint] = 0.0
    rng = np.random.default_rng(3)
    # of the digits of a light link, a rotor that turns with it takes as many as the ratio of their inertias has
    inertia = m.body_inertia[1:].min(where=m.body_inertia[1:] > 0, initial=1.0)
    bound = max(MOVED, np.finfo(float).eps * m.dof_armature.max(initial=0.0) / inertia)
    for _ in range(3):
        peer.randomise(rng)
        assert peer.errors_of_accelerations() < bound


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=label)
def test_runs_of_a_second_stay_closed(path):
    mechanism = loaded(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        if path.name == "pendula.xml":
            with pytest.raises(vi.ConvergenceError, match="'joint1' went beyond half a turn"):
                vi.simulate(mechanism, 1.0, 1e-3, every=10)
            return
        traj = vi.simulate(mechanism, 1.0, 1e-3, every=10)
    assert np.isfinite(traj.position).all()
    assert traj.drift.max() < 1e-9
