"""The spanning tree of a mechanism as a chain of elementary motions, for the recursions of redmax.

Each tree joint is taken apart into its motions (`Joint.allowed`), seen from the parent: one node a motion, the last
of them carrying the body, the others massless. In axes of its node S is then constant but for a ball and products of
exponentials, and the recursions need to know these, a rotation and a translation only.

The axes of a node move with it. Its reference point is the centre of mass of the body, and the origin of the motion
where the node is massless. A rotation or translation is along the third axis. With P, d, arm constant,

    F = F_parent P exp(motion),    x = x_parent + F_parent d + (shift of the motion) + F arm.

Where the parent is on body b of the joint, the motions come in reverse, each with its coordinate negated.

A body that floats and is attached to a single other one hangs from that on a ball joint (plan/pins.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from varint.base.checks import freeze
from varint.kinematics.frames import JointFrames
from varint.mathematics.products.stages import WIDTH
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL, axes_of
from varint.methods.reduced.recursions.tree_records import (
    BALL,
    CURVE,
    DOF,
    PRISMATIC,
    REVOLUTE,
    SURFACE,
    WELD,
    TreeNodes,
)
from varint.model.body import WORLD, Body
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Motion, Shift, Slide, Turn
from varint.model.product_joint import Product
from varint.model.product_table import table_of
from varint.plan.pins import Pin, find_pins
from varint.plan.roles import elements_of

IS_FREE = (
    "has a compliance, and so six free coordinates in reduced coordinates: a coupling or a prescribed motion takes a"
    " rigid joint there, or varint.simulate"
)


@dataclass(frozen=True)
class Tree:
    """The tree nodes of a mechanism, one an elementary motion, and their columns by name.

    Attributes
    ----------
    nodes : Nodes
    joints : tuple of Joint
        One a body, a parent before its children; a floating group has a `Free` joint of its own to the world, and a
        joint with compliant rows is a `Free` joint of the same name. Its rigid rows are among the closures.
    columns : dict
        Joint name to its slice of q.
    nq : int
        Number of coordinates.
    balls : (n,) int
        First columns of rotation vectors.
    charts : dict
        Chart of each joint with a free rotation, by its name; its three columns are the last of the joint.
    pinned : frozenset of int
        Numbers of the attachments that are ball joints.
    """

    nodes: TreeNodes
    joints: tuple[Joint, ...]
    columns: dict[str, slice]
    nq: int
    balls: np.ndarray
    charts: dict[str, str]
    pinned: frozenset[int]


def find_tree(
    mechanism: Mechanism,
    chart: str = EXPONENTIAL,
    charts: Mapping[str, str] | None = None,
    *,
    as_described: bool = False,
) -> Tree:
    """Return the tree of ``mechanism``: tree joints as in its variational form, and balls at attachments.

    ``chart``: of all free rotations not in ``charts``, joint name to chart. ``as_described``: attached bodies, and
    joints with compliant rows, keep the coordinates of their own joints, for readings.
    """
    topology, builder = mechanism.compiled.topology, _Builder()
    joints: list[Joint] = []
    columns: dict[str, slice] = {}
    used: dict[str, str] = {}
    nq = 0
    pins: dict[int, Pin] = {}
    order = topology.bodies
    if not as_described:
        pins, order = _pinned(mechanism)
    for body in order:
        number, name = topology.tree_joint[body], mechanism.bodies[body].name
        free = REGISTRY["Free"]
        joint = free(f"base of {name}", WORLD, name) if number is None else mechanism.joints[number]
        if body in pins:
            joint = pins[body].joint(mechanism)
        if joint.compliant and not as_described:
            joint = free(joint.name, joint.body_a, joint.body_b, point=joint.point, point_b=joint.point_b)
        if joint.allowed[-1:] == (Ball(),) and joint.allowed.count(Ball()) == 1:
            used[joint.name] = (charts or {}).get(joint.name, chart)
        motions = _motions(joint, used.get(joint.name, EXPONENTIAL), nq)
        builder.add_joint(mechanism.bodies[body], JointFrames(mechanism, joint), body, motions, nq)
        joints.append(joint)
        columns[joint.name] = slice(nq, nq + joint.dof)
        nq += joint.dof
    nodes = builder.nodes_of(np.argsort(mechanism.compiled.slot))
    pinned = frozenset(pin.force for pin in pins.values())
    return Tree(nodes, tuple(joints), columns, nq, nodes.column[nodes.motion == BALL], used, pinned)


def _pinned(mechanism: Mechanism) -> tuple[dict[int, Pin], list[int]]:
    """Return pins in place of the tree joints of bodies, by their numbers, and all bodies, parents first."""
    topology = mechanism.compiled.topology
    if not any(force.of_points for force in mechanism.forces):
        return {}, topology.bodies
    number, parent = {**mechanism.body_index, WORLD: -1}, dict(topology.parent)
    pins: dict[int, Pin] = {}
    for pin in find_pins(mechanism, elements_of(mechanism), {name: name for name in number}):
        body, above = number[pin.body_b], number[pin.body_a]
        while above not in (-1, body):
            above = parent[above]
        if above == -1:  # else the body would hang from itself
            pins[body], parent[body] = pin, number[pin.body_a]
    order: dict[int, None] = {}
    for body in topology.bodies:
        branch: list[int] = []
        while body != -1 and body not in order:
            branch.append(body)
            body = parent[body]
        order |= dict.fromkeys(reversed(branch))
    return pins, list(order)


def _motions(joint: Joint, chart: str, column: int) -> list[tuple[Motion, int]]:
    """Return the motions of a joint with their first columns; a free rotation by Euler angles is three rotations."""
    motions: list[tuple[Motion, int]] = []
    for motion in joint.allowed:
        if isinstance(motion, Ball) and chart != EXPONENTIAL:
            motions.extend((Turn(axis), column + n) for n, axis in enumerate(axes_of(chart)))
        else:
            motions.append((motion, column))
        column += motion.size
    return motions


@dataclass
class _Node:
    """One node: the fields of `TreeNodes` by node, as described there."""

    parent: int
    motion: int
    sign: float
    column: int
    rest_axes: np.ndarray
    offset: np.ndarray
    stage: int = -1
    # without a body
    arm: np.ndarray = field(default_factory=lambda: np.zeros(3))
    mass: float = 0.0
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def dof(self) -> int:
        return DOF[self.motion]


class _Builder:
    """Adds joint after joint, a parent before its children; number -1 is the world."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.tables = [np.zeros((0, WIDTH))]
        self.node_of = {-1: -1}  # node by body
        self.axes_of = {-1: np.eye(3)}  # axes of the body in its node

    def add_joint(
        self, body: Body, frames: JointFrames, number: int, motions: list[tuple[Motion, int]], column: int
    ) -> None:
        """Add the nodes of the ``motions`` of a joint, the last of them with body ``number``, its child."""
        ahead = frames.b == number
        sides = (frames.axes_a, frames.origin_a), (frames.axes_b, frames.origin_b)
        (near_axes, near), (far_axes, far) = sides if ahead else sides[::-1]
        parent, sign = frames.a if ahead else frames.b, 1.0 if ahead else -1.0
        last = self.node_of[parent]
        P, d = self.axes_of[parent] @ near_axes, self.axes_of[parent] @ near  # of the next motion, seen from `last`
        moved = False
        for motion, start in motions if ahead else motions[::-1]:
            if isinstance(motion, Shift):
                d = d + P @ (sign * motion.length * np.eye(3)[motion.axis])
                continue
            kind, stage, axes = BALL, -1, np.eye(3)
            if isinstance(motion, Product):
                kind, stage = CURVE if motion.size == 1 else SURFACE, self._add_table(motion, ahead)
            elif isinstance(motion, Turn | Slide):
                kind = PRISMATIC if isinstance(motion, Slide) else REVOLUTE
                axes = np.roll(axes, -(motion.axis + 1), axis=1)  # columns: the two axes after it, then its own
            last, moved = self._add_node(_Node(last, kind, sign, start, P @ axes, d, stage)), True
            P, d = axes.T, np.zeros(3)
        if not moved:
            last = self._add_node(_Node(last, WELD, sign, column, P, d))
            P, d = np.eye(3), np.zeros(3)
        C, end = P @ far_axes.T, self.nodes[last]
        end.arm, end.mass, end.inertia = d - C @ far, body.mass, C @ body.inertia @ C.T
        self.node_of[number], self.axes_of[number] = last, C

    def _add_node(self, node: _Node) -> int:
        """Add a node; its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _add_table(self, motion: Product, ahead: bool) -> int:
        """Add a product of exponentials to the table; its row."""
        stage = sum(map(len, self.tables))
        self.tables.append(table_of([motion if ahead else motion.inverse()], first=stage))
        return stage

    def nodes_of(self, order: np.ndarray) -> TreeNodes:
        """Return the nodes, of the bodies in ``order``."""
        names = [entry.name for entry in fields(_Node)] + ["dof"]
        arrays = {name: np.array([getattr(node, name) for node in self.nodes]) for name in names}
        arrays["parent"][arrays["parent"] < 0] = len(self.nodes)
        arrays["body_node"] = np.array([self.node_of[body] for body in order])
        arrays["body_axes"] = np.array([self.axes_of[body] for body in order])
        arrays["products"] = np.concatenate(self.tables)
        return TreeNodes(**{name: freeze(np.ascontiguousarray(array)) for name, array in arrays.items()})
