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
import dataclasses
import importlib
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import varint as vi
from varint.algebra.wrapping import INSIDE
from varint.analysis.forces import forces_at, path_lengths
from varint.io.mjcf_muscles import wraps_of
from varint.linear.path_arms import path_arms
from varint.model.forces.along_path import AlongPath
from varint.model.forces.wrapped_path import Around
from varint.redmax.kinematics import TreeKinematics
from varint.redmax.states import reduce

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from mujoco_peer import MusclePeer

MODELS = (
    "myoelbow", "myoelbow_2dof", "myoelbow_exo", "myofinger", "myolegs_osl", "myohand_r", "myoarm_r", "myolegs",
    "myolegs26", "myotorso", "myotorso_arms", "myofullbody",
)  # fmt: skip
STATES = 3  # of the accelerations
LENGTH, ARM, RING_ARM, ACCELERATION = 1e-12, 1e-9, 1e-5, 1e-8  # asked; that of rings is what MuJoCo's method leaves


class Errors(NamedTuple):
    """Largest errors over poses and forces along paths, and where they are."""

    length: float
    arm: float
    ring_arm: float
    worst: str


def models_of(folder):
    """The package myo_sim of a folder; exits with words where there is none."""
    if not (Path(folder) / "myo_sim" / "__init__.py").is_file():
        sys.exit(f"no package myo_sim in {folder}: pip install --target FOLDER myo-sim, then give FOLDER")
    sys.path.append(str(folder))
    return importlib.import_module("myo_sim")


def paths_of(peer):
    """Pairs of our forces along paths and the numbers of their tendons in the model, one a tendon."""
    m = peer.model
    tendons = {f"actuator {m.actuator(k).name}": int(m.actuator_trnid[k, 0]) for k in range(m.nu)}
    tendons |= {f"tendon {m.tendon(k).name}": k for k in range(m.ntendon)}
    forces = {tendons[f.name]: f for f in peer.mechanism.forces if isinstance(f, AlongPath) and f.name in tendons}
    return [(force, tendon) for tendon, force in forces.items()]


def dofs_of(peer, tree):
    """Columns of our tree, and the model's degrees of freedom of the same joints, hinges and slides."""
    own, theirs = [], []
    for name, columns in tree.columns.items():
        parts = [peer.joints.get(part) for part in name.split(" + ")]
        if None not in parts and columns.stop - columns.start == len(parts):
            own += range(columns.start, columns.stop)
            theirs += [int(peer.model.jnt_dofadr[part]) for part in parts]
    return own, theirs


def in_ring(force):
    return any(isinstance(part, Around) and part.surface.mode == INSIDE for part in force.path)


def errors_of_paths(peer, poses, rng):
    """`Errors` of lengths and moment arms at random poses."""
    mechanism, m, d = peer.mechanism, peer.model, peer.data
    pairs = paths_of(peer)
    kinematics = TreeKinematics(mechanism)
    own, theirs = dofs_of(peer, kinematics.tree)
    names = [force.name for force, _ in pairs]
    ring = np.array([in_ring(force) for force, _ in pairs])
    worst = Errors(0.0, 0.0, 0.0, "")
    jacobian = np.zeros((m.ntendon, m.nv))
    for _ in range(poses):
        peer.within_ranges(rng)
        state = peer.state()
        arrays = [a[None] for a in (state.position, state.quat_wxyz, state.velocity, state.angular_velocity)]
        value = forces_at(mechanism, *arrays, np.zeros((1, len(mechanism.forces)))).value
        reduced = reduce(kinematics.tree, mechanism, state)
        arms = path_arms(kinematics, names, [(reduced.q, reduced.qdot)])[0]
        peer.mj.mju_sparse2dense(jacobian, d.ten_J.ravel(), m.ten_J_rownnz, m.ten_J_rowadr, m.ten_J_colind.ravel())
        lengths = np.array([path_lengths(mechanism, value, force)[0] for force, _ in pairs])
        tendons = [tendon for _, tendon in pairs]
        off = np.abs(lengths - d.ten_length[tendons])
        turned = np.abs(arms[:, own] - jacobian[np.ix_(tendons, theirs)]).max(axis=1)
        smooth = np.where(ring, 0.0, turned)
        where = worst.worst
        if off.max() > worst.length or smooth.max() > worst.arm:
            where = f"{names[int(off.argmax())]}, {names[int(smooth.argmax())]}"
        worst = Errors(
            max(worst.length, off.max()),
            max(worst.arm, smooth.max()),
            max(worst.ring_arm, np.where(ring, turned, 0.0).max()),
            where,
        )
    return worst, len(pairs), int(ring.sum())


def error_of_accelerations(peer, rng):
    """The largest of a few states, over the largest acceleration of each."""
    worst = 0.0
    for _ in range(STATES):
        peer.excite(rng)
        peer.within_ranges(rng)
        peer.keep_equalities()
        worst = max(worst, peer.errors_of_accelerations())
    return worst


def comparable(spec):
    """The model with a force along each tendon, and muscles with one set of numbers each."""
    driven = {actuator.target for actuator in spec.actuators}
    for tendon in spec.tendons:
        if tendon.name not in driven and not np.any(tendon.stiffness):
            tendon.stiffness = [1.0, 0.0, 0.0] if np.ndim(tendon.stiffness) else 1.0  # N/m; a polynomial in MuJoCo 4
    for actuator in spec.actuators:
        if actuator.biastype == actuator.biastype.mjBIAS_MUSCLE:
            actuator.biasprm = actuator.gainprm
    return spec


def without_rings(peer):
    """Take the muscles and springs that a ring holds from both sides."""
    ring = {force.name: tendon for force, tendon in paths_of(peer) if in_ring(force)}
    m = peer.model
    m.tendon_stiffness[list(ring.values())] = 0.0
    for actuator in np.flatnonzero(np.isin(m.actuator_trnid[:, 0], list(ring.values()))):
        m.actuator_gainprm[actuator, 2] = m.actuator_biasprm[actuator, 2] = 0.0  # N, the largest force
    forces = [force for force in peer.mechanism.forces if force.name not in ring]
    peer.mechanism = dataclasses.replace(peer.mechanism, forces=forces)


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
