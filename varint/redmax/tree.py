"""The spanning tree of a mechanism as a chain of elementary motions: what the recursions of redmax work on.

Each tree joint is taken apart into its motions (`Joint.allowed`), seen from the parent: one node a motion, the last
of them carrying the body, the others massless. S of a node is then constant but for a ball and products of screws, and
recursions need to know these, a turn and a slide only; S, S-dot and dS/dq of a whole joint come out of the chain.

A node's axes follow its motion. Its reference point is the centre of mass of the body, and the origin of the
motion where the node is massless. A turn or slide is along the third axis. With P, d, arm constant,

    F = F_parent P exp(motion),    x = x_parent + F_parent d + slide + F arm.

Where the parent is on body b of the joint, the motions come in reverse, each with its coordinate negated.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from varint.kernels.products import WIDTH
from varint.kinematics.frames import JointFrames
from varint.model.checks import freeze
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Shift, Slide, Turn
from varint.model.product import Product
from varint.products import table_of
from varint.redmax.charts import EXPONENTIAL, axes_of
from varint.redmax.kernels.kinematics import BALL, CURVE, SLIDE, SURFACE, TURN, WELD


class Nodes(NamedTuple):
    """nl nodes, a parent before its children; number nl is the world. nb bodies, in the order of the kernels."""

    parent: np.ndarray  # (nl,)
    kind: np.ndarray  # (nl,) WELD, TURN, SLIDE, BALL, CURVE, SURFACE
    sign: np.ndarray  # (nl,) 1, or -1 where the joint is seen from its body b
    column: np.ndarray  # (nl,) first of its coordinates in q
    turn: np.ndarray  # (nl, 3, 3) P: axes of the motion at rest, in axes of the parent
    offset: np.ndarray  # (nl, 3) d: origin of the motion from the parent's reference point, axes of the parent, m
    arm: np.ndarray  # (nl, 3) reference point from the origin of the motion, own axes, m
    stage: np.ndarray  # (nl,) row of a CURVE or SURFACE in ``product``
    mass: np.ndarray  # (nl,) kg
    inertia: np.ndarray  # (nl, 3, 3) kg m^2, own axes
    body_node: np.ndarray  # (nb,) node of each body
    body_axes: np.ndarray  # (nb, 3, 3) rotation of the body in its node's axes: R = F C
    product: np.ndarray  # (stages and pieces, WIDTH) see kernels/products.py


@dataclass(frozen=True)
class Tree:
    """The nodes of a mechanism, and the way back to names.

    Attributes
    ----------
    nodes : Nodes
    joints : tuple of Joint
        One a body, in the order of the kernels; a floating group hangs on a `Free` joint of its own.
    columns : dict
        Joint name to its slice of q.
    nq : int
        Number of coordinates.
    balls : (n,) int
        First columns of rotation vectors.
    charts : dict
        Chart of each joint with a free rotation, by its name; its three columns end those of the joint.
    """

    nodes: Nodes
    joints: tuple[Joint, ...]
    columns: dict[str, slice]
    nq: int
    balls: np.ndarray
    charts: dict[str, str]


def find_tree(mechanism, chart=EXPONENTIAL, charts=None) -> Tree:
    """The tree of ``mechanism``, of the same tree joints as its variational form has.

    ``chart``: of all free rotations, but for those in ``charts``, joint name to chart.
    """
    compiled = mechanism.compiled
    topology, slot = compiled.topology, compiled.slot
    rows: list[tuple] = []
    tables: list[np.ndarray] = [np.zeros((0, WIDTH))]
    joints: list[Joint] = []
    columns: dict[str, slice] = {}
    node_of = {-1: -1}
    axes_of = {-1: np.eye(3)}
    found: dict[str, str] = {}
    nq = 0
    for body in topology.bodies:
        number = topology.tree_joint[body]
        name = mechanism.bodies[body].name
        joint = REGISTRY["Free"](f"base of {name}", "world", name) if number is None else mechanism.joints[number]
        frames = JointFrames(mechanism, joint)
        parent = frames.a if frames.b == body else frames.b
        if joint.allowed[-1:] == (Ball(),) and joint.allowed.count(Ball()) == 1:
            found[joint.name] = (charts or {}).get(joint.name, chart)
        motions = _motions(joint, found.get(joint.name, EXPONENTIAL), nq)
        above = node_of[parent], axes_of[parent]
        axes_of[body], nodes = _joint_nodes(
            mechanism.bodies[body], frames, body, *above, motions, nq, len(rows), tables
        )
        rows.extend(nodes)
        node_of[body] = len(rows) - 1
        joints.append(joint)
        columns[joint.name] = slice(nq, nq + joint.dof)
        nq += joint.dof
    parent, kind, sign, column, turn, offset, arm, stage, mass, inertia = (
        np.array(field) for field in zip(*rows, strict=True)
    )
    parent[parent < 0] = len(rows)
    order = np.argsort(slot)
    nodes = Nodes(
        parent, kind, sign.astype(float), column, turn, offset, arm, stage, mass, inertia,
        np.array([node_of[i] for i in order]), np.array([axes_of[i] for i in order]),
        np.concatenate(tables),
    )  # fmt: skip
    nodes = Nodes(*(freeze(np.ascontiguousarray(array)) for array in nodes))
    return Tree(nodes, tuple(joints), columns, nq, column[kind == BALL], found)


def _joint_nodes(body, frames, number, parent, parent_axes, motions, column, first, tables):
    """Axes of the body in its node, and the nodes (the fields of `Nodes`) of its joint, numbered from ``first``.

    Products of screws are added to ``tables``.
    """
    ahead = frames.b == number
    sides = (frames.axes_a, frames.origin_a), (frames.axes_b, frames.origin_b)
    (near_axes, near), (far_axes, far) = sides if ahead else sides[::-1]
    sign = 1 if ahead else -1
    P, d = parent_axes @ near_axes, parent_axes @ near  # of the next motion, seen from the last node
    rows: list[list] = []

    def add(kind, turn, column, stage=-1):
        rows.append(
            [
                parent if not rows else first + len(rows) - 1,
                kind,
                sign,
                column,
                turn,
                d,
                np.zeros(3),
                stage,
                0.0,
                np.zeros((3, 3)),
            ]
        )

    for motion, start in motions if ahead else motions[::-1]:
        if isinstance(motion, Shift):
            d = d + P @ (sign * motion.length * np.eye(3)[motion.axis])
        elif isinstance(motion, Ball):
            add(BALL, P, start)
            P, d = np.eye(3), np.zeros(3)
        elif isinstance(motion, Product):
            stage = sum(map(len, tables))
            tables.append(table_of([motion if ahead else motion.inverse()], first=stage))
            add(CURVE if motion.size == 1 else SURFACE, P, start, stage)
            P, d = np.eye(3), np.zeros(3)
        else:
            to_third = np.roll(np.eye(3), -(motion.axis + 1), axis=1)  # columns: the two axes after it, then its own
            add(SLIDE if isinstance(motion, Slide) else TURN, P @ to_third, start)
            P, d = to_third.T, np.zeros(3)
    if not rows:
        add(WELD, P, column)
        P, d = np.eye(3), np.zeros(3)
    C = P @ far_axes.T
    rows[-1][6] = d - C @ far
    rows[-1][8:] = body.mass, C @ body.inertia @ C.T
    return C, rows


def _motions(joint, chart, column):
    """The motions of a joint with their first columns; a free rotation by Euler angles is three turns."""
    found: list[tuple] = []
    for motion in joint.allowed:
        if isinstance(motion, Ball) and chart != EXPONENTIAL:
            found.extend((Turn(axis), column + n) for n, axis in enumerate(axes_of(chart)))
        else:
            found.append((motion, column))
        column += motion.size
    return found
