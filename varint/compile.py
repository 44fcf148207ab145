"""From a description and its topology to the arrays of a `Plan`: the only module that knows both."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import PchipInterpolator

from varint.kernels import plan as kinds
from varint.kernels.plan import AXIS, DISTANCE, EFFORT, HELD, KNOWN, ON_MOTIONS, POINT, Plan
from varint.kernels.products import WIDTH
from varint.model.body import WORLD
from varint.model.checks import freeze
from varint.model.joints.base import Along, Distance, OnMotions, Square
from varint.model.product import pose_matrix
from varint.model.rotation import rotation_matrix
from varint.model.structure import Structure
from varint.products import table_of
from varint.topology import Topology, find_topology

GAUGES = ("length", "slide", "turn", "frame", "dead", "follower", "speed", "spin", "slip")  # in the order of plan.py


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
    force : (nf,) int
        Force of the description for each law of the kernel.
    """

    plan: Plan
    topology: Topology
    order: np.ndarray
    slot: np.ndarray
    joints: np.ndarray
    length: float
    force: np.ndarray

    def by_force(self, values) -> np.ndarray:
        """Sums (T, forces) of values (T, nf) over the laws of each force."""
        total = np.zeros((int(self.force.max(initial=-1)) + 1, len(values)))
        np.add.at(total, self.force, values.T)
        return total.T


def compile_structure(structure: Structure, clustered: bool = True, forced: bool = False, held=()) -> Compiled:
    """Compile ``structure``.

    Parameters
    ----------
    clustered : bool
        One dense node for each cluster of loops; if False, one for all loops (VI section 4.3).
    forced : bool
        With the elements of all forces, as stepping needs them.
    held : sequence of Force
        If not, with these, which are constraints.
    """
    bodies, joints = structure.bodies, structure.joints
    nb = len(bodies)
    number = {**structure.body_index, WORLD: -1}
    ends = [(number[joint.body_a], number[joint.body_b]) for joint in joints]
    row_counts = [len(joint.forbidden) for joint in joints]
    gauges, laws, constraints = _grouped(structure, structure.forces if forced else held)
    coupled = [(number[gauge.body_a], number[gauge.body_b]) for gauge in gauges]
    chained = {e for e, group in enumerate(laws) if not group}
    stops = [(e, stop) for e, group in enumerate(laws) for _, element in group for stop in element.stops]
    needed = chained | {e - 1 for e in chained} | {e for e, _ in stops} | constraints  # a row, even against the world
    springs = [e for e, pair in enumerate(coupled) if -1 not in pair or e in needed]
    follows = {k for k, e in enumerate(springs) if e in chained}
    topology = find_topology(ends, row_counts, nb, clustered, [coupled[e] for e in springs], follows)

    order = np.array(topology.bodies)
    slot = np.empty(nb + 1, dtype=np.int64)
    slot[order], slot[-1] = np.arange(nb), nb
    tree = [topology.tree_joint[body] for body in topology.bodies]
    cut = [j for nodes in topology.nodes for _, cuts in nodes for j in cuts]
    kernel_joints = [-1 if j is None else j for j in tree] + cut

    mass = np.array([bodies[i].mass for i in order])
    inertia = np.array([bodies[i].inertia for i in order])
    gyration = np.sqrt(np.trace(inertia, axis1=1, axis2=2) / (2 * mass))
    hung: dict[int, list] = {int(slot[body]): [] for body in topology.attached.values()}
    for k, body in topology.attached.items():
        hung[int(slot[body])].append(springs[k])
    ends += [coupled[e] for e in springs]
    joint_arrays = _joint_arrays(structure, kernel_joints, ends, slot, hung, springs, constraints)
    side, first_body, joint_rows, (kind, u, w, c) = joint_arrays
    gauge_joint = {e: k for k, numbers in hung.items() for e in numbers}
    gauge_joint |= {springs[j - len(joints)]: k for k, j in enumerate(kernel_joints) if j >= len(joints)}
    kernel_joints = [j if j < len(joints) else -1 for j in kernel_joints]
    length = float(max(_longest_arm(structure), gyration.max()))

    arrays = _frozen(
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
        row_compliance=(kind == EFFORT).astype(float),
        length=np.array([length]),
        **_product_arrays(structure, kernel_joints, ends, joint_rows),
        stop_gauge=np.array([e for e, _ in stops], dtype=np.int64),
        stop_limit=np.array([stop.limit for _, stop in stops], dtype=float),
        stop_sign=np.array([stop.sign for _, stop in stops], dtype=float),
        stop_restitution=np.array([stop.restitution for _, stop in stops], dtype=float),
        **_gauge_arrays(structure, gauges, laws, coupled, slot, gauge_joint, hung, side, joint_rows, kind, length),
        **_cluster_arrays(topology, slot, joint_rows, side, nb),
    )
    force = np.array([k for group in laws for k, _ in group], dtype=np.int64)
    return Compiled(Plan(**arrays), topology, order, slot[:nb], np.array(kernel_joints), length, force)


def _frozen(**arrays):
    return {name: freeze(np.ascontiguousarray(array)) for name, array in arrays.items()}


def _joint_arrays(structure, kernel_joints, ends, slot, hung, springs, held):
    """Sides, first bodies and row numbers of the kernel's joints, and the columns of their rows.

    ``hung``: gauges that have their row in a tree joint, by its number. ``ends``: of the joints, then of the gauges
    ``springs``.
    """
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
            if j < len(structure.joints):
                rows.extend(_joint_rows(structure.joints[j], structure, ends[j], R))
        closing = [springs[j - len(structure.joints)]] if j >= len(structure.joints) else []
        for e in [*closing, *hung.get(k, ())]:
            rows.append((HELD if e in held else EFFORT, np.zeros(3), np.zeros(3), 0.0))
        joint_rows.append(len(rows))
    kind, u, w, c = zip(*rows, strict=True) if rows else [()] * 4
    columns = np.array(kind, dtype=np.int64), np.reshape(u, (-1, 3)), np.reshape(w, (-1, 3)), np.array(c, dtype=float)
    return np.array(side), np.array(first_body), np.array(joint_rows), columns


def _frames(joint, structure, ends, R):
    """Axes (3, 3) and anchor (3,) of a joint on each of its bodies, in body axes."""
    return (
        (joint.frame, point)
        if end < 0
        else (R[end].T @ joint.frame, R[end].T @ (point - structure.bodies[end].position))
        for end, point in zip(ends, structure.anchors(joint), strict=True)
    )


def _joint_rows(joint, structure, ends, R):
    """Rows (kind, u, w, c) of a joint, in body axes (kernels/rows.py)."""
    (frame_a, anchor_a), (frame_b, anchor_b) = _frames(joint, structure, ends, R)
    for row in joint.forbidden:
        if isinstance(row, Along):
            u = frame_a[:, row.axis]
            yield POINT, u, anchor_b, u @ anchor_a
        elif isinstance(row, Square):
            yield AXIS, frame_a[:, row.axis_a], frame_b[:, row.axis_b], 0.0
        elif isinstance(row, Distance):
            yield DISTANCE, anchor_a, anchor_b, row.length
        elif isinstance(row, OnMotions):
            yield ON_MOTIONS, np.zeros(3), np.zeros(3), 0.0
        else:
            raise TypeError(f"{joint.label}: unknown kind of row {row!r}")


def _product_arrays(structure, kernel_joints, ends, joint_rows):
    """Joints whose rows are that they keep to their motions."""
    R = rotation_matrix([body.quat_wxyz for body in structure.bodies])
    tables, first, known = [np.zeros((0, WIDTH))], np.full(len(kernel_joints), -1), np.zeros(len(kernel_joints), int)
    for k, j in enumerate(kernel_joints):
        if j < 0 or OnMotions() not in structure.joints[j].forbidden:
            continue
        joint = structure.joints[j]
        first[k], known[k] = sum(map(len, tables)), joint_rows[-1] + KNOWN * (len(tables) - 1)
        frames = (pose_matrix(*frame) for frame in _frames(joint, structure, ends[j], R))
        tables.append(table_of(joint.allowed, *frames, first[k]))
    table = freeze(np.concatenate(tables))
    return {
        "product": table,
        "product_joint": np.flatnonzero(first >= 0),
        "joint_product": first,
        "joint_known": known,
    }


def _grouped(structure, forces):
    """The gauges of the forces, and the laws along each: (force number, Element). Those added to one follow it.

    Then the set of gauges of constraints, which share them with nothing.
    """
    gauges, laws, known, held = [], [], {}, set()
    for k, force in enumerate(structure.forces):
        for element in force.elements(structure) if force in forces else ():
            parts = (element.gauge, *element.added)
            key = tuple((part.kind, part.body_a, part.body_b, tuple(np.ravel(part.vectors))) for part in parts)
            if key not in known or force.held:
                place = len(gauges)
                if force.held:
                    held.update(range(place, place + len(parts)))
                else:
                    known[key] = place
                gauges.extend(parts)
                laws.extend([] for _ in parts)
            else:
                place = known[key]
            laws[place].append((k, element))
    return gauges, laws, held


def _gauge_arrays(structure, gauges, laws, coupled, slot, gauge_joint, hung, side, joint_rows, kind, length):
    """Gauges and laws of the forces; ``gauge_joint``: the kernel's joint in which a gauge has its row."""
    ng, nb = len(gauges), len(structure.bodies)
    R = np.concatenate([rotation_matrix([body.quat_wxyz for body in structure.bodies]), np.eye(3)[None]])
    x = np.array([*(body.position for body in structure.bodies), np.zeros(3)])
    bodies = slot[np.reshape(coupled, (-1, 2)).astype(int)]
    row, flip = np.full(ng, -1), np.zeros(ng, dtype=np.int64)
    vectors, forced = np.zeros((ng, 7, 3)), np.zeros(nb + 1, dtype=bool)
    forced[bodies] = True
    for e, gauge in enumerate(gauges):
        a, b = coupled[e]
        own = _gauge_vectors(gauge, R[a], x[a], R[b], x[b])
        vectors[e, : len(own)] = own
        if e in gauge_joint:
            k = gauge_joint[e]
            row[e] = joint_rows[k + 1] - (len(hung[k]) - hung[k].index(e) if k in hung else 1)
            flip[e] = int(side[k, 0] != bodies[e, 0])
    elements = [element for group in laws for _, element in group]
    number = {id(element): f for f, element in enumerate(elements)}
    parameters, pieces = np.zeros((len(elements), 4)), [np.zeros((0, 6))]
    for f, element in enumerate(elements):
        own = element.parameters
        if element.table is not None:
            piece = _table(*element.table)
            own = (sum(map(len, pieces)), len(piece), *own)
            pieces.append(piece)
        elif element.normal is not None:
            own = (*own, number[id(element.normal)])
        parameters[f, : len(own)] = own
    row_chain, row_gauge = np.zeros(joint_rows[-1], dtype=np.int64), np.full(joint_rows[-1], -1)
    row_gauge[row[row >= 0]] = np.flatnonzero(row >= 0)
    row_scale = np.where(kind == AXIS, length, 1.0)
    weight, held = np.ones(ng), []
    for e, after in pairwise([*(e for e, group in enumerate(laws) if group), ng]):
        element = laws[e][0][1]
        if after - e > 1 and row[e] >= 0:
            row_chain[row[e]] = after - e
        if element.weights:
            weight[e:after] = element.weights
            units = [length if gauge.kind == "turn" else 1.0 for gauge in gauges[e:after]]
            row_scale[row[e:after]] = (units / np.abs(weight[e:after])).min()
            held.append((row[e], number[id(element)], element.driven))
    held_row, held_law, held_driven = np.reshape(held, (-1, 3)).astype(np.int64).T
    return {
        "row_scale": row_scale,
        "row_gauge": row_gauge,
        "held_row": held_row,
        "held_law": held_law,
        "held_driven": held_driven,
        "gauge_weight": weight,
        "row_chain": row_chain,
        "gauge_body": bodies,
        "gauge_row": row,
        "gauge_flip": flip,
        "forced": forced[:nb],
        "gauge_kind": np.array([GAUGES.index(gauge.kind) for gauge in gauges], dtype=np.int64),
        "gauge_vector": vectors,
        "gauge_law": np.cumsum([0, *map(len, laws)]),
        "law_kind": np.array([getattr(kinds, element.law) for element in elements], dtype=np.int64),
        "law_parameter": parameters,
        "table": np.concatenate(pieces),
    }


def _gauge_vectors(gauge, A, x_a, B, x_b):
    """`Plan.gauge_vector` of a gauge between bodies at these poses in the reference configuration."""
    given = [np.asarray(vector, dtype=float) for vector in gauge.vectors]
    match gauge.kind:
        case "length":
            return A.T @ (given[0] - x_a), B.T @ (given[1] - x_b)
        case "turn":
            return A.T @ given[0], A.T @ given[1], B.T @ given[2]
        case "slide" | "frame":
            along = A.T @ given[0], B.T @ (given[1] - x_b), (given[0] @ (given[2] - x_a), 0.0, 0.0)
            return along if gauge.kind == "slide" else (*along, A.T @ given[3], *(A.T @ B))
        case "dead":
            return given[0], given[1], B.T @ (given[2] - x_b)
        case "follower":
            return B.T @ given[0], B.T @ given[1], B.T @ (given[2] - x_b)
        case "slip":
            return given[0], B.T @ (given[1] - x_b)
    return np.zeros((0, 3))  # "speed", "spin"


def _table(values, efforts):
    """`Plan.table` of one law: monotone cubics between the points, straight on at both ends."""
    spline = PchipInterpolator(values, efforts)
    potential = -spline.antiderivative()(values)
    ends = [(values[k], efforts[k], spline.derivative()(values[k]), 0.0, 0.0, potential[k]) for k in (0, -1)]
    inner = np.column_stack([values[:-1], spline.c[::-1].T, potential[:-1]])
    return np.vstack([ends[:1], inner, ends[1:]])


def _longest_arm(structure):
    """Largest distance of a joint's anchor from the centre of mass of a body that it is on, m."""
    longest = 0.0
    for joint in structure.joints:
        if any(not isinstance(row, Square) for row in joint.forbidden):
            for end, point in zip((joint.body_a, joint.body_b), structure.anchors(joint), strict=True):
                if end != WORLD:  # which has no size
                    longest = max(longest, float(np.linalg.norm(point - structure.body(end).position)))
    return longest


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
