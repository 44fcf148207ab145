"""Loops whose constraints are redundant only up to rounding of the input: they lock where exact loops move.

A planar loop of hinges moves because some of its rows are redundant, which requires parallel axes. If one axis is off
by 1e-7 rad, only the reference pose closes the loop to round-off, and a run that closes joints to round-off stops. Let
G be the scaled Jacobian (loop_clusters.py), N its redundancies, and xi, eta its motions. In an exact loop, N^T G and
the second-order form N^T dG(xi) eta are of the order of round-off. At a singular pose, where some infinitesimal motions
cannot be continued, the form is of order one. A misfit is a redundancy of a size between `ROUND_OFF` and
`SECOND_ORDER`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from varint.base.display import names_text
from varint.base.printable import printable
from varint.kinematics.loop_clusters import SECOND_ORDER, NumberedCluster, clusters_at
from varint.model.bounds import LARGEST_MOTION
from varint.model.import_report import REPAIR
from varint.model.joints.base import Joint
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

ROUND_OFF = 1e-11  # rad, or lengths over `Compiled.length`: a redundancy with a smaller residual is exact
MOST_ROWS = 400  # in larger mechanisms only `diagnose` looks for misfits, as this takes seconds
SMALLEST_SHARE = 1e-3  # smaller ones are neglected: of a row or joint in a unit redundancy, of a force beside a torque
NEAR_AXIS = 1e-6  # a direction is named after a world axis if 1 - cosine of the angle to it is smaller (0.08 degrees)
NEAR_AXIS_RELEASED = 1e-3  # the same for directions to release: 2.6 degrees


@dataclass(frozen=True)
class Misfit:
    """A loop of ``joints`` that locks because its constraints are redundant only within ``size``.

    ``size``: rad, or length over `Compiled.length`. ``joint``: the joint to modify; ``releases``: its constraint
    directions to release, such as "force along y", in axes of the world, with the body that joins the loops to the
    rest of the mechanism in its reference orientation.
    """

    joints: tuple[str, ...]
    size: float
    joint: str
    releases: tuple[str, ...]

    def __str__(self) -> str:
        return printable(
            f"The constraints of the loop of {names_text(self.joints)} are redundant only to {self.size:.1e} (rad, or"
            f" lengths over part size): it will lock. Release the constraint {' and the '.join(self.releases)} of joint"
            f" '{self.joint}', correct the axes and points of the loop, or, if it was imported, load it with {REPAIR}"
        )


def misfits_at(structure: Structure, compiled: Compiled, state: State) -> list[Misfit]:
    """Return the misfits of all loops at a state with closed joints; uses dense matrices of each cluster of loops."""
    return [m for cluster in clusters_at(structure, compiled, state) for m in misfits_in(structure, cluster)]


def quick_misfits(structure: Structure, compiled: Compiled, state: State) -> list[Misfit]:
    """Return `misfits_at`; [] without loops, above `MOST_ROWS` rows, or at positions beyond `LARGEST_MOTION`."""
    if not compiled.topology.clusters or compiled.plan.rows.role.size > MOST_ROWS:
        return []
    within = (np.abs(state.position) <= LARGEST_MOTION).all()
    return misfits_at(structure, compiled, state) if within else []


def misfits_in(structure: Structure, cluster: NumberedCluster) -> Iterator[Misfit]:
    """Yield the misfits of a cluster, one for each joint to release; nothing if a joint has a compliance."""
    loops, numbers, _ = cluster
    if any(structure.joints[number].compliant for number in numbers):
        return
    x, R = loops.closed(loops.x, loops.R) or (loops.x, loops.R)
    at = loops.look(x, R)
    if not at.left.shape[1] or not len(at.motions):
        return
    # combinations of the redundancies; their sizes: norms of N^T G / |G| and the forms together
    forms = loops.forms(np.random.default_rng(0), at, x, R)
    combined, sizes, _ = np.linalg.svd(np.concatenate([at.left.T @ at.G / np.linalg.norm(at.G, 2), *forms], axis=1))
    inexact = (sizes > ROUND_OFF) & (sizes <= SECOND_ORDER)
    redundancies = (at.left @ combined[:, : len(sizes)])[:, inexact]
    joint_of = np.array([j for j, _ in loops.rows])
    chosen: dict[int, list[tuple[np.ndarray, float]]] = {}  # by joint: redundancies and sizes of their misfits
    for redundancy, size in zip(redundancies.T, sizes[inexact], strict=True):
        shares = np.array([np.linalg.norm(redundancy[joint_of == j]) for j in range(len(numbers))])
        chosen.setdefault(_joint_to_release(structure, cluster, shares), []).append((redundancy, float(size)))
    for j, released in chosen.items():
        members = np.unique(joint_of[np.any([np.abs(n) > SMALLEST_SHARE for n, _ in released], axis=0)])
        releases = dict.fromkeys(text for n, _ in released for text in _directions(cluster, at.G, R, j, n))
        yield Misfit(
            tuple(structure.joints[number].name for number in sorted(numbers[k] for k in members)),
            max(size for _, size in released),
            structure.joints[numbers[j]].name,
            tuple(releases),
        )


def _joint_to_release(structure: Structure, cluster: NumberedCluster, shares: np.ndarray) -> int:
    """Return the number, in the cluster, of the joint to release; ``shares``: of each joint in the redundancy.

    Joints with a share in the redundancy come first; among these cut joints, then joints of at most three rows, then
    the largest share.
    """
    joints: Sequence[Joint] = [structure.joints[number] for number in cluster.joints]

    def rank(j: int) -> tuple[bool, bool, bool, float]:
        cut = cluster.joints[j] in cluster.cut
        return bool(shares[j] > SMALLEST_SHARE), cut, len(joints[j].forbidden) <= 3, float(shares[j])

    return max(range(len(joints)), key=rank)


def _directions(
    cluster: NumberedCluster, G: np.ndarray, R: np.ndarray, j: int, redundancy: np.ndarray
) -> Iterator[str]:
    """Yield the directions, in words, of the force and the torque of joint ``j`` in a ``redundancy`` of its cluster.

    ``G``: the scaled rows of the cluster (loop_clusters.py); ``R`` (nb, 3, 3): rotations of its bodies. Torques are
    divided by `Compiled.length`. Of force and torque, one below `SMALLEST_SHARE` of the other is omitted.
    """
    joint_rows = np.array([joint == j for joint, _ in cluster.loops.rows])
    rows, shares = G.reshape(len(G), -1, 6)[joint_rows], redundancy[joint_rows]
    body = int(np.argmax(np.abs(rows).max(axis=(0, 2))))  # one body for all rows; the joint's other body has -force
    force, torque = np.zeros(3), np.zeros(3)
    for row, share in zip(rows[:, body], shares, strict=True):
        if np.abs(row[:3]).max() > SMALLEST_SHARE * np.abs(row).max():
            force += share * row[:3]
        else:
            torque += share * R[body] @ row[3:]
    largest = max(np.linalg.norm(force), np.linalg.norm(torque))
    for kind, vector in (("force along", force), ("torque about", torque)):
        if np.linalg.norm(vector) > SMALLEST_SHARE * largest:
            yield f"{kind} {direction_words(vector, NEAR_AXIS_RELEASED)}"


def direction_words(vector: np.ndarray, near_axis: float = NEAR_AXIS) -> str:
    """Return a direction (3,), up to its sign, in words: "x", "y", "z", or its components to three decimals.

    The first component larger than ``near_axis`` is positive.
    """
    vector = vector / np.linalg.norm(vector)
    vector = vector * np.sign(vector[np.argmax(np.abs(vector) > near_axis)])
    if (np.abs(vector) > 1 - near_axis).any():
        return "xyz"[int(np.argmax(np.abs(vector)))]
    return "(" + ", ".join(f"{round(value, 3) + 0.0:g}" for value in vector) + ")"
