"""From a description and its topology to the arrays of a `Plan`: the only module that knows both."""

from dataclasses import dataclass

import numpy as np

from varint.kernels.plan import AXIS, DISTANCE, POINT, Plan
from varint.model.body import WORLD
from varint.model.checks import freeze
from varint.model.joints.base import Along, Distance, Square
from varint.model.rotation import rotation_matrix
from varint.model.structure import Structure
from varint.topology import Topology, find_topology


@dataclass(frozen=True, eq=False)
class Compiled:
    """A plan and the way back to names.

    Attributes
    ----------
    plan : Plan
    topology : Topology
    order : (nb,) int
        Body of the description in each slot of the kernel.
    slot : (nb,) int
        The inverse.
    joints : (nj,) int
        Joint of the description for each joint of the kernel, -1 for the base of a floating group.
    length : float
        Size of the mechanism's parts, m.
    """

    plan: Plan
    topology: Topology
    order: np.ndarray
    slot: np.ndarray
    joints: np.ndarray
    length: float


def compile_structure(structure: Structure, clustered: bool = True) -> Compiled:
    """Compile ``structure``.

    Parameters
    ----------
    clustered : bool
        One dense node for each cluster of loops; if False, one for all loops (VI section 4.3).
    """
    bodies, joints = structure.bodies, structure.joints
    nb = len(bodies)
    number = {**structure.body_index, WORLD: -1}
    ends = [(number[joint.body_a], number[joint.body_b]) for joint in joints]
    row_counts = [len(joint.forbidden) for joint in joints]
    topology = find_topology(ends, row_counts, nb, clustered)

    order = np.array(topology.bodies)
    slot = np.empty(nb + 1, dtype=np.int64)
    slot[order], slot[-1] = np.arange(nb), nb
    tree = [topology.tree_joint[body] for body in topology.bodies]
    cut = [j for nodes in topology.nodes for _, cuts in nodes for j in cuts]
    kernel_joints = [-1 if j is None else j for j in tree] + cut

    mass = np.array([bodies[i].mass for i in order])
    inertia = np.array([bodies[i].inertia for i in order])
    gyration = np.sqrt(np.trace(inertia, axis1=1, axis2=2) / (2 * mass))
    side, first_body, joint_rows, (kind, u, w, c) = _joint_arrays(structure, kernel_joints, ends, slot)
    arms = np.linalg.norm(w[kind != AXIS], axis=1)
    length = float(max(arms.max(initial=0.0), gyration.max()))

    plan = Plan(
        mass=mass,
        inertia=inertia,
        gravity=structure.gravity,
        body_scale=np.column_stack([1 / mass, 1 / (mass * gyration)]),
        parent=np.array([slot[topology.parent[i]] for i in order]),
        side=side,
        first_body=first_body,
        joint_rows=joint_rows,
        row_kind=kind,
        row_u=u,
        row_w=w,
        row_c=c,
        row_scale=np.where(kind == AXIS, length, 1.0),
        **_cluster_arrays(topology, slot, joint_rows, side, nb),
    )
    plan = Plan(*(freeze(np.ascontiguousarray(array)) for array in plan))
    return Compiled(plan, topology, order, slot[:nb], np.array(kernel_joints), length)


def _joint_arrays(structure, kernel_joints, ends, slot):
    """Sides, first bodies and row numbers of the kernel's joints, and the columns of their rows."""
    nb = len(structure.bodies)
    R = np.concatenate([rotation_matrix([body.quat_wxyz for body in structure.bodies]), np.eye(3)[None]])
    rows, joint_rows, side, first_body = [], [0], [], []
    for k, j in enumerate(kernel_joints):
        if j < 0:  # the base of a floating group: no joint
            side.append((k, nb))
            first_body.append(0)
        else:
            a, b = (int(slot[i]) for i in ends[j])
            child_is_b = k < nb and b == k
            side.append((b, a) if child_is_b else (a, b))
            first_body.append(1 if child_is_b else 0)
            rows.extend(_joint_rows(structure.joints[j], structure, ends[j], R))
        joint_rows.append(len(rows))
    kind, u, w, c = zip(*rows, strict=True) if rows else [()] * 4
    columns = np.array(kind, dtype=np.int64), np.reshape(u, (-1, 3)), np.reshape(w, (-1, 3)), np.array(c, dtype=float)
    return np.array(side), np.array(first_body), np.array(joint_rows), columns


def _joint_rows(joint, structure, ends, R):
    """Rows (kind, u, w, c) of a joint, in body axes (kernels/rows.py)."""
    (frame_a, anchor_a), (frame_b, anchor_b) = (
        (joint.frame, point)
        if end < 0
        else (R[end].T @ joint.frame, R[end].T @ (point - structure.bodies[end].position))
        for end, point in zip(ends, anchors(joint, structure), strict=True)
    )
    for row in joint.forbidden:
        if isinstance(row, Along):
            u = frame_a[:, row.axis]
            yield POINT, u, anchor_b, u @ anchor_a
        elif isinstance(row, Square):
            yield AXIS, frame_a[:, row.axis_a], frame_b[:, row.axis_b], 0.0
        elif isinstance(row, Distance):
            yield DISTANCE, anchor_a, anchor_b, row.length
        else:
            raise TypeError(f"{joint.label}: unknown kind of row {row!r}")


def anchors(joint, structure):
    """World anchors (point, point_b) in the reference configuration, defaults filled in."""
    if joint.point is not None:
        return joint.point, joint.point_b
    point = structure.body(joint.body_b if joint.body_b != WORLD else joint.body_a).position
    return point, point


def _cluster_arrays(topology, slot, joint_rows, side, nb):
    """Dense closure nodes and their fills (kernels/plan.py)."""
    nr = int(joint_rows[-1])
    nodes = [node for cluster in topology.nodes for node in cluster]
    cluster_node = np.cumsum([0] + [len(cluster) for cluster in topology.nodes])
    joints_of = np.cumsum([nb] + [len(cuts) for _, cuts in nodes])
    node_row = joint_rows[joints_of]
    top = np.array([slot[body] for body, _ in nodes], dtype=np.int64)
    fill_cluster = np.full(nb, -1)
    for body, c in topology.cluster_of.items():
        fill_cluster[slot[body]] = c
    parent = [int(slot[topology.parent[i]]) for i in topology.bodies]

    # rows felt at each body: those that are eliminated just before it, then those that are passed on
    felt = [set() for _ in range(nb)]
    ends = [[] for _ in range(nb + 1)]
    for n, i in enumerate(top):
        ends[i].extend(range(node_row[n], node_row[n + 1]))
        for j in range(joints_of[n], joints_of[n + 1]):
            for body in side[j]:
                while body not in (i, nb):
                    felt[body].update(range(joint_rows[j], joint_rows[j + 1]))
                    body = parent[body]
    lists = [end + sorted(rows) for end, rows in zip(ends, felt, strict=False)]
    fill_first = np.cumsum([0] + [len(rows) for rows in lists])
    entry = [{row: fill_first[i] + k for k, row in enumerate(rows)} for i, rows in enumerate(lists)] + [{}]
    fill_up = [-1 if row in ends[i] else entry[parent[i]].get(row, -1) for i in range(nb) for row in lists[i]]
    row_fill = np.full((nr, 2), -1)
    for j in range(nb, len(side)):
        for k, body in enumerate(side[j]):
            for row in range(joint_rows[j], joint_rows[j + 1]):
                row_fill[row, k] = entry[body].get(row, -1)

    low, high = _envelope(felt, node_row)
    sizes = np.diff(node_row)
    width = np.repeat(high - low, sizes)
    row_start = np.full(nr + 1, -1)
    row_start[nr - width.size : nr] = np.cumsum(width) - width - np.repeat(low, sizes)
    row_start[nr] = width.sum()
    return {
        "cluster_node": cluster_node,
        "node_row": node_row,
        "node_low": low,
        "node_high": high,
        "node_fill": np.array([entry[i].get(row, -1) for i, row in zip(top, node_row, strict=False)], dtype=np.int64),
        "node_first": np.searchsorted(np.sort(top), np.arange(nb + 2)),
        "node_order": np.argsort(top, kind="stable"),
        "row_start": row_start,
        "fill_first": fill_first,
        "fill_pass": fill_first[:-1] + [len(end) for end in ends[:-1]],
        "fill_row": np.array([row for rows in lists for row in rows], dtype=np.int64),
        "fill_up": np.array(fill_up, dtype=np.int64),
        "fill_cluster": fill_cluster,
        "row_fill": row_fill,
    }


def _envelope(felt, node_row):
    """Columns low : high (nn,) of the closures' matrix that each node's rows are stored in, fill-in included."""
    high = node_row[1:].copy()
    for rows in filter(None, felt):
        near = np.unique(np.searchsorted(node_row, sorted(rows), side="right") - 1)
        high[near] = np.maximum(high[near], node_row[near[-1] + 1])
    high = np.maximum.accumulate(high)  # the elimination of a node couples all that are coupled with it
    return node_row[np.searchsorted(high, node_row[:-1], side="right")], high
