"""Tendons of a model of MuJoCo beside ours: lengths and moment arms at random poses, and what both sides can compare.

`tests/test_myo_models.py` and `benchmarks/myo_models.py` take them.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from varint.derivatives.linear.path_arms import path_arms
from varint.mathematics.wrapping import INSIDE
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.states import reduce
from varint.model.forces.along_path import AlongPath
from varint.model.forces.wrapped_path import Around
from varint.results.forces import forces_at, path_lengths


class Errors(NamedTuple):
    """Largest errors over poses and forces along paths, and where they are."""

    length: float
    arm: float
    ring_arm: float
    worst: str


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
