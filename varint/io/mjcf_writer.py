"""Mechanisms written as MJCF: a tree of bodies, connect and weld for its closures, joints' efforts, tendons, a key."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.errors import FileError
from varint.io.mjcf_efforts import EffortPart, Efforts, numbers
from varint.io.robot import Pose
from varint.io.robot_kinds import Composite, Fixed, Free, Revolute, Spherical
from varint.io.spanning import Branch, spanning
from varint.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.joints.base import REGISTRY, Joint
from varint.model.motion import Ball, Slide, Turn
from varint.model.rotation_vectors import left_jacobian, quat_from_matrix, quat_from_vector, rotation_matrix
from varint.whole import write_text

TO_CLOSE = (Revolute, Spherical, Fixed)  # kinds that connect and weld hold
OPEN = 1e-12  # of anchors, over the size of their coordinates
TOLD = 8  # of what is refused, in an error
KINDS = {Turn: "hinge", Slide: "slide", Ball: "ball"}
TURNS = ("hinge", "ball")


def save(mechanism: Mechanism, path: Path) -> None:
    """Write it. Raises FileError that names what MJCF does not hold."""
    writing = _Writing(mechanism)
    lines = list(writing.lines())
    if writing.refused:
        told, more = writing.refused[:TOLD], len(writing.refused) - TOLD
        others = f"; and {more} more" if more > 0 else ""
        raise FileError(f"cannot write '{path}': MJCF does not hold {'; '.join(told)}{others}")
    write_text(path, "\n".join(lines) + "\n")


class _Writing:
    """parts : of each joint of the tree; sites : of each body, lines; refused : what is not held, in words."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.refused: list[str] = []
        self.sites: dict[str, list[str]] = {}
        poses = {body.name: Pose(rotation_matrix(body.quat_wxyz), body.position) for body in mechanism.bodies}
        self.pose = {WORLD: Pose(np.eye(3), np.zeros(3)), **poses}
        self.branches, closing = spanning(mechanism, self._rank)
        self.below: dict[str, list[Branch]] = {}
        self.parts: dict[str, list[EffortPart]] = {}
        for branch in self.branches:
            self.below.setdefault(branch.above, []).append(branch)
            if branch.joint is not None:
                self.parts[branch.joint.name] = self._parts(branch.joint, branch.reversed)
        self.closing = [joint for joint in closing if not isinstance(joint, Free)]

    def _rank(self, joint: Joint) -> float:
        """Joints that can close a loop come into the tree last, those of fewer coordinates first; Free never."""
        if isinstance(joint, Free):
            return float("inf")
        return joint.dof + 10.0 * isinstance(joint, TO_CLOSE)

    def _parts(self, joint: Joint, reverse: bool) -> list[EffortPart]:
        """The hinges, slides and balls of a joint, in their order from the parent.

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
            parts.append(EffortPart(name, str(kind), first, at, sense * axes))
            first += axes.shape[1]
        parts = parts[::-1] if reverse else parts
        turns = [part.kind for part in parts if part.kind in TURNS]
        if "ball" in turns[:-1]:
            self.refused.append(f"joint '{joint.name}', a {type(joint).__name__} that turns after a ball")
        apart = point_b - point
        for part in parts if apart.any() and not isinstance(joint, Composite) else ():
            if part.kind == "slide":  # its coordinate is not zero in the reference configuration
                axis = sense * part.axes[:, 0]
                along = apart @ axis
                part.given["ref"] = numbers([along])
                apart = apart - along * axis
            else:
                part.point = point_b
        if np.abs(apart).max() > OPEN * max(1.0, np.abs(point).max()):
            self.refused.append(f"joint '{joint.name}', whose point and point_b are apart")
        return parts

    # ------------------------------------------------------------------------------------------------- the file

    def lines(self) -> Iterator[str]:
        """All of it."""
        mechanism = self.mechanism
        efforts = Efforts(mechanism, self.parts, self.site)
        equality = [self._closure(joint) for joint in self.closing]
        efforts.take()
        self.refused += efforts.refused
        yield f"<mujoco model={quoteattr(mechanism.name)}>"
        yield '  <compiler angle="radian"/>'
        yield f'  <option gravity="{numbers(mechanism.gravity)}"/>'
        yield "  <worldbody>"
        bodies = [line for branch in self.below.get(WORLD, ()) for line in self._body(branch, "    ")]
        yield from (f"    {site}" for site in self.sites.get(WORLD, ()))
        yield from bodies
        yield "  </worldbody>"
        sections = {"equality": equality + efforts.equality, "tendon": efforts.tendon, "actuator": efforts.actuator}
        for name, listed in sections.items():
            if listed:
                yield from (f"  <{name}>", *(f"    {line}" for line in listed), f"  </{name}>")
        if mechanism.start or any(efforts.control):
            yield from ("  <keyframe>", f"    {self._key(efforts.control)}", "  </keyframe>")
        yield "</mujoco>"

    def _body(self, branch: Branch, indent: str) -> Iterator[str]:
        body, pose = self.mechanism.body(branch.body), self.pose[branch.body]
        place = self.pose[branch.above].inverse() @ pose
        quat = quat_from_matrix(place.R)
        yield f'{indent}<body name={quoteattr(body.name)} pos="{numbers(place.p)}" quat="{numbers(quat)}">'
        moments, axes = np.linalg.eigh(body.inertia)
        axes = axes * np.sign(np.linalg.det(axes))
        inertia = f'quat="{numbers(quat_from_matrix(axes))}" diaginertia="{numbers(moments)}"'
        if branch.joint is None:
            names = [
                joint.name for joint in self.mechanism.joints if {joint.body_a, joint.body_b} == {WORLD, body.name}
            ]
            yield f"{indent}  <freejoint name={quoteattr(names[0] if names else f'{body.name} floats')}/>"
        for part in self.parts[branch.joint.name] if branch.joint is not None else ():
            at, axis = pose.R.T @ (part.point - pose.p), pose.R.T @ part.axes[:, 0]
            attributes = "".join(f' {key}="{value}"' for key, value in part.given.items())
            along = f' axis="{numbers(axis)}"' if part.kind != "ball" else ""
            name = quoteattr(part.name)
            yield f'{indent}  <joint name={name} type="{part.kind}" pos="{numbers(at)}"{along}{attributes}/>'
        yield f'{indent}  <inertial pos="0 0 0" mass="{numbers([body.mass])}" {inertia}/>'
        yield from (f"{indent}  {site}" for site in self.sites.get(body.name, ()))
        for child in self.below.get(body.name, ()):
            yield from self._body(child, indent + "  ")
        yield f"{indent}</body>"

    def site(self, body: str, point: np.ndarray, name: str) -> str:
        """The name, quoted, of a new site of a body at a point of the world, in axes of the world."""
        pose = self.pose[body]
        at, quat = pose.R.T @ (point - pose.p), quat_from_matrix(pose.R.T)
        lines = self.sites.setdefault(body, [])
        lines.append(f'<site name={quoteattr(name)} pos="{numbers(at)}" quat="{numbers(quat)}"/>')
        return quoteattr(name)

    def _closure(self, joint: Joint) -> str:
        """The line of what closes a loop; a hinge is held at two points of its axis."""
        if not isinstance(joint, TO_CLOSE):
            self.refused.append(f"joint '{joint.name}', a {type(joint).__name__} that closes a loop")
            return ""
        point, point_b = self.mechanism.anchors(joint)
        tag, ways = ("weld" if isinstance(joint, Fixed) else "connect"), [np.zeros(3)]
        if isinstance(joint, Revolute):
            length = max(
                np.abs(point - self.pose[joint.body_b].p).max(), np.abs(point - self.pose[joint.body_a].p).max()
            )
            ways.append((length or 1.0) * joint.axis)
        lines = []
        for number, way in enumerate(ways):
            name = joint.name if not number else f"{joint.name} axis"
            ends = ((joint.body_a, point, "a"), (joint.body_b, point_b, "b"))
            sites = [self.site(body, at + way, f"{name}: {which}") for body, at, which in ends]
            lines.append(f"<{tag} name={quoteattr(name)} site1={sites[0]} site2={sites[1]}/>")
        return "\n    ".join(lines)

    # ------------------------------------------------------------------------------------------------- the start

    def _key(self, control: list[float]) -> str:
        """The state that the mechanism starts at."""
        mechanism = self.mechanism
        state = mechanism.state()
        coordinates, rates = mechanism.coordinates(state), mechanism.rates(state)
        qpos: list[float] = []
        qvel: list[float] = []
        order = [branch for first in self.below.get(WORLD, ()) for branch in self._depth_first(first)]
        for branch in order:
            number = mechanism.body_index[branch.body]
            R = rotation_matrix(state.quat_wxyz[number])
            if branch.joint is None:
                qpos += [*state.position[number], *quat_from_matrix(R)]
                qvel += [*state.velocity[number], *state.angular_velocity[number]]
                continue
            q, rate = (np.atleast_1d(of[branch.joint.name]) for of in (coordinates, rates))
            R0 = self.pose[branch.body].R
            for part in self.parts[branch.joint.name]:
                own = slice(part.first, part.first + part.axes.shape[1])
                if part.kind != "ball":
                    qpos += [*q[own]]
                    qvel += [*rate[own]]
                    continue
                vector, change = part.axes @ q[own], part.axes @ rate[own]
                qpos += [*quat_from_vector(R0.T @ vector)]
                qvel += [*(R0.T @ (left_jacobian(vector).T @ change))]
        controls = f' ctrl="{numbers(control)}"' if control else ""
        return f'<key name="start" qpos="{numbers(qpos)}" qvel="{numbers(qvel)}"{controls}/>'

    def _depth_first(self, branch: Branch) -> Iterator[Branch]:
        yield branch
        for child in self.below.get(branch.body, ()):
            yield from self._depth_first(child)


def _motions(joint: Joint, point: np.ndarray) -> Iterable[tuple[str | None, np.ndarray, np.ndarray]]:
    """Kind in MJCF of each motion of a joint, None where there is none, its point and axes (3, size), world."""
    if isinstance(joint, Composite):
        for part in joint.parts:
            arguments = {key: value for key, value in part.items() if key != "type"}
            one = REGISTRY[part["type"]](**({"name": "part", "body_a": "a", "body_b": "b", "point": point} | arguments))
            assert one.point is not None  # since the composite was made
            yield from _motions(one, one.point)
        return
    for motion in joint.allowed:
        axes = joint.frame[:, [motion.axis]] if isinstance(motion, Turn | Slide) else joint.frame
        yield KINDS.get(type(motion)), point, axes
