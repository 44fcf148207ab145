"""Mechanisms as URDF, the format of ROS for robots: links, joints, and loops by two extensions in use."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from varint.base.checks import known_name, shown
from varint.base.display import names_text
from varint.base.errors import MechanismError
from varint.files.formats.base import Format, register
from varint.files.own.companion import check_pair
from varint.files.robots.colours import MATERIAL, URDFColours
from varint.files.robots.kinds import Composite, Free, Planar, Prismatic, Revolute, Spherical, Universal
from varint.files.robots.mechanism import mechanism_of
from varint.files.robots.packages import ImportOptions, found_file
from varint.files.robots.reading import OF_MOTORS, RobotReading
from varint.files.robots.robot import (
    INFINITE,
    NEAR,
    Acting,
    Link,
    Pose,
    Ratio,
    Robot,
    RobotShape,
    Rotor,
    Tie,
    still,
    turned_by,
)
from varint.files.robots.urdf_values import (
    LEAVES,
    LEFT_OUT,
    OF_LIMIT,
    ONCE,
    POSE,
    SIZES,
    VERSIONS,
    axis_of,
    inertia_of,
    origin_of,
    pose_in,
    world_of,
)
from varint.files.robots.urdf_writer import save
from varint.files.robots.xml_files import XMLElement, load_xml, reads, unknown
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint

KINDS: dict[str, type[Joint] | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": None,
    "floating": Free,
    "planar": Planar,
    "spherical": Spherical,  # an extension, of PyBullet
    "ball": Spherical,  # of Drake
}
DRAKE_JOINT = "drake:joint"
DRAKE_KINDS: dict[str, type[Joint] | None] = {  # of <drake:joint>, along the axes of its frame
    "ball": Spherical,
    "planar": Composite,
    "universal": Universal,
}
WITH_AXIS = (Revolute, Prismatic, Planar)
OF_KINDS = {"axis": WITH_AXIS} | dict.fromkeys(("limit", "dynamics"), tuple(filter(None, KINDS.values())))
OF_ONE = (Revolute, Prismatic)  # coordinate


@reads("robot", "URDF")
def read(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Return the mechanism of a robot. Its root link is fixed to the world, unless nothing else could move."""
    return mechanism_of(_Reading(root, notes, packages).robot(), notes)


class _Reading(RobotReading):
    """Data read, and poses of links: with all coordinates at zero, those that mimic others at their offset.

    links, joints : elements by their names
    place : of the links that are placed
    leader : of each joint that mimics another its name, the multiplier and the offset
    begin : coordinate of each joint that mimics another, where its own zero is not
    """

    known = LEFT_OUT
    leaves = LEAVES

    def __init__(self, root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> None:
        super().__init__(root, notes, packages)
        self.links = self.root.named("link")
        self._leave_later_out()
        self.joints = self.root.named("joint", DRAKE_JOINT)
        self.links |= world_of(self.joints.values(), self.links, notes)
        self.loops = self.root.named("loop_joint")
        self.colours = URDFColours(self)
        self.place: dict[str, Pose] = {}
        self.leader: dict[str, tuple[str, float, float]] = {}
        self.begin: dict[str, float] = {}

    def robot(self) -> Robot:
        """Return the links, joints and couplings of the file, placed in the world."""
        self.note_unknown(self.root, ("link", "joint", DRAKE_JOINT, "loop_joint", MATERIAL), ("name", "version"))
        if self.root.attributes.get("version", "1.0").strip() not in VERSIONS:
            self.notes.not_understood(f"version {shown(self.root.attributes['version'])} of <robot>", self.root)
        above: dict[str, XMLElement] = {}  # of each link the joint that places it, the first in the file
        closing = []
        for joint in self.joints.values():
            child = self._link(joint, "child")
            if child in above:
                closing.append(joint)
            else:
                above[child] = joint
        root = self._root(above)
        self._lead(above)
        order = self._placed(root, above)
        links = [self._read_link(self.links[name]) for name in order]
        ties, ratios = [], []
        for name in order[1:]:
            joint = above[name]
            ties.append(self._tie(joint))
            ratios += self._mimic(joint)
        for joint in closing:
            ties.append(self._closing(joint))
        ties += [self._loop(joint) for joint in self.loops.values()]
        self._fixed(root, links, ties)
        self.note_left_out()
        name = self.root.attributes.get("name", "").strip() or "robot"
        return Robot(name, self.root, links, ties, ratios, rotors=list(self._rotors()))

    def _leave_later_out(self) -> None:
        """Keep the first of elements that are there once, as other programs do. Raises FileError without repair."""
        for element in self.root.all("link", "joint", DRAKE_JOINT):
            for tag in ONCE:
                for later in list(element.all(tag))[1:]:
                    whose = f"{element.tag} '{element.need('name')}'"
                    defect = later.error(f"{whose} has one <{tag}>, this is another: leave one out")
                    self.notes.mend(defect, f"second <{tag}> of {whose}, left out", later)
                    element.children.remove(later)

    def _rotors(self) -> Iterator[Rotor]:
        """Yield the rotors of the motors in <transmission>."""
        for transmission in self.root.all("transmission"):
            joints = [each.attributes.get("name", "") for each in transmission.all("joint")]
            for actuator in transmission.all("actuator"):
                inertia, ratio = actuator.one("drake:rotor_inertia"), actuator.one("drake:gear_ratio")
                value = inertia.number("value") if inertia is not None else 0.0
                value *= ratio.number("value") ** 2 if ratio is not None else 1.0
                if not value:
                    continue
                if value < 0.0:
                    raise actuator.wrong(f"drake:rotor_inertia must not be negative, got {value:g}")
                if len(joints) != 1 or joints[0] not in self.joints or _kind(self.joints[joints[0]]) not in OF_ONE:
                    says = "drake:rotor_inertia of a <transmission> without one <joint> that is revolute or prismatic"
                    self.notes.left_out(says, actuator)
                    continue
                yield Rotor(joints[0], 0, value, actuator)

    # ------------------------------------------------------------------------------------------------ the tree

    def _link(self, joint: XMLElement, end: str) -> str:
        """Return the name of the link that a joint has as its ``end``."""
        at = joint.child(end)
        return self._known(at.need("link"), joint, at)

    def _known(self, name: str, joint: XMLElement, at: XMLElement) -> str:
        return known_name(name, self.links, f"{at.place}: joint '{joint.need('name')}': no link", MechanismError)

    def _root(self, above: dict[str, XMLElement]) -> str:
        roots = [name for name in self.links if name not in above]
        if not self.links:
            raise self.root.wrong("<robot> has no <link>")
        if not roots:
            joint = next(iter(above.values()))
            raise joint.wrong("every link is the child of a joint: one must be the root, which is the child of none")
        if len(roots) > 1:
            first, second = (self.links[name] for name in roots[:2])
            raise second.wrong(
                f"link '{roots[1]}' is the child of no joint, like '{roots[0]}' at line {first.line}: a robot has one"
                " root"
            )
        return roots[0]

    def _placed(self, root: str, above: dict[str, XMLElement]) -> list[str]:
        """Place all links; return their names, each after the one that moves it."""
        below: dict[str, list[str]] = {}
        for name, joint in above.items():
            below.setdefault(self._link(joint, "parent"), []).append(name)
        self.place[root] = still()
        order = [root]
        for name in order:
            for child in below.get(name, ()):
                joint = above[child]
                frame = self.place[name] @ origin_of(joint)
                self.place[child] = frame @ self._moved(joint)
                order.append(child)
        for name, joint in above.items():
            if name not in self.place:
                raise joint.wrong(
                    f"link '{name}' hangs on itself, over joint '{joint.need('name')}', and not on '{root}'"
                )
        return order

    def _moved(self, joint: XMLElement) -> Pose:
        """Return the pose of the child of a joint in the joint's frame, at the start."""
        value = self.begin.get(joint.need("name"), 0.0)
        if not value:
            return still()
        axis = axis_of(joint)
        return turned_by(axis, value) if _kind(joint) is Revolute else Pose(np.eye(3), value * axis)

    def _lead(self, above: dict[str, XMLElement]) -> None:
        """Find the joints that mimic others and their start; a chain of them is followed to its end."""
        placing = {joint.need("name"): joint for joint in above.values()}
        for name, joint in self.joints.items():
            mimic = joint.one("mimic")
            if mimic is None:
                continue
            self.note_unknown(mimic, (), ("joint", "multiplier", "offset"))
            try:
                target = known_name(mimic.need("joint"), self.joints, f"{mimic.place}: no joint", MechanismError)
            except MechanismError as defect:
                change = f"joint '{name}' mimics {shown(mimic.need('joint'))}, which is not there: <mimic> left out"
                self.notes.mend(defect, change, mimic)
                continue
            if not all(one in placing and _kind(placing[one]) in OF_ONE for one in (name, target)):
                says = f"joint '{name}' mimics '{target}': both must be revolute or prismatic, and close no loop"
                self.notes.left_out(says, mimic)
                continue
            self.leader[name] = target, mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        for name in self.leader:
            chain, value, factor = [name], 0.0, 1.0
            while chain[-1] in self.leader:
                target, multiplier, offset = self.leader[chain[-1]]
                if target in chain:
                    raise self.joints[name].wrong(f"joint '{name}' mimics itself, over {names_text(chain)}")
                value, factor = value + factor * offset, factor * multiplier
                chain.append(target)
            if value:
                self.begin[name] = value

    # ------------------------------------------------------------------------------------------------ the joints

    def _tie(self, joint: XMLElement) -> Tie:
        """Return the tie made from a joint that places its child."""
        name, kind = joint.need("name"), _kind(joint)
        a, b = self._link(joint, "parent"), self._link(joint, "child")
        known = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic")
        self.note_unknown(joint, known, ("name", "type"))
        self.leave_out_of(joint, [tag for tag, kinds in OF_KINDS.items() if kind not in kinds])
        if name in self.leader and not self.leader[name][1]:
            self.notes.read(f"joint '{name}' mimics with the multiplier 0: it is fixed", joint)
            kind = None
        tie = Tie(name, joint.need("type"), joint, a, b, kind)
        if joint.tag == DRAKE_JOINT:
            return self._drake_tie(tie, joint)
        if kind is not None:
            tie.fields["point"] = self.place[b].p
            if kind is Planar:
                says = f"coordinates of joint '{name}', planar, are along axes that follow from its axis alone"
                self.notes.approximated(says, joint)
            if kind in WITH_AXIS:
                frame = self.place[a] @ origin_of(joint)
                tie.fields["axis"] = frame.R @ axis_of(joint)
            tie.along = self._along(joint, kind, self.begin.get(name, 0.0))
            if self.begin.get(name):
                zero = f"its coordinate is zero at {self.begin[name]:g}, the offset of <mimic>"
                self.notes.approximated(f"joint '{name}': {zero}", joint)
        return tie

    def _drake_tie(self, tie: Tie, joint: XMLElement) -> Tie:
        """Return the tie of a <drake:joint>, with its axes and damping."""
        frame = self.place[tie.a] @ origin_of(joint)
        tie.fields["point"] = frame.p
        if tie.kind is Universal:
            tie.fields |= {"axis": frame.R[:, 0], "axis_b": frame.R[:, 1]}
        elif tie.kind is Composite:
            tie.fields["parts"] = [
                {"type": part.__name__, "axis": frame.R[:, along].tolist()}
                for part, along in ((Prismatic, 0), (Prismatic, 1), (Revolute, 2))
            ]
        dynamics = joint.one("dynamics")
        if dynamics is not None:
            self.note_unknown(dynamics, (), ("damping",))
            text = dynamics.attributes.get("damping", "0")
            count = 3 if tie.kind is Composite else 1
            values = dynamics.parsed(text, count, "'damping' of <dynamics>")
            if tie.kind is Spherical:
                tie.along = [Acting(damping=values[0], of_ball=True)]
            else:
                values *= 2 if tie.kind is Universal else 1
                tie.along = [Acting(number, damping=value) for number, value in enumerate(values)]
        for element in joint.all("limit", "mimic"):
            self.notes.left_out(f"<{element.tag}> of joint '{tie.name}', of several coordinates", element)
        return tie

    def _closing(self, joint: XMLElement) -> Tie:
        """Return the loop closure made from a joint whose child is placed already."""
        name, a, b = joint.need("name"), self._link(joint, "parent"), self._link(joint, "child")
        self.note_unknown(joint, ("origin", "parent", "child", "axis", "limit", "dynamics"), ("name", "type"))
        kind = _kind(joint)
        self.leave_out_of(joint, [tag for tag, kinds in OF_KINDS.items() if kind not in kinds])
        axis = axis_of(joint) if kind in WITH_AXIS else None
        tie, turned = self._closed(joint, (a, self.place[a] @ origin_of(joint)), (b, self.place[b]), axis)
        tie.along = self._along(joint, kind, turned)
        self.notes.read(f"joint '{name}' closes a loop: link '{b}' is the child of another joint", joint)
        return tie

    def _loop(self, joint: XMLElement) -> Tie:
        """Return the closure made from a <loop_joint>."""
        self.note_unknown(joint, ("link1", "link2", "axis", "limit", "dynamics"), ("name", "type"))
        first, second = (self._end(joint, tag) for tag in ("link1", "link2"))
        axis = axis_of(joint) if _kind(joint) in WITH_AXIS else None
        tie, turned = self._closed(joint, first, second, axis)
        tie.along = self._along(joint, tie.kind, turned)
        return tie

    def _end(self, joint: XMLElement, tag: str) -> tuple[str, Pose]:
        """Return a link of a <loop_joint>, and the frame of the joint on it."""
        at = joint.child(tag)
        self.note_unknown(at, (), ("link", *POSE))
        link = self._known(at.need("link"), joint, at)
        return link, self.place[link] @ pose_in(at)

    def _closed(
        self, joint: XMLElement, first: tuple[str, Pose], second: tuple[str, Pose], axis: np.ndarray | None
    ) -> tuple[Tie, float]:
        """Return a tie of frames on two links, and the file's coordinate of it in the zero pose; ``axis``: of both."""
        (a, one), (b, other), kind = first, second, _kind(joint)
        name = joint.need("name")
        tie = Tie(name, joint.need("type"), joint, a, b, kind)
        between = one.R.T @ other.R
        square = np.abs(between - np.eye(3)).max() <= NEAR
        if kind is None:
            if not square or np.abs(other.p - one.p).max() > NEAR:
                raise joint.wrong(f"joint '{name}' fixes two links to one another that are apart in the zero pose")
            return tie, 0.0
        tie.fields |= {"point": one.p, "point_b": other.p}
        if axis is None:
            return tie, 0.0
        tie.fields["axis"] = one.R @ axis
        if np.abs(between @ axis - axis).max() > NEAR or (kind is Prismatic and not square):
            raise joint.wrong(
                f"the links of joint '{name}' are turned against each other in the zero pose in a way that the joint"
                " does not allow: give poses in which its frames are parallel"
            )
        if kind is not Revolute or square:
            return tie, 0.0
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        turned = float(np.arctan2(np.cross(across, between @ across) @ axis, across @ between @ across))
        self.notes.approximated(f"joint '{name}': its angle is zero where that of the file is {turned:g}", joint)
        return tie, turned

    def _along(self, joint: XMLElement, kind: type[Joint] | None, zero: float) -> list[Acting]:
        """Return the efforts along the coordinates of a joint; ``zero``: the file's coordinate where ours is zero."""
        name, limit, dynamics = joint.need("name"), joint.one("limit"), joint.one("dynamics")
        of_ball = kind is Spherical
        if kind not in OF_ONE:
            for element in (limit, None if of_ball else dynamics):
                if element is not None and kind is not None:
                    self.notes.left_out(f"<{element.tag}> of joint '{name}', of several coordinates", element)
            if not of_ball:
                return []
        coefficients: dict[str, Any] = {"damping": 0.0, "friction": 0.0}
        if dynamics is not None:
            self.note_unknown(dynamics, (), ("damping", "friction"))
            coefficients = {key: dynamics.number(key, 0.0) for key in coefficients}
            for key in [key for key, value in coefficients.items() if value < 0.0]:
                self.notes.approximated(f"{key} of joint '{name}' is negative: taken for none", dynamics)
                coefficients[key] = 0.0
        if of_ball:
            return [Acting(of_ball=True, **coefficients)]
        lower, upper = self._limits(joint, limit)
        return [Acting(0, lower - zero, upper - zero, **coefficients)]

    def _limits(self, joint: XMLElement, limit: XMLElement | None) -> tuple[float, float]:
        """Return the limits of a stop, infinite without one."""
        none, name = (-np.inf, np.inf), joint.need("name")
        if limit is None:
            return none
        self.note_unknown(limit, (), ("lower", "upper", *OF_LIMIT))
        for key in OF_LIMIT:
            if key in limit.attributes:
                self.leave_out(limit, OF_MOTORS, f"{key} of <limit>")
        if joint.need("type") == "continuous" and limit.attributes.keys() & {"lower", "upper"}:
            self.leave_out(limit, "of a joint of type continuous, which has none", "lower and upper of <limit>")
        lower, upper = self._range(joint)
        if math.isinf(lower) and math.isinf(upper):
            return none
        if lower >= upper:
            self.notes.approximated(f"limits of joint '{name}', from {lower:g} to {upper:g}: no stop made", limit)
            return none
        if name in self.leader:
            target, factor, offset = self.leader[name]
            ends = [factor * end + offset for end in self._range(self.joints[target])]
            if lower - NEAR <= min(ends) and max(ends) <= upper + NEAR:
                says = f"limits of joint '{name}' follow from those of what it mimics: no stop made"
                self.notes.approximated(says, limit)
                return none
        return lower, upper

    def _range(self, joint: XMLElement) -> tuple[float, float]:
        """Return the limits of the file, infinite by default."""
        limit = joint.one("limit")
        if limit is None or joint.need("type") == "continuous":
            return -math.inf, math.inf
        lower, upper = limit.limit("lower", 0.0), limit.limit("upper", 0.0)
        return lower if lower > -INFINITE else -math.inf, upper if upper < INFINITE else math.inf

    def _mimic(self, joint: XMLElement) -> list[Ratio]:
        """Return the coupling of a joint that mimics another."""
        name = joint.need("name")
        target, factor, _ = self.leader.get(name, ("", 0.0, 0.0))
        if not factor:
            return []
        return [Ratio(f"mimic of {name}", joint.child("mimic"), [(name, 0, 1.0), (target, 0, -factor)])]

    def _fixed(self, root: str, links: list[Link], ties: list[Tie]) -> None:
        """Fix the root to the world, unless nothing else could move; one called "world" is the world."""
        at = self.links[root]
        if root != WORLD and all(tie.kind is None for tie in ties) and any(link.mass for link in links):
            self.notes.read(f"link '{root}', to which all others are fixed, floats", at)
            return
        self.notes.read(f"link '{root}', the root, is fixed to the world", at)
        if root == WORLD:
            self.notes.body_of[WORLD] = WORLD
            links[0].name = f"{WORLD} of the file"
            for tie in ties:
                tie.a = links[0].name if tie.a == WORLD else tie.a
                tie.b = links[0].name if tie.b == WORLD else tie.b
        ties.insert(0, Tie(f"{links[0].name} on the ground", "fixed", at, WORLD, links[0].name))

    # ------------------------------------------------------------------------------------------------- the links

    def _read_link(self, element: XMLElement) -> Link:
        name = element.need("name")
        self.note_unknown(element, ("inertial", "visual", "collision"), ("name",))
        link = Link(name, element, self.place[name])
        inertial = element.one("inertial")
        if inertial is not None:
            self.note_unknown(inertial, ("origin", "mass", "inertia"), ())
            pose = origin_of(inertial)
            link.com = pose.p
            mass, inertia = inertial.one("mass"), inertial.one("inertia")
            link.mass = mass.number("value") if mass is not None else 0.0
            if link.mass < 0.0:
                raise inertial.wrong(f"link '{name}' has a negative mass, {link.mass:g}")
            if inertia is not None:
                link.inertia = pose.R @ inertia_of(inertia) @ pose.R.T
        link.shapes = self.shapes_of(element, name, partial(self._shape, link=name))
        return link

    def _shape(self, element: XMLElement, role: str, link: str) -> list[RobotShape]:
        self.note_unknown(element, ("origin", "geometry", *[MATERIAL] * (role == "visual")), None)
        rgba = self.colours.of(element) if role == "visual" else None
        geometry = element.one("geometry")
        for unknown_part, at in unknown(geometry, [of.tag for of in geometry.children], ()) if geometry else ():
            self.notes.not_understood(unknown_part, at)
        if geometry is None or len(geometry.children) != 1:
            self.notes.not_understood(f"<{role}> of link '{link}' without one shape in its <geometry>", element)
            return []
        (of,) = geometry.children
        pose = origin_of(element)
        if of.tag == "mesh" and of.attributes.get("filename", "").strip():
            uri = of.attributes["filename"]
            file = found_file(uri, self.notes.path, self.packages)
            if file is None:
                self.notes.approximated(f"the file of a <mesh> of link '{link}' is not found: {uri}", of)
            self.note_unknown(of, (), ("filename", "scale"))
            scale = tuple(of.numbers("scale", 3, (1.0, 1.0, 1.0)))
            return [RobotShape(role, "mesh", scale, file or uri, pose, rgba=rgba)]
        if of.tag not in SIZES:
            self.notes.not_understood(f"shape <{of.tag}> of link '{link}'", of)
            return []
        names, count = SIZES[of.tag]
        sizes = [size for name in names.split() for size in of.numbers(name, count)]
        self.note_unknown(of, (), names.split())
        return [RobotShape(role, of.tag.removeprefix("drake:"), tuple(sizes), "", pose, rgba=rgba)]


def _kind(joint: XMLElement) -> type[Joint] | None:
    subject = f"{joint.place}: joint '{joint.need('name')}': no type"
    kinds = DRAKE_KINDS if joint.tag == DRAKE_JOINT else KINDS
    return kinds[known_name(joint.need("type"), kinds, subject, MechanismError)]


def load(path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in a file. Raises FileError, also where its save was interrupted; MechanismError."""
    check_pair(path)
    return load_xml(path, options)


register(Format(".urdf", "robots of ROS", load, save, imports=True, companion=True))
