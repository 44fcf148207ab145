"""Joints that move where others are set: those in loops, in couplings, and between bodies that forces hold together.

All other joints are independent of each other: along the tree each holds its coordinates, whatever the others do.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varint.kinematics.beam_strains import beam_pairs
from varint.kinematics.closure import Weld
from varint.kinematics.frames import JointFrames
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.plan import CONSTRAINT


@dataclass(frozen=True)
class Followers:
    """Numbers of the ``joints`` that may follow, of the ``bases`` of floating groups that may, and of ``still`` bodies.

    No joint between the world and a still body follows.
    """

    joints: set[int]
    bases: set[int]
    still: list[int]


def followers(structure: Structure, compiled: Compiled, reached: Iterable[int] = ()) -> Followers:
    """Return the joints and bases that may follow; ``reached``: bodies with a prescribed pose or velocity."""
    topology = compiled.topology
    of_tree = {body: number for body, number in topology.tree_joint.items() if number is not None}
    joints = set(range(len(structure.joints))) - set(of_tree.values())
    joints |= {of_tree[body] for body in topology.cluster_of if body in of_tree}
    bases: set[int] = set()

    def chain(body: int) -> list[int]:
        bodies = []
        while body >= 0:
            bodies.append(body)
            body = topology.parent[body]
        return bodies

    for a, b in (*_pairs(structure, compiled), *((body, -1) for body in reached)):
        for body in set(chain(a)) ^ set(chain(b)):
            if body in of_tree:
                joints.add(of_tree[body])
            else:
                bases.add(body)
    still: set[int] = set()
    for body in topology.bodies:
        held = of_tree[body] not in joints if body in of_tree else body not in bases
        if held and (topology.parent[body] < 0 or topology.parent[body] in still):
            still.add(body)
    return Followers(joints, bases, sorted(still))


def _pairs(structure: Structure, compiled: Compiled) -> set[tuple[int, int]]:
    """Return the pairs of bodies, -1 for the world, that a constraint of a force or an element of a beam connects."""
    plan, nb = compiled.plan, len(structure.bodies)
    pairs = beam_pairs(structure)
    coupled = plan.rows.role == CONSTRAINT
    for row, size, driven in zip(plan.constraints.row, plan.constraints.size, plan.constraints.driven, strict=True):
        coupled[row : row + size] &= not driven
    slots = np.repeat(plan.joints.side, np.diff(plan.joints.rows), axis=0)[coupled]
    ends = np.append(compiled.order, nb)[slots]
    return pairs | {(int(a), int(b)) for a, b in np.where(ends == nb, -1, ends)}


def held_joints(structure: Structure, following: Followers, x: np.ndarray, R: np.ndarray) -> list[Weld]:
    """Return welds of the joints that hold at a pose (nb + 1, ...), but for joints between still bodies."""
    still = {-1, *following.still}
    welds = []
    for number, joint in enumerate(structure.joints):
        if number not in following.joints and joint.dof:
            frames = JointFrames(structure, joint)
            if not {frames.a, frames.b} <= still:
                welds.append(Weld(frames, *frames.relative_pose(x, R)))
    return welds
