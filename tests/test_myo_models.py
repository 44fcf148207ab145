"""Models of MyoSuite: lengths, moment arms, and accelerations with muscles excited, are those of MuJoCo.

The extra test-peers installs the models. Without it this file is skipped. `benchmarks/myo_models.py` takes all
models.
"""

import numpy as np
import pytest
from mujoco_peer import MusclePeer
from tendons_of_mujoco import comparable, errors_of_paths, without_rings

pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
myo_sim = pytest.importorskip("myo_sim", reason="needs the models of the extra varint-dynamics[test-peers]")

EXACT, RINGS = 1e-8, 1e-6  # of the largest acceleration; MuJoCo's Newton method within rings stops at 1e-6
LENGTH, ARM = 1e-12, 1e-9  # m, m/rad
TENDONS = {"myoelbow_2dof": 6, "myofinger": 5, "myolegs": 80, "myohand_r": 39, "myoarm_r": 67}
MODELS = {"myoelbow": EXACT, "myofinger": EXACT, "myolegs": EXACT, "myohand_r": RINGS}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_accelerations_with_muscles_are_those_of_mujoco(name, rng):
    peer = MusclePeer(myo_sim.load_spec(name))
    assert not any("muscle" in entry.what for entry in peer.report.not_understood)
    assert len(peer.muscles) == peer.model.nu == peer.model.na
    for _ in range(2):
        peer.excite(rng)
        peer.within_ranges(rng)
        peer.keep_equalities()
        assert np.abs(peer.data.actuator_force).max() > 10.0
        assert peer.errors_of_accelerations() < MODELS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", TENDONS)
def test_lengths_and_moment_arms_of_all_tendons_are_those_of_mujoco(name, rng):
    """At 100 poses; the sides of surfaces are those of MuJoCo 4."""
    pytest.importorskip("mujoco", minversion="4.0")
    peer = MusclePeer(comparable(myo_sim.load_spec(name)))
    errors, compared, _ = errors_of_paths(peer, 100, rng)
    assert compared == TENDONS[name] == peer.model.ntendon
    assert errors.length < LENGTH
    assert errors.arm < ARM
    assert errors.ring_arm < 1e-7


@pytest.mark.slow
def test_rings_are_what_accelerations_of_the_hand_differ_by(rng):
    peer = MusclePeer(myo_sim.load_spec("myohand_r"))
    without_rings(peer)
    peer.excite(rng)
    peer.within_ranges(rng)
    peer.keep_equalities()
    assert np.abs(peer.data.actuator_force).max() > 10.0
    assert peer.errors_of_accelerations() < 1e-11
