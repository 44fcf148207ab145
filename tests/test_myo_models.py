"""Models of MyoSuite with their muscles excited: accelerations are those of MuJoCo.

The extra varint[test-peers] installs the models. Without it this file is skipped. `benchmarks/myo_models.py` takes all
models, and compares lengths and moment arms.
"""

import numpy as np
import pytest
from mujoco_peer import MusclePeer

pytest.importorskip("mujoco", reason="needs the extra varint[mjcf]")
myo_sim = pytest.importorskip("myo_sim", reason="needs the models of the extra varint[test-peers]")

EXACT, RINGS = 1e-8, 1e-6  # of the largest acceleration; MuJoCo's Newton method within rings stops at 1e-6
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
