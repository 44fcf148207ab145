"""The tree of a mechanism as links for collocation, and the dense nodes of its closures."""

import numpy as np

from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.recursions.tree_records import BALL, PRISMATIC, REVOLUTE
from varint.methods.reduced.recursions.tree_records import WELD as FIXED
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.joints.base import Z
from varint.model.motion import Turn
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix
from varint.model.state import State
from varint.step.collocation.records import SLIDE, TURN, WELD, Closures, LinkTree
from varint.step.plan import Plan

MOTIONS = {REVOLUTE: TURN, PRISMATIC: SLIDE, FIXED: WELD}


def check_links(mechanism: Mechanism, called: str) -> Tree:
    """Return the tree of a mechanism; raise ArgumentError for the first joint of other motions than turns and slides.

    ``called``: the method, for the message.
    """
    tree = find_tree(mechanism)
    for number, kind in enumerate(tree.nodes.motion):
        if kind in MOTIONS or kind == BALL:
            continue
        column = tree.nodes.column[number]
        joint = next(joint for joint in tree.joints if tree.columns[joint.name].stop > column)
        raise ArgumentError(
            f"{called} moves bodies by turns and slides, and joint '{joint.name}' is a {type(joint).__name__}, along a"
            " curve or screw: use varint.Variational"
        )
    return tree


def is_tree_of_hinges(mechanism: Mechanism) -> bool:
    """Return whether all joints are hinges, and each body hangs from the world by one."""
    hinges = all(joint.allowed == (Turn(Z),) for joint in mechanism.joints)
    return hinges and len(mechanism.joints) == len(mechanism.bodies) and bool(mechanism.compiled.plan.joints.pair.all())


def link_tree(mechanism: Mechanism, called: str, state: State) -> tuple[LinkTree, np.ndarray, np.ndarray]:
    """Return the links, their rotations at coordinate zero, and their coordinates at a state.

    Rotations (nl, 3, 3) are in axes of the parent, coordinates (nl,) rad or m.
    A ball is three turns, all zero in ``state``.
    """
    tree, compiled, plan = check_links(mechanism, called), mechanism.compiled, mechanism.compiled.plan
    nodes, nb = tree.nodes, len(mechanism.bodies)
    q = _coordinates(mechanism, tree, state)
    slot_of = {int(node): slot for slot, node in enumerate(nodes.body_node)}
    axes = [np.eye(3)] * len(nodes.parent) + [np.eye(3)]  # of a link, in axes of its node
    first = np.cumsum([0, *(3 if kind == BALL else 1 for kind in nodes.motion)])
    links: list[tuple] = []  # parent, motion, axis, anchor, lever, turned, coordinate, slot or -1
    balls = []
    for n, kind in enumerate(nodes.motion):
        slot, parent = slot_of.get(n, -1), int(nodes.parent[n])
        above = axes[parent].T
        if slot >= 0:
            axes[n] = nodes.body_axes[slot]
        C, start = axes[n], nodes.sign[n] * q[nodes.column[n] : nodes.column[n] + nodes.dof[n]]
        last = int(first[parent + 1] - 1) if parent < len(nodes.parent) else -1
        P, d, lever = above @ nodes.rest_axes[n], above @ nodes.offset[n], -C.T @ nodes.arm[n]
        if kind == BALL:
            balls.append(int(first[n]))
            links.append((last, TURN, np.eye(3)[0], d, np.zeros(3), P @ matrix_from_vector(start), 0.0, -1))
            links.append((int(first[n]), TURN, np.eye(3)[1], np.zeros(3), np.zeros(3), np.eye(3), 0.0, -1))
            links.append((int(first[n]) + 1, TURN, C.T[:, 2], np.zeros(3), lever, C, 0.0, slot))
        else:
            value = float(start[0]) if len(start) else 0.0
            links.append((last, MOTIONS[int(kind)], C.T[:, 2], d, lever, P @ C, value, slot))
    parents, motion, axis, anchor, lever, turned, coordinate, slots = (
        np.array(part) for part in zip(*links, strict=True)
    )
    nl = len(links)
    link = np.full(nb, -1)
    link[slots[slots >= 0]] = np.flatnonzero(slots >= 0)
    body = np.zeros(nl, dtype=np.int64)
    for number in range(nl - 1, -1, -1):
        body[number] = slots[number] if slots[number] >= 0 else body[number + 1]
    parents[parents < 0] = nl
    mass, moments = np.zeros(nl), np.zeros((nl, 3, 3))
    J = plan.bodies.inertia
    mass[link] = plan.bodies.mass
    moments[link] = 0.5 * np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J
    arrays = LinkTree(
        parent=parents,
        motion=motion,
        axis=axis,
        anchor=anchor,
        lever=lever,
        unit=np.where(motion == SLIDE, compiled.length, 1.0),
        mass=mass,
        moments=moments,
        gravity=plan.bodies.gravity.copy(),
        link=link,
        body=body,
        ball=np.array(balls, dtype=np.int64),
        along=_links_of_sums(plan, body, motion),
    )
    return arrays, turned, coordinate


def _coordinates(mechanism: Mechanism, tree: Tree, state: State) -> np.ndarray:
    """Return the coordinates (nq,) of the tree at a state."""
    x = np.concatenate([state.position, np.zeros((1, 3))])
    R = np.concatenate([rotation_matrix(state.quat_wxyz), np.eye(3)[None]])
    q = [JointFrames(mechanism, joint).measure(x, R) for joint in tree.joints if joint.dof]
    return np.concatenate([np.zeros(0), *q])


def _links_of_sums(plan: Plan, body: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return, for each sum of measures (ns,), the one link whose coordinate it depends on, -1 where there are more."""
    first, bodies, nb = plan.laws.sum_first, plan.measures.body, len(plan.bodies.mass)
    along = np.full(len(first) - 1, -1)
    for s in np.flatnonzero(np.diff(first) == 1):
        pair = bodies[first[s]]
        for i in pair[pair < nb].tolist():
            links = np.flatnonzero(body == i)
            if plan.joints.parent[i] == pair.sum() - i and len(links) == 1 and motion[links[0]] != WELD:
                along[s] = links[0]
    return along


def closures_of(plan: Plan, tree: LinkTree, q: int) -> tuple[Closures, dict[str, int]]:
    """Return the dense nodes of closures with ``q`` rows for each row of the plan, and sizes of their arrays."""
    loops, first, end = plan.loops, int(plan.loops.node_row[0]), int(plan.loops.node_row[-1])
    width = np.repeat(loops.node_high - loops.node_low, np.diff(loops.node_row))
    low = np.repeat(loops.node_low, np.diff(loops.node_row))
    begin = q * q * (loops.row_start[first:end] + low)
    rows = begin[:, None] + np.arange(q) * (q * width)[:, None] - (q * (low - first))[:, None]
    fills = np.diff(loops.fill_first) - (loops.fill_pass - loops.fill_first[:-1])
    closures = Closures(
        rows=np.array([first, end]),
        node=q * (loops.node_row - first),
        low=q * (loops.node_low - first),
        high=q * (loops.node_high - first),
        start=rows.reshape(-1).astype(np.int64),
        pair=np.cumsum([0, *fills[tree.body]]),
    )
    sizes = {"closed": q * (end - first), "rows": end, "fills": len(loops.fill_row), "dense": len(loops.node_low)}
    sizes |= {"pairs": int(closures.pair[-1]), "entries": q * q * int(loops.row_start[end])}
    return closures, sizes
