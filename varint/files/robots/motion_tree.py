"""The tree of a mechanism as hinges, slides and balls: what simulators in joint coordinates build their models from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.files.robots.kinds import Composite, Fixed, Free, Revolute, Spherical
from varint.files.robots.robot import Pose
from varint.files.robots.spanning import Branch, spanning
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.joints.base import NAMES, Joint
from varint.model.motion import Ball, Slide, Turn
from varint.model.rotation_vectors import left_jacobian, quat_from_matrix, quat_from_vector, rotation_matrix
from varint.model.state import State

TO_CLOSE = (Revolute, Spherical, Fixed)  # joints that other simulators hold at points or as welds
OPEN = 1e-12  # of anchors, over the size of their coordinates
KINDS = {Turn: "hinge", Slide: "slide", Ball: "ball"}
TURNS = ("hinge", "ball")


class TreePart:
    """A hinge, slide or ball.

    kind : "hinge", "slide" or "ball"
    first : its first coordinate in the joint that it is part of
    point : (3,) in the world, m
    axes : (3, n) in the world, along which its n coordinates count
    reference : of a slide, its coordinate in the reference configuration, m
    given : attributes of its element in MJCF
    """

    def __init__(self, name: str, kind: str, first: int, point: np.ndarray, axes: np.ndarray) -> None:
        self.name, self.kind, self.first, self.point, self.axes = name, kind, first, point, axes
        self.reference = 0.0
        self.given: dict[str, str] = {}


class PartState(NamedTuple):
    """Coordinates and rates of a part in a state; part None: a floating body.

    q : (1,) m or rad; of a ball the quaternion (4,) of the child in its reference axes; of a floating body its
        position and quaternion (7,) in the world.
    rate : (1,); of a ball the angular velocity (3,), axes of the child; of a floating body its velocity, world, and
        angular velocity, axes of the body, (6,).
    """

    part: TreePart | None
    q: np.ndarray
    rate: np.ndarray


class MotionTree:
    """A spanning tree of a mechanism; ``grounded``: loops are cut between two bodies where they can be.

    pose : of each body in the reference configuration
    branches : in an order in which parents come first
    below : the branches above which a body stands
    parts : of each joint of the tree, from the parent to the child
    closing : the joints that close its loops
    refused : joints that are no hinges, slides and balls, or close loops by none of `TO_CLOSE`, in words
    """

    def __init__(self, mechanism: Mechanism, grounded: bool = False) -> None:
        self.mechanism = mechanism
        self.refused: list[str] = []
        poses = {body.name: Pose(rotation_matrix(body.quat_wxyz), body.position) for body in mechanism.bodies}
        self.pose = {WORLD: Pose(np.eye(3), np.zeros(3)), **poses}
        self.branches, closing = spanning(mechanism, _grounded if grounded else _rank)
        self.below: dict[str, list[Branch]] = {}
        self.parts: dict[str, list[TreePart]] = {}
        for branch in self.branches:
            self.below.setdefault(branch.above, []).append(branch)
            if branch.joint is not None:
                self.parts[branch.joint.name] = self._parts(branch.joint, branch.reversed)
        self.closing = [joint for joint in closing if not isinstance(joint, Free)]

    def parts_of(self, branch: Branch) -> list[TreePart]:
        """Return the parts that move the body of a branch, [] if it floats."""
        return [] if branch.joint is None else self.parts[branch.joint.name]

    def depth_first(self) -> Iterator[Branch]:
        """Yield all branches, each body before its children."""
        waiting = self.below.get(WORLD, [])[::-1]
        while waiting:
            branch = waiting.pop()
            yield branch
            waiting += self.below.get(branch.body, [])[::-1]

    def states(self, state: State) -> Iterator[tuple[Branch, list[PartState]]]:
        """Yield the branches, depth first, with the coordinates of their parts in a closed ``state``."""
        coordinates, rates = self.mechanism.coordinates(state), self.mechanism.rates(state)
        for branch in self.depth_first():
            number = self.mechanism.body_index[branch.body]
            if branch.joint is None:
                turned = quat_from_matrix(rotation_matrix(state.quat_wxyz[number]))
                q = np.concatenate([state.position[number], turned])
                rate = np.concatenate([state.velocity[number], state.angular_velocity[number]])
                yield branch, [PartState(None, q, rate)]
                continue
            q, rate = (np.atleast_1d(of[branch.joint.name]) for of in (coordinates, rates))
            R0 = self.pose[branch.body].R
            yield branch, [_part_state(part, q, rate, R0) for part in self.parts_of(branch)]

    def held(self, joint: Joint) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Return name and points (3,) on body a and b, world, that close a loop.

        A hinge is held at two points of its axis.
        """
        point, point_b = self.mechanism.anchors(joint)
        held = [(joint.name, point, point_b)]
        if isinstance(joint, Revolute):
            arms = point - self.pose[joint.body_b].p, point - self.pose[joint.body_a].p
            along = (max(np.abs(arm).max() for arm in arms) or 1.0) * joint.axis
            held.append((f"{joint.name} axis", point + along, point_b + along))
        return held

    def closes(self, joint: Joint) -> bool:
        """Return whether a joint closes a loop by points or as a weld; others are added to the refused."""
        if not isinstance(joint, TO_CLOSE):
            self.refused.append(f"joint '{joint.name}', a {type(joint).__name__} that closes a loop")
        return isinstance(joint, TO_CLOSE)

    def _parts(self, joint: Joint, reverse: bool) -> list[TreePart]:
        """Return the hinges, slides and balls of a joint, in their order from the parent.

        A child that is body a moves by the inverse of the joint's motions: the last one first, each backward.
        """
        point, point_b = self.mechanism.anchors(joint)
        moves = list(_motions(joint, point))
        if any(kind is None for kind, *_ in moves):
            self.refused.append(f"joint '{joint.name}', a {type(joint).__name__}, in the tree")
            return []
        names = joint.name.split(" + ")
        if len(names) != len(moves):
            names = [joint.name] if len(moves) == 1 else [f"{joint.name} {number + 1}" for number in range(len(moves))]
        sense, first, parts = (-1.0 if reverse else 1.0), 0, []
        for name, (kind, at, axes) in zip(names, moves, strict=True):
            parts.append(TreePart(name, str(kind), first, at, sense * axes))
            first += axes.shape[1]
        parts = parts[::-1] if reverse else parts
        turns = [part.kind for part in parts if part.kind in TURNS]
        if "ball" in turns[:-1]:
            self.refused.append(f"joint '{joint.name}', a {type(joint).__name__} that turns after a ball")
        apart = point_b - point
        for part in parts if apart.any() and not isinstance(joint, Composite) else ():
            if part.kind == "slide":  # its coordinate is not zero in the reference configuration
                axis = sense * part.axes[:, 0]
                part.reference = float(apart @ axis)
                apart = apart - part.reference * axis
            else:
                part.point = point_b
        if np.abs(apart).max() > OPEN * max(1.0, np.abs(point).max()):
            self.refused.append(f"joint '{joint.name}', whose point and point_b are apart")
        return parts


def _rank(joint: Joint) -> float:
    """Return the order of joints into the tree: loop closures last, fewer coordinates first.

    Free never.
    """
    if isinstance(joint, Free):
        return float("inf")
    return joint.dof + 10.0 * isinstance(joint, TO_CLOSE)


def _grounded(joint: Joint) -> float:
    """Return `_rank`, with joints to the world first among the loop closures."""
    return _rank(joint) - 5.0 * (isinstance(joint, TO_CLOSE) and WORLD in (joint.body_a, joint.body_b))


def part_at(parts: Mapping[str, Sequence[TreePart]], joint: str, coordinate: int) -> TreePart | None:
    """Return the hinge or slide of a ``coordinate`` of ``joint``, or None if it is of a ball, or of no part.

    ``parts``: those of each joint by its name, as in `MotionTree`.
    """
    hinges_and_slides = (part for part in parts.get(joint, ()) if part.kind != "ball")
    return next((part for part in hinges_and_slides if part.first == coordinate), None)


def _part_state(part: TreePart, q: np.ndarray, rate: np.ndarray, R0: np.ndarray) -> PartState:
    entries = slice(part.first, part.first + part.axes.shape[1])
    if part.kind != "ball":
        return PartState(part, q[entries], rate[entries])
    vector, change = part.axes @ q[entries], part.axes @ rate[entries]
    return PartState(part, quat_from_vector(R0.T @ vector), R0.T @ (left_jacobian(vector).T @ change))


def _motions(joint: Joint, point: np.ndarray) -> Iterable[tuple[str | None, np.ndarray, np.ndarray]]:
    """Return kind, point (3,) and axes (3, n), world, of each motion of a joint.

    Kind None unless it is one of `KINDS`.
    """
    if isinstance(joint, Composite):
        for part in joint.parts:
            arguments = {key: value for key, value in part.items() if key != "type"}
            one = NAMES[part["type"]](**({"name": "part", "body_a": "a", "body_b": "b", "point": point} | arguments))
            assert one.point is not None  # since the composite was made
            yield from _motions(one, one.point)
        return
    for motion in joint.allowed:
        axes = joint.frame[:, [motion.axis]] if isinstance(motion, Turn | Slide) else joint.frame
        yield KINDS.get(type(motion)), point, axes
