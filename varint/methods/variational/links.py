"""The tree of a mechanism as links for collocation, and the dense nodes of its closures."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.compliant_links import coordinates_of, motions_of
from varint.methods.variational.massive_paths import movers_of
from varint.model.joints.base import Joint, X, Y, Z
from varint.model.motion import Ball, Motion, Shift, Slide, Turn
from varint.model.product_joint import Product
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix, vector_from_matrix
from varint.model.state import State
from varint.plan import Compiled
from varint.step.collocation.records import SCREW, SLIDE, TURN, WELD, ClosedLoops, LinkTree
from varint.step.plan import Plan

FLIGHT: tuple[Motion, ...] = (Slide(X), Slide(Y), Slide(Z), Ball())  # motions of a body that hangs from nothing


class JointSide(NamedTuple):
    """The frame of a joint on one of its bodies: ``axes`` (3, 3) and ``origin`` (3,), m, in axes of the body."""

    axes: np.ndarray
    origin: np.ndarray


class ChainLink(NamedTuple):
    """A link, see `LinkTree`; ``turned`` (3, 3): rotation at coordinate zero, in axes of the parent."""

    motion: int
    axis: np.ndarray
    anchor: np.ndarray
    lever: np.ndarray
    turned: np.ndarray
    coordinate: float
    pitch: float = 0.0


ROUND_OFF = 1e-12  # of a twist: pitches that are smaller are of a turn
AT_CENTRE = JointSide(np.eye(3), np.zeros(3))


def tree_joints(mechanism: Mechanism) -> list[tuple[int, Joint | None]]:
    """Return each body with the joint that carries it, None where it hangs from nothing, parents first."""
    topology = mechanism.apart.topology
    numbers = ((body, topology.tree_joint[body]) for body in topology.bodies)
    return [(body, None if number is None else mechanism.joints[number]) for body, number in numbers]


def check_links(mechanism: Mechanism, called: str) -> None:
    """Raise ArgumentError for the first compliant joint of the tree that keeps rigid rows of its own.

    ``called``: the method, for the message.
    """
    for _, joint in tree_joints(mechanism):
        if joint is not None and joint.compliant and motions_of(joint) is None:
            raise ArgumentError(
                f"{called} moves bodies by turns and slides one by one, which the rigid rows of compliant joint"
                f" '{joint.name}' do not leave: give all its rows of angles a compliance, or use varint.Variational"
            )


def is_tree_of_hinges(mechanism: Mechanism) -> bool:
    """Return whether all joints are hinges, one for each body, by which it hangs from its parent."""
    hinges = all(joint.allowed == (Turn(Z),) and not joint.compliant for joint in mechanism.joints)
    return hinges and len(mechanism.joints) == len(mechanism.bodies) and bool(mechanism.compiled.plan.joints.pair.all())


def link_tree(mechanism: Mechanism, state: State) -> tuple[LinkTree, np.ndarray, np.ndarray]:
    """Return the links, their rotations at coordinate zero, and their coordinates at a state.

    Rotations (nl, 3, 3) are in axes of the parent, coordinates (nl,) rad or m.
    A ball is three turns, all zero in ``state``.
    """
    compiled, plan = mechanism.apart, mechanism.apart.plan
    nb = len(mechanism.bodies)
    x = np.concatenate([state.position, np.zeros((1, 3))])
    R = np.concatenate([rotation_matrix(state.quat_wxyz), np.eye(3)[None]])
    links: list[ChainLink] = []
    parents: list[int] = []
    slots: list[int] = []
    last_of, balls = {-1: -1}, []  # last link of a body
    for body, joint in tree_joints(mechanism):
        if joint is None:
            last, motions, near, far = -1, FLIGHT, AT_CENTRE, AT_CENTRE
            q = np.concatenate([x[body], vector_from_matrix(R[body])])
        else:
            frames = JointFrames(mechanism, joint)
            ahead = frames.b == body
            free = motions_of(joint)
            assert free is not None  # see `check_links`
            motions, near, far = (
                free,
                JointSide(frames.axes_a, frames.origin_a),
                JointSide(frames.axes_b, frames.origin_b),
            )
            last = last_of[frames.a if ahead else frames.b]
            if joint.compliant:
                q = coordinates_of(motions, *frames.relative_pose(x, R))
            else:
                q = frames.measure(x, R) if joint.dof else np.zeros(0)
            if not ahead:
                (motions, q), near, far = _reversed(motions, q), far, near
        chain, first = _chain(motions, near, far, q)
        balls += [len(links) + number for number in first]
        for link in chain:
            parents.append(last)
            slots.append(-1)
            links.append(link)
            last = len(links) - 1
        slots[last] = int(compiled.slot[body])
        last_of[body] = last
    motion, axis, anchor, lever, turned, coordinate, pitch = (np.array(part) for part in zip(*links, strict=True))
    parent, slot = np.array(parents), np.array(slots)
    nl = len(links)
    carrying = np.flatnonzero(slot >= 0)  # links with a body
    link_of = np.zeros(nb, dtype=np.int64)
    link_of[slot[carrying]] = carrying
    body_of = slot[carrying[np.searchsorted(carrying, np.arange(nl))]]
    parent[parent < 0] = nl
    mass, moments = np.zeros(nl), np.zeros((nl, 3, 3))
    J = plan.bodies.inertia
    mass[link_of] = plan.bodies.mass
    moments[link_of] = 0.5 * np.trace(J, axis1=1, axis2=2)[:, None, None] * np.eye(3) - J
    arrays = LinkTree(
        parent=parent,
        motion=motion,
        axis=axis,
        pitch=pitch,
        anchor=anchor,
        lever=lever,
        unit=np.where(motion == SLIDE, compiled.length, 1.0),
        mass=mass,
        moments=moments,
        gravity=plan.bodies.gravity.copy(),
        link=link_of,
        body=body_of,
        ball=np.array(balls, dtype=np.int64),
        along=_links_of_sums(plan, body_of, motion),
        **movers_of(plan, link_of, parent, motion),
    )
    return arrays, turned, coordinate


def _reversed(motions: tuple[Motion, ...], q: np.ndarray) -> tuple[tuple[Motion, ...], np.ndarray]:
    """Return the motions of frame a seen from frame b, and their coordinates."""
    start, parts = 0, []
    for motion in motions:
        parts.append(-q[start : start + motion.size])
        start += motion.size
    back = (replace(motion, length=-motion.length) if isinstance(motion, Shift) else motion for motion in motions[::-1])
    return tuple(back), np.concatenate([np.zeros(0), *parts[::-1]])


def _chain(
    motions: tuple[Motion, ...], near: JointSide, far: JointSide, q: np.ndarray
) -> tuple[list[ChainLink], list[int]]:
    """Return the links of a joint from its parent on, and the numbers of the first links of balls.

    ``near``, ``far``: the joint on the parent, whose anchor is from its centre, and on the body. ``q``: coordinates.
    """
    P, d = near  # rotation and place of the next motion
    links: list[ChainLink] = []
    balls, start, none = [], 0, np.zeros(3)
    for motion in motions:
        value = q[start : start + motion.size]
        start += motion.size
        if isinstance(motion, Shift):
            d = d + P @ (motion.length * np.eye(3)[motion.axis])
            continue
        if isinstance(motion, Ball):
            balls.append(len(links))
            links.append(ChainLink(TURN, np.eye(3)[X], d, none, P @ matrix_from_vector(value), 0.0))
            links += [ChainLink(TURN, np.eye(3)[axis], none, none, np.eye(3), 0.0) for axis in (Y, Z)]
        elif isinstance(motion, Product):
            link, point = _along_screw(motion.screw[0, 0, 0], float(value[0]))
            links.append(link._replace(anchor=d + P @ point, turned=P))
            P, d = np.eye(3), -point
            continue
        else:
            assert isinstance(motion, Turn | Slide)
            kind = SLIDE if isinstance(motion, Slide) else TURN
            links.append(ChainLink(kind, np.eye(3)[motion.axis], d, none, P, float(value[0])))
        P, d = np.eye(3), none
    if not links:
        links, P, d = [ChainLink(WELD, np.eye(3)[Z], d, none, P, 0.0)], np.eye(3), none
    end, C = links[-1], P @ far.axes.T  # C: rotation of the body in the last link
    links[-1] = end._replace(axis=C.T @ end.axis, lever=far.origin - C.T @ d, turned=end.turned @ C)
    return links, balls


def _along_screw(screw: np.ndarray, value: float) -> tuple[ChainLink, np.ndarray]:
    """Return the link of a constant screw (6,), (angular, linear), and a point (3,), m, of its axis."""
    w, v, none = screw[:3], screw[3:], np.zeros(3)
    turning, sliding = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if turning == 0.0:
        return ChainLink(SLIDE, v / sliding, none, none, np.eye(3), sliding * value), none
    axis, pitch = w / turning, float(w @ v) / turning**2
    point = np.cross(w, v) / turning**2
    kind = SCREW if abs(pitch) * turning > ROUND_OFF * sliding else TURN
    return ChainLink(kind, axis, none, none, np.eye(3), turning * value, pitch if kind == SCREW else 0.0), point


def _links_of_sums(plan: Plan, body: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return, for each sum of measures (ns,), the one link whose coordinate it depends on, -1 where there are more.

    Also where the measure has a row that closes a loop, which takes the law.
    """
    first, bodies, nb = plan.laws.sum_first, plan.measures.body, len(plan.bodies.mass)
    along = np.full(len(first) - 1, -1)
    for s in np.flatnonzero(np.diff(first) == 1):
        if plan.measures.row[first[s]] >= plan.loops.node_row[0]:
            continue
        pair = bodies[first[s]]
        for i in pair[pair < nb].tolist():
            links = np.flatnonzero(body == i)
            if plan.joints.parent[i] == pair.sum() - i and len(links) == 1 and motion[links[0]] != WELD:
                along[s] = links[0]
    return along


def _rows_of_contacts(compiled: Compiled) -> dict[str, np.ndarray]:
    """Return the arrays of `ClosedLoops` with the rows of closed contacts; contacts of shapes share places."""
    contacts, planes, keys = compiled.plan.contacts, len(compiled.contact_rows), compiled.place_of
    each = np.stack([contacts.element, contacts.body, contacts.other], axis=1)[planes:]
    of_slot = (each[:, None] == keys).all(axis=2)
    first = of_slot.argmax(axis=1) if of_slot.size else np.zeros(len(each), dtype=np.int64)
    both = np.concatenate([compiled.contact_rows, compiled.pair_rows])
    return {
        "contact": both,
        "first_place": planes + first,
        "end_place": planes + first + of_slot.sum(axis=1),
        "across": np.sort(both[:, 1:][both[:, 1:] >= 0]),
        "rubs": np.flatnonzero(contacts.friction > 0.0) if both.size else np.zeros(0, dtype=np.int64),
    }


def closures_of(compiled: Compiled, tree: LinkTree, q: int) -> tuple[ClosedLoops, dict[str, int]]:
    """Return the dense nodes of closures with ``q`` rows for each row of the plan, and sizes of their arrays."""
    plan = compiled.plan
    loops, first, end = plan.loops, int(plan.loops.node_row[0]), int(plan.loops.node_row[-1])
    width = np.repeat(loops.node_high - loops.node_low, np.diff(loops.node_row))
    low = np.repeat(loops.node_low, np.diff(loops.node_row))
    begin = q * q * (loops.row_start[first:end] + low)
    rows = begin[:, None] + np.arange(q) * (q * width)[:, None] - (q * (low - first))[:, None]
    fills = np.diff(loops.fill_first) - (loops.fill_pass - loops.fill_first[:-1])
    closures = ClosedLoops(
        rows=np.array([first, end]),
        rated=plan.constraints.rate.copy(),
        **_rows_of_contacts(compiled),
        node=q * (loops.node_row - first),
        low=q * (loops.node_low - first),
        high=q * (loops.node_high - first),
        start=rows.reshape(-1).astype(np.int64),
        pair=np.cumsum([0, *fills[tree.body]]),
    )
    sizes = {"closed": q * (end - first), "rows": end, "fills": len(loops.fill_row), "dense": len(loops.node_low)}
    sizes |= {"pairs": int(closures.pair[-1]), "entries": q * q * int(loops.row_start[end])}
    return closures, sizes
