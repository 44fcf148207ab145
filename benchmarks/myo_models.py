"""Muscles of the models of MyoSuite beside MuJoCo: lengths, moment arms, accelerations with random activations.

    python benchmarks/myo_models.py FOLDER [--poses 100] [--models NAME ...]

FOLDER has the package myo_sim in it, as ``pip install --target FOLDER myo-sim`` makes it; nothing is downloaded.
Coordinates are random within the ranges of their joints; equalities of joints hold. One line a model:

    tendons of it, those of them that are muscles or springs here, those that a ring holds
    largest error of the lengths, m, of the moment arms, m/rad, and of these where a ring holds the tendon
    largest error of accelerations over the largest acceleration, of all, and without what acts through rings

Both sides get the same changes, so that all can be compared: tendons without a force, such as the ligaments of the
shoulder, are springs, and a muscle whose passive curve has numbers of its own gets those of the active one.

In MuJoCo's equations equalities are held exactly too, in place of its springs. Its Newton method within rings stops at
1e-6, so that moment arms there differ by as much. Sides of surfaces are those of MuJoCo 4; MuJoCo 3 chose others at
some poses.
"""

import argparse
import importlib
import sys
from pathlib import Path

import numpy as np

import varint as vi
from varint.files.mjcf.muscles import wraps_of

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from mujoco_peer import MusclePeer
from tendons_of_mujoco import comparable, errors_of_paths, without_rings

MODELS = (
    "myoelbow", "myoelbow_2dof", "myoelbow_exo", "myofinger", "myolegs_osl", "myohand_r", "myoarm_r", "myolegs",
    "myolegs26", "myotorso", "myotorso_arms", "myofullbody",
)  # fmt: skip
STATES = 3  # of the accelerations


def models_of(folder):
    """The package myo_sim of a folder; exits with words where there is none."""
    if not (Path(folder) / "myo_sim" / "__init__.py").is_file():
        sys.exit(f"no package myo_sim in {folder}: pip install --target FOLDER myo-sim, then give FOLDER")
    sys.path.append(str(folder))
    return importlib.import_module("myo_sim")


def error_of_accelerations(peer, rng):
    """The largest of a few states, over the largest acceleration of each."""
    worst = 0.0
    for _ in range(STATES):
        peer.excite(rng)
        peer.within_ranges(rng)
        peer.keep_equalities()
        worst = max(worst, peer.errors_of_accelerations())
    return worst


def line_of(name, spec, poses):
    """The line of a model."""
    rng = np.random.default_rng(1)
    peer = MusclePeer(comparable(spec))
    m = peer.model
    spatial = sum(
        int(peer.model.wrap_type[wraps_of(m, k)[0]]) != peer.mj.mjtWrap.mjWRAP_JOINT for k in range(m.ntendon)
    )
    errors, compared, rings = errors_of_paths(peer, poses, rng)
    accelerations = error_of_accelerations(peer, rng)
    without_rings(peer)
    smooth = error_of_accelerations(peer, rng) if rings else accelerations
    left = [entry.what for entry in peer.report.not_understood]
    told = f"; not understood: {'; '.join(left)}" if left else ""
    return (
        f"{name}   {spatial} {compared} {rings}   {errors.length:.1e} {errors.arm:.1e} {errors.ring_arm:.1e}"
        f"   {accelerations:.1e} {smooth:.1e}   worst: {errors.worst}{told}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="with the package myo_sim in it")
    parser.add_argument("--poses", type=int, default=100)
    parser.add_argument("--models", nargs="*", default=MODELS)
    given = parser.parse_args()
    myo_sim = models_of(given.folder)
    for name in given.models:
        try:
            print(line_of(name, myo_sim.load_spec(name), given.poses), flush=True)
        except vi.VarintError as problem:
            print(f"{name}   refused: {problem}", flush=True)


if __name__ == "__main__":
    main()
