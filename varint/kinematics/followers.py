"""Joints that move where others are set: those in loops, in couplings, and between bodies that forces hold together.

All other joints are independent of each other: along the tree each holds its coordinates, whatever the others do.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from varint.kinematics.beam_strains import beam_pairs
from varint.kinematics.closure import Weld
from varint.kinematics.frames import JointFrames
from varint.model.forces.commanded import Commanded
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


def followers(
    structure: Structure, compiled: Compiled, named: Collection[str] | None = None, reached: Collection[int] = ()
) -> Followers:
    """Return the joints and bases that may follow the joints ``named``, of all joints by default.

    ``reached``: bodies with a prescribed pose or velocity, which their joints and bases follow.
    """
    topology = compiled.topology

    def chain(body: int) -> set[int]:
        bodies = set()
        while body >= 0:
            bodies.add(body)
            body = topology.parent[body]
        return bodies

    # bodies whose joints in the tree follow, cut joints
    parts: list[tuple[list[int], list[int]]] = [([], cut) for _, cut in topology.clusters]
    for body, cluster in topology.cluster_of.items():
        parts[cluster][0].append(body)
    connected = [*_connected(structure, compiled), *([(body, -1)] for body in reached)]
    parts += [([body for a, b in pairs for body in chain(a) ^ chain(b)], []) for pairs in connected]
    groups = _merged([{*bodies, *(-1 - joint for joint in cut)} for bodies, cut in parts])
    if named is not None:
        numbers = {structure.joint_index[name] for name in named}
        above = {body for body, number in topology.tree_joint.items() if number in numbers}
        moving = {*above, *(-1 - number for number in numbers), *reached}
        groups = [group for group in groups if not group.isdisjoint(moving)]

    of_tree = {body: number for body, number in topology.tree_joint.items() if number is not None}
    bodies = {body for group in groups for body in group if body >= 0}
    cuts = {-1 - member for group in groups for member in group if member < 0}
    still: set[int] = set()
    for body in topology.bodies:
        if body not in bodies and (topology.parent[body] < 0 or topology.parent[body] in still):
            still.add(body)
    return Followers(cuts | {of_tree[body] for body in bodies & of_tree.keys()}, bodies - of_tree.keys(), sorted(still))


def _merged(groups: list[set[int]]) -> list[set[int]]:
    """Return the unions of all groups that are connected by common members."""
    disjoint: list[set[int]] = []
    for group in groups:
        apart = [other for other in disjoint if other.isdisjoint(group)]
        disjoint = [*apart, group.union(*(other for other in disjoint if not other.isdisjoint(group)))]
    return disjoint


def _connected(structure: Structure, compiled: Compiled) -> list[list[tuple[int, int]]]:
    """Return the pairs of bodies, -1 for the world, that each constraint of a force and element of a beam connects."""
    plan, constraints = compiled.plan, compiled.plan.constraints
    ends = np.repeat(np.append(compiled.order, -1)[plan.joints.side], np.diff(plan.joints.rows), axis=0)
    connected = [[pair] for pair in sorted(beam_pairs(structure))]
    alone = plan.rows.role == CONSTRAINT
    for row, size, driven in zip(constraints.row, constraints.size, constraints.driven, strict=True):
        alone[row : row + size] = False
        if not driven:
            connected.append([(int(a), int(b)) for a, b in ends[row : row + size]])
    return connected + [[(int(a), int(b))] for a, b in ends[alone]]


def driven_joints(structure: Structure) -> dict[str, float]:
    """Return the joints of one coordinate that a prescribed motion moves, at the zero from which it counts."""
    moved = (force for force in structure.forces if isinstance(force, Commanded) and force.of_time)
    names = [name for force in moved for name in force.held_joints(structure)]
    return {name: 0.0 for name in names if structure.joint(name).dof == 1}


def held_joints(
    structure: Structure, following: Followers, named: Collection[str], x: np.ndarray, R: np.ndarray
) -> list[Weld]:
    """Return welds at a pose (nb + 1, ...) of joints that hold, not ``named`` and not between still bodies."""
    still = {-1, *following.still}
    welds = []
    for number, joint in enumerate(structure.joints):
        if number not in following.joints and joint.name not in named and joint.dof:
            frames = JointFrames(structure, joint)
            if not {frames.a, frames.b} <= still:
                welds.append(Weld(frames, *frames.relative_pose(x, R)))
    return welds


def with_start(
    structure: Structure,
    compiled: Compiled,
    coordinates: Mapping[str, ArrayLike],
    start: Mapping[str, ArrayLike] | None,
    bodies: Iterable[str],
) -> Mapping[str, ArrayLike]:
    """Return ``coordinates`` and the start values of joints that do not follow one of theirs, or one of ``bodies``."""
    left = {name: value for name, value in (start or {}).items() if name not in coordinates}
    known = [name for name in coordinates if name in structure.joint_index] if isinstance(coordinates, Mapping) else []
    if not left or not known:
        return coordinates
    reached = [structure.body_index[name] for name in bodies if name in structure.body_index]
    follow = followers(structure, compiled, known, reached).joints
    return {**{name: q for name, q in left.items() if structure.joint_index[name] not in follow}, **coordinates}
