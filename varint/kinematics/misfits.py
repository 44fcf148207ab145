"""Loops whose constraints are redundant only within the digits of their description: they lock where exact ones move.

A planar loop of hinges moves because some of its rows are redundant, which asks for parallel axes. Where one axis
is off by 1e-7 rad, no pose but the reference one closes the loop to the round-off, and a run that closes
joints to that comes to a stop. Of exact loops the products N^T G and the second-order form N^T dG(xi) eta of the
redundancies N (loop_clusters.py) are of the size of the round-off; of singular poses, where motions really end,
they are of the size of one. A misfit lies between.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from varint.compile import Compiled
from varint.display import names_text
from varint.kinematics.loop_clusters import SECOND_ORDER, NumberedCluster, bodies_jacobian, clusters_at, placed
from varint.model.bounds import LARGEST_MOTION
from varint.model.import_report import REPAIR
from varint.model.joints.base import Joint
from varint.model.state import State
from varint.model.structure import Structure

ROUND_OFF = 1e-11  # rad, or sizes of the parts: below, a redundancy is exact
MOST_ROWS = 400  # of the mechanism, above which only `diagnose` looks, as it takes seconds
TAKES_PART = 1e-3  # smallest share that counts: of a row or joint in a redundancy, of a force beside a torque
SQUARE_ON = 1e-6  # 1 - cosine of the angle to a world axis by whose name a direction is called: 0.08 degrees
NEAR_WORLD = 1e-3  # the same of directions to release: 2.6 degrees


@dataclass(frozen=True)
class Misfit:
    """A loop of ``joints`` that locks as it moves, since it is redundant only within ``size``, rad or sizes of a part.

    ``joint``: the one to release, by the directions ``releases``, in words.
    """

    joints: tuple[str, ...]
    size: float
    joint: str
    releases: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"The loop of {names_text(self.joints)} moves only if its axes agree exactly, and they are"
            f" {self.size:.1e} off: it will lock. Release the {' and the '.join(self.releases)} of joint"
            f" '{self.joint}', make the axes exactly parallel, or load its file with {REPAIR}"
        )


def misfits_at(structure: Structure, compiled: Compiled, state: State) -> list[Misfit]:
    """The misfits of all loops, at a state whose joints are closed. Dense in each cluster of loops."""
    return [m for cluster in clusters_at(structure, compiled, state) for m in misfits_in(structure, cluster)]


def quick_misfits(structure: Structure, compiled: Compiled, state: State) -> list[Misfit]:
    """`misfits_at`, but none without loops, in a mechanism of many rows, and at positions beyond `LARGEST_MOTION`."""
    if not compiled.topology.clusters or compiled.plan.rows.role.size > MOST_ROWS:
        return []
    within = (np.abs(state.position) <= LARGEST_MOTION).all()
    return misfits_at(structure, compiled, state) if within else []


def misfits_in(structure: Structure, cluster: NumberedCluster) -> Iterator[Misfit]:
    """The misfits of a cluster: one for each joint to release; none where joints have a compliance."""
    loops, numbers, _ = cluster
    if any(structure.joints[number].compliant for number in numbers):
        return
    x, R = loops.closed(loops.x, loops.R) or (loops.x, loops.R)
    at = loops.look(x, R)
    if not at.left.shape[1] or not len(at.motions):
        return
    forms = loops.forms(np.random.default_rng(0), at, x, R)
    left, sizes, _ = np.linalg.svd(np.concatenate([at.left.T @ at.G / np.linalg.norm(at.G, 2), *forms], axis=1))
    off = (sizes > ROUND_OFF) & (sizes <= SECOND_ORDER)
    redundancies = (at.left @ left[:, : len(sizes)])[:, off]
    joint_of = np.array([j for j, _ in loops.rows])
    chosen: dict[int, list[tuple[np.ndarray, float]]] = {}
    for redundancy, size in zip(redundancies.T, sizes[off], strict=True):
        shares = np.array([np.linalg.norm(redundancy[joint_of == j]) for j in range(len(numbers))])
        chosen.setdefault(_released(structure, cluster, shares), []).append((redundancy, float(size)))
    for j, found in chosen.items():
        taking = np.unique(joint_of[np.any([np.abs(one) > TAKES_PART for one, _ in found], axis=0)])
        releases = dict.fromkeys(text for one, _ in found for text in _directions(cluster, x, R, j, one))
        yield Misfit(
            tuple(structure.joints[number].name for number in sorted(numbers[k] for k in taking)),
            max(size for _, size in found),
            structure.joints[numbers[j]].name,
            tuple(releases),
        )


def _released(structure: Structure, cluster: NumberedCluster, shares: np.ndarray) -> int:
    """Number in the cluster of the joint to release.

    Of those with a share in the redundancy: a cut one, then one of at most three rows, then that of the largest share.
    """
    joints: Sequence[Joint] = [structure.joints[number] for number in cluster.joints]

    def rank(j: int) -> tuple[bool, bool, bool, float]:
        cut = cluster.joints[j] in cluster.cut
        return bool(shares[j] > TAKES_PART), cut, len(joints[j].forbidden) <= 3, float(shares[j])

    return max(range(len(joints)), key=rank)


def _directions(
    cluster: NumberedCluster, x: np.ndarray, R: np.ndarray, j: int, redundancy: np.ndarray
) -> Iterator[str]:
    """The force and the torque of joint ``j`` of a cluster in a redundancy, by their directions in words, world."""
    compiled = cluster.loops.compiled
    rows = bodies_jacobian(compiled, placed(compiled, x, R).jacobian[0])
    own = rows[[joint == j for joint, _ in cluster.loops.rows]]
    body = int(np.argmax(np.abs(own).max(axis=(0, 2))))  # one for all rows: on the other one forces are opposite
    force, torque = np.zeros(3), np.zeros(3)
    for row, share, (joint, _) in zip(rows, redundancy, cluster.loops.rows, strict=True):
        if joint != j:
            continue
        if np.abs(row[body, :3]).max() > TAKES_PART * np.abs(row[body]).max():
            force += share * row[body, :3]
        else:
            torque += share * R[body] @ row[body, 3:] / compiled.length
    largest = max(np.linalg.norm(force), np.linalg.norm(torque))
    for what, vector in (("force along", force), ("torque about", torque)):
        if np.linalg.norm(vector) > TAKES_PART * largest:
            yield f"{what} {direction_words(vector, NEAR_WORLD)}"


def direction_words(vector: np.ndarray, square_on: float = SQUARE_ON) -> str:
    """A direction (3,), of either sense: x, y, z or its components."""
    vector = vector / np.linalg.norm(vector)
    vector = vector * np.sign(vector[np.argmax(np.abs(vector) > square_on)])
    if (np.abs(vector) > 1 - square_on).any():
        return "xyz"[int(np.argmax(np.abs(vector)))]
    return "(" + ", ".join(f"{round(value, 3) + 0.0:g}" for value in vector) + ")"
