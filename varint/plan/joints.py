"""Joints: their sides, the rows that they and the efforts between bodies have, and products of exponentials."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from varint.mathematics.products.stages import WIDTH
from varint.measures.angle import Angle
from varint.measures.axis import Square
from varint.measures.base import Numbers
from varint.measures.point import Along
from varint.model.joints.base import Joint, OnMotions
from varint.model.product_joint import pose_matrix
from varint.model.product_table import table_of
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan.roles import Roles
from varint.plan.topology import Topology
from varint.step.plan import CONSTRAINT, EFFORT, JOINT


@dataclass(frozen=True, eq=False)
class JointFrame:
    """The joints of the kernel and the rows that they have.

    Attributes
    ----------
    joints : list of int
        Joint of the description of each, -1 for the base of a floating group; from the number of joints on the
        measures with a row that close loops.
    side, first_body, joint_rows : as in `Plan`
    rows : list of (int, str, Numbers)
        Role, kind and `Numbers` of each row; None for those of measures of forces.
    row_of : dict
        The row of each measure of a force that has one.
    hinge_of : dict
        The joint of each measure along whose effort a hinge is sprung, without a row.
    ends : list of (int, int)
        Bodies of each joint of the description.
    products : (n,) int
        Joints of the kernel that are products of exponentials: those with rows, and those without, of six
        coordinates, where a measure is one of these.
    """

    joints: list[int]
    side: np.ndarray
    first_body: np.ndarray
    joint_rows: np.ndarray
    rows: list
    row_of: dict[int, int]
    hinge_of: dict[int, int]
    ends: list[tuple[int, int]]
    products: np.ndarray


def joint_frame(structure: Structure, topology: Topology, roles: Roles, slot: np.ndarray) -> JointFrame:
    """Number the joints of the kernel and their rows; rows of measures come last in their joint."""
    nb, count = len(structure.bodies), len(structure.joints)
    number = {**structure.body_index, "world": -1}
    ends = [(number[joint.body_a], number[joint.body_b]) for joint in structure.joints]
    tree = [topology.tree_joint[body] for body in topology.bodies]
    cut = [j for nodes in topology.nodes for _, cuts in nodes for j in cuts]
    joints = [-1 if j is None else j for j in tree] + cut
    attached: dict[int, list[int]] = {}  # to the tree joint of a slot
    for k, body in topology.attached.items():
        attached.setdefault(int(slot[body]), []).append(roles.with_row[k])
    constrained = {m for sum_measures in roles.sums[len(set(roles.law_sum)) :] for m in sum_measures}
    R = rotation_matrix([body.quat_wxyz for body in structure.bodies])
    rows: list = []
    row_of: dict[int, int] = {}
    hinge_of: dict[int, int] = {}
    angles = {} if topology.nodes else _angles(roles)
    side, first_body, joint_rows = [], [], [0]
    for k, j in enumerate(joints):
        measures = attached.get(k, [])
        if j < 0:
            side.append((k, nb))
            first_body.append(0)
        else:
            pair = ends[j] if j < count else roles.ends[roles.with_row[j - count]]
            a, b = (int(slot[i]) for i in pair)
            child_is_b = k < nb and b == k
            side.append((b, a) if child_is_b else (a, b))
            first_body.append(1 if child_is_b else 0)
            if j < count:
                kinds = (row.kind for row in structure.joints[j].rigid)
                numbers = _own_numbers(structure.joints[j], structure, ends[j], R)
                rows.extend((JOINT, *each) for each in zip(kinds, numbers, strict=True))
                along = angles.get(frozenset(pair), [])
                if len(along) == 1 and set(measures) <= set(along) and _pair(rows[joint_rows[-1] :]) == (5, 3):
                    hinge_of[along[0]], measures = k, []
            else:
                measures = [roles.with_row[j - count], *measures]
        for m in measures:
            row_of[m] = len(rows)
            rows.append((CONSTRAINT if m in constrained else EFFORT, roles.measures[m].kind, None))
        joint_rows.append(len(rows))
    known = [structure.joints[j] if 0 <= j < count else None for j in joints]
    measured = {measure.of_product for measure in roles.measures}
    products = np.array(
        [k for k, j in enumerate(known) if j and (OnMotions() in j.forbidden or j.name in measured)], dtype=np.int64
    )
    arrays = np.reshape(side, (-1, 2)).astype(np.int64), np.array(first_body, dtype=np.int64), np.array(joint_rows)
    return JointFrame(joints, *arrays, rows, row_of, hinge_of, ends, products)


def _angles(roles: Roles) -> dict[frozenset, list[int]]:
    """Return the measures of efforts that are angles, by the two bodies, see `Roles.plain`."""
    angles: dict[frozenset, list[int]] = {}
    for m in roles.plain:
        if roles.measures[m].kind == Angle.kind:
            angles.setdefault(frozenset(roles.ends[m]), []).append(m)
    return angles


def _pair(rows: list) -> tuple[int, int]:
    """Return the number of the rows of a tree joint that is a lower pair, and of its POINT rows; else zeros."""
    joint_rows = [row for row in rows if row[0] == JOINT]
    kinds = [kind for _, kind, _ in joint_rows]
    count = kinds.count(Along.kind)
    anchors = {tuple(numbers.w) for _, kind, numbers in joint_rows if kind == Along.kind}
    lower = (
        len(joint_rows) >= 3
        and kinds == [Along.kind] * count + [Square.kind] * (len(joint_rows) - count)
        and len(anchors) <= 1
    )
    return (len(joint_rows), count) if lower else (0, 0)


def joint_frames(
    joint: Joint, structure: Structure, ends: tuple[int, int], R: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield axes (3, 3) and anchor (3,) of a joint on each of its bodies, in body axes."""
    return (
        (joint.frame, point)
        if end < 0
        else (R[end].T @ joint.frame, R[end].T @ (point - structure.bodies[end].position))
        for end, point in zip(ends, structure.anchors(joint), strict=True)
    )


def rigid_numbers(structure: Structure, joints: Iterable[int]) -> list[Numbers]:
    """Return the numbers of the rows that ``joints``, by number, have without a compliance; -1: no joint."""
    number = {**structure.body_index, "world": -1}
    R = rotation_matrix([body.quat_wxyz for body in structure.bodies])
    numbers: list[Numbers] = []
    for joint in (structure.joints[j] for j in joints if j >= 0):
        numbers.extend(_own_numbers(joint, structure, (number[joint.body_a], number[joint.body_b]), R))
    return numbers


def _own_numbers(joint: Joint, structure: Structure, ends: tuple[int, int], R: np.ndarray) -> Iterator[Numbers]:
    frames = [part for frame in joint_frames(joint, structure, ends, R) for part in frame]
    return (row.numbers(*frames) for row in joint.rigid)


def joint_arrays(frame: JointFrame) -> dict:
    """Return the sides and rows of the joints."""
    product = np.full(len(frame.joints), -1)
    product[frame.products] = np.arange(len(frame.products))
    return {"side": frame.side, "first_body": frame.first_body, "rows": frame.joint_rows, "product": product}


def pair_arrays(frame: JointFrame, nb: int) -> dict:
    """Return the tree joints, one for each of the ``nb`` bodies, eliminated as lower pairs (step/lower_pairs.py)."""
    pair, points = np.zeros((2, nb), dtype=np.int64)
    for k in range(nb):
        pair[k], points[k] = _pair(frame.rows[slice(*frame.joint_rows[k : k + 2])])
    return {"pair": pair, "points": points, "sprung": np.isin(np.arange(nb), list(frame.hinge_of.values()))}


def push_scales(side: np.ndarray, joint_rows: np.ndarray, body_scale: np.ndarray, angular: np.ndarray) -> np.ndarray:
    """Return factors (nr,) from the impulse along a row to m/s of the lighter body; ``body_scale`` (nb, 2).

    ``side``, ``joint_rows``: as in a `JointFrame`.
    """
    known = np.vstack([body_scale, np.zeros(2)])  # the world is never pushed
    sides = np.repeat(side, np.diff(joint_rows), axis=0)
    return known[sides, angular.astype(int)[:, None]].max(axis=1, initial=0.0)


def rows_eliminated(frame: JointFrame, pair: np.ndarray) -> np.ndarray:
    """Return the rows outside lower pairs, from the numbers (nb,) of rows of each tree joint."""
    left = np.ones(frame.joint_rows[-1], dtype=bool)
    for count, first in zip(pair.tolist(), frame.joint_rows.tolist(), strict=False):
        left[first : first + count] = False
    return np.flatnonzero(left)


def product_arrays(structure: Structure, frame: JointFrame) -> dict:
    """Return the joints with the rows of products of exponentials."""
    R = rotation_matrix([body.quat_wxyz for body in structure.bodies])
    tables, start = [np.zeros((0, WIDTH))], []
    for k in frame.products:
        joint = structure.joints[frame.joints[k]]
        start.append(sum(map(len, tables)))
        frame_a, frame_b = (
            pose_matrix(*part) for part in joint_frames(joint, structure, frame.ends[frame.joints[k]], R)
        )
        tables.append(table_of(joint.allowed, frame_a, frame_b, start[-1]))
    side = frame.first_body[frame.products]
    pairs = frame.side[frame.products]
    bodies = np.stack([np.take_along_axis(pairs, s[:, None], 1)[:, 0] for s in (side, 1 - side)], axis=1)
    return {
        "table": np.concatenate(tables),
        "start": np.array(start, dtype=np.int64),
        "body": bodies,
        "side": side,
        "row": frame.joint_rows[frame.products],
    }
