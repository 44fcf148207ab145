"""Mechanisms as SDF, the format of Gazebo: worlds, models in one another, joints in any graph, frames by name."""

import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from varint.base.checks import known_name
from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.robots.kinds import Composite, Helical, Prismatic, Revolute, Spherical, Universal
from varint.files.robots.mechanism import mechanism_of
from varint.files.robots.packages import found_file
from varint.files.robots.reading import OF_MOTORS, RobotReading
from varint.files.robots.robot import INFINITE, Acting, Link, Pose, Ratio, Robot, RobotShape, Tie, still
from varint.files.robots.sdf_frames import Includes, Scope
from varint.files.robots.xml_files import XMLElement, load_xml, reads
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import rotation_matrix
from varint.model.shapes import quat_from_z

KINDS: dict[str, type[Joint] | None] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "fixed": None,
    "ball": Spherical,
    "universal": Universal,
    "revolute2": Universal,
    "screw": Helical,
    "gearbox": None,  # a coupling
}
AXES = {Revolute: ("axis",), Prismatic: ("axis",), Helical: ("axis",), Universal: ("axis", "axis2")}
SQUARE = 1e-9  # cosine of axes that a universal joint can have
SHAPES = {
    "box": ("size 3",),
    "cylinder": ("radius 1", "length 1"),
    "capsule": ("radius 1", "length 1"),
    "sphere": ("radius 1",),
    "ellipsoid": ("radii 3",),
}
WITHOUT_SHAPE = ("empty",)
OTHERS = "without effect on the motion of rigid bodies"
OF_CONTACTS = "contacts are not imported"
PICTURES = ("light", "scene", "gui", "projector", "particle_emitter", "material", "transparency", "cast_shadows")
SURROUNDINGS = ("audio", "audio_sink", "state", "sensor", "magnetic_field", "atmosphere", "road", "battery")
SETTINGS = ("physics", "must_be_base_link", "enable_wind", "allow_auto_disable", "visibility_flags", "laser_retro")
LEFT_OUT = dict.fromkeys(
    [*PICTURES, *SURROUNDINGS, *SETTINGS, "spherical_coordinates", "meta", "layers"], OTHERS
) | dict.fromkeys(["self_collide", "max_contacts", "contact"], OF_CONTACTS)
SURFACE = {"friction": ("friction", "ode", "mu"), "restitution": ("bounce", "restitution_coefficient")}
OF_STOPS = "the stops are hard"


@reads("sdf", "SDF")
def read(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Return the mechanism of a world or a model. A model floats unless it is static or has a joint to the world."""
    return mechanism_of(_Reading(root, notes, packages).robot(), notes)


class _Reading(RobotReading):
    """Data read from the scopes of a file."""

    known = LEFT_OUT
    namespaced = True

    def __init__(self, root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> None:
        super().__init__(root, notes, packages)
        self.whole = Includes(notes.path, packages, notes).outermost(root)
        models = list(self.whole.models.values())
        if len(models) == 1 and not self.whole.joints:  # names are not told apart by the one model that they are in
            only = models[0].path
            for scope in models[0].all():
                scope.path = scope.path.removeprefix(only)
        version = re.match(r"(\d{1,4})\.(\d{1,4})", root.attributes.get("version", ""))
        self.version = (int(version[1]), int(version[2])) if version else (2, 0)
        self.of_model = self.version < (1, 5)  # whether axes are in the axes of the model where nothing else is said

    def robot(self) -> Robot:
        """Return the links, joints and couplings of the file."""
        self.note_unknown(self.root, ("world", "model"), ("version",))
        links: list[Link] = []
        ties: list[Tie] = []
        ratios: list[Ratio] = []
        for scope in self.whole.all():
            self._note_scope(scope)
            links += [self._link(scope, name) for name in scope.links]
            if scope.static:
                ties += [
                    Tie(f"{scope.path}{n} on the ground", "static", e, WORLD, scope.path + n)
                    for n, e in scope.links.items()
                ]
        for scope in self.whole.all():
            for name in scope.joints if not scope.static else ():
                ties.append(self._tie(scope, name))
        by_name = {tie.name: tie for tie in ties}
        for scope in self.whole.all():
            for name, joint in scope.joints.items() if not scope.static else ():
                if joint.need("type") == "gearbox":
                    ties.remove(by_name[scope.path + name])
                    ratios.append(self._gearbox(scope, name, ties))
                ratios += self._mimics(scope, name, by_name)
        if not links:
            raise self.root.wrong("the file has no <link>")
        self.note_left_out()
        name = next((model.name for model in self.whole.models.values()), "") or "world"
        if len(self.whole.models) > 1:
            name = self.whole.at.attributes.get("name", "").strip() or name
        robot = Robot(name, self.root, links, ties, ratios)
        gravity = self.whole.at.one("gravity")
        if gravity is not None:
            robot.gravity = np.array(gravity.own_numbers(3))
        robot.weightless = [
            scope.path + name
            for scope in self.whole.all()
            for name, link in scope.links.items()
            if (gravity_of_link := link.one("gravity")) is not None
            and gravity_of_link.text.strip().lower() in ("false", "0")
        ]
        return robot

    # ------------------------------------------------------------------------------------------------- the links

    def _link(self, scope: Scope, name: str) -> Link:
        element = scope.links[name]
        self.note_unknown(element, ("pose", "inertial", "visual", "collision", "gravity"), ("name",))
        link = Link(scope.path + name, element, scope.place() @ scope.frame(name, element))
        inertial = element.one("inertial")
        if inertial is None:
            says = "no <inertial>: 1 kg and moments of 1 kg m^2, the defaults of SDF"
            if not scope.static:
                self.notes.approximated(f"link '{link.name}' has {says}", element)
            link.mass, link.inertia = 1.0, np.eye(3)
        else:
            self._inertial(inertial, link, scope)
        link.shapes = self.shapes_of(element, name, partial(self._shape, scope=scope, name=name))
        return link

    def _inertial(self, element: XMLElement, link: Link, scope: Scope) -> None:
        self.note_unknown(element, ("pose", "mass", "inertia"), ("auto",))
        if element.attributes.get("auto", "") in ("true", "1"):
            raise element.wrong(f"the inertia of link '{link.name}' is to follow from its shapes: write it out")
        pose = self._inside(element, scope, link)
        inertia = element.one("inertia")
        link.com, link.mass = pose.p, element.child_number("mass", 1.0)
        if link.mass < 0.0:
            raise element.wrong(f"link '{link.name}' has a negative mass, {link.mass:g}")
        values = {key: float(key[1] == key[2]) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
        if inertia is not None:
            self.note_unknown(inertia, tuple(values), ())
            values |= {key: child.own_number() for key in values if (child := inertia.one(key)) is not None}
        xx, yy, zz, xy, xz, yz = values.values()
        link.inertia = pose.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ pose.R.T

    def _inside(self, element: XMLElement, scope: Scope, link: Link) -> Pose:
        """Return the pose of an element of a link, in the link."""
        pose = element.one("pose")
        if pose is None:
            return still()
        name = link.name.removeprefix(scope.path)
        return link.pose.inverse() @ scope.place() @ scope.posed(element, name)

    def _shape(self, element: XMLElement, role: str, scope: Scope, name: str) -> list[RobotShape]:
        self.note_unknown(element, ("pose", "geometry", "surface"), ("name",))
        geometry = element.child("geometry")
        shapes = []
        for of in geometry.children:
            pose = scope.frame(name, element).inverse() @ scope.posed(element, name)
            if of.tag == "mesh":
                uri = of.child("uri").text.strip()
                path = found_file(uri, element.path, self.packages)
                if path is None:
                    self.notes.approximated(f"the file of a <mesh> of link '{name}' is not found: {uri}", of)
                scale = of.one("scale")
                sizes = tuple(scale.own_numbers(3)) if scale is not None else (1.0, 1.0, 1.0)
                shapes.append(RobotShape(role, "mesh", sizes, path or uri, pose))
            elif of.tag in SHAPES:
                sizes = tuple(
                    value
                    for part in SHAPES[of.tag]
                    for value in of.child(part.split()[0]).own_numbers(int(part.split()[1]))
                )
                shapes.append(RobotShape(role, of.tag, sizes, "", pose))
            elif of.tag == "plane":
                normal = of.one("normal")
                along = np.array(normal.own_numbers(3)) if normal is not None else np.array([0.0, 0.0, 1.0])
                turn = Pose(rotation_matrix(quat_from_z(along)), np.zeros(3))
                shapes.append(RobotShape(role, "plane", (), "", pose @ turn))
            elif of.tag not in WITHOUT_SHAPE:
                self.notes.not_understood(f"shape <{of.tag}> of link '{name}'", of)
        surface = _surface(element)
        return [shape._replace(**surface) for shape in shapes]

    # ------------------------------------------------------------------------------------------------ the joints

    def _tie(self, scope: Scope, name: str) -> Tie:
        joint = scope.joints[name]
        known = ("parent", "child", "axis", "axis2", "pose", "gearbox_ratio", "gearbox_reference_body")
        self.note_unknown(joint, (*known, "thread_pitch", "screw_thread_pitch"), ("name", "type"))
        kind = KINDS[known_name(joint.need("type"), KINDS, f"{joint.place}: joint '{name}': no type", FileError)]
        a, b = (self._end(scope, joint, tag) for tag in ("parent", "child"))
        tie = Tie(scope.path + name, joint.need("type"), joint, a, b, kind)
        if kind is None:
            return tie
        tie.fields["point"] = (scope.place() @ scope.of_joint(name)).p
        axes = [self._axis(scope, name, tag) for tag in AXES.get(kind, ())]
        if kind is Universal and abs(axes[0] @ axes[1]) > SQUARE:
            tie.kind = Composite
            tie.fields["parts"] = [{"type": Revolute.__name__, "axis": axis.tolist()} for axis in axes]
        elif axes:
            tie.fields |= dict(zip(("axis", "axis_b"), axes, strict=False))
        if kind is Helical:
            tie.fields["lead"] = self._lead(joint, tie.name)
        for number, tag in enumerate(AXES.get(kind, ())):
            axis = joint.one(tag)
            if axis is not None:
                tie.along.append(self._along(axis, number, tie))
        if kind is Spherical and joint.one("axis") is not None:
            self.leave_out(joint.child("axis"), "a ball joint has none")
        return tie

    def _end(self, scope: Scope, joint: XMLElement, tag: str) -> str:
        element = joint.child(tag)
        name = element.text.strip()
        if not name:
            raise element.error(f"<{tag}> of joint '{joint.need('name')}' is empty")
        return scope.link(name, element)

    def _axis(self, scope: Scope, name: str, tag: str) -> np.ndarray:
        """Return the unit vector along an axis of a joint, in the world."""
        joint = scope.joints[name]
        place, axis = scope.place(), joint.one(tag)
        frame = place @ scope.of_joint(name)
        if axis is None:
            if tag != "axis":
                raise joint.error(f"joint '{name}' needs an <{tag}>")
            return frame.R[:, 2]
        xyz = axis.one("xyz")
        vector = np.array(xyz.own_numbers(3) if xyz is not None else [0.0, 0.0, 1.0])
        size = np.abs(vector).max()
        if not size:
            raise axis.wrong(f"<{tag}> of joint '{name}' must not be zero")
        vector = vector / size
        parent = axis.one("use_parent_model_frame")
        of_model = self.of_model if parent is None else parent.text.strip().lower() in ("true", "1")
        other = xyz.attributes.get("expressed_in", "") if xyz is not None else ""
        if other:
            frame = place @ scope.frame(other, axis)
        elif of_model:
            frame = place
        return frame.R @ vector / np.linalg.norm(vector)

    def _lead(self, joint: XMLElement, name: str) -> float:
        """Return the lead of a screw, m a turn, positive where the thread is right-handed."""
        pitch = joint.one("screw_thread_pitch")
        if pitch is not None:
            return pitch.own_number()
        value = joint.child_number("thread_pitch", 1.0)
        if not value:
            raise joint.wrong(f"thread_pitch of joint '{name}' must not be zero")
        return -2.0 * math.pi / value

    def _along(self, axis: XMLElement, number: int, tie: Tie) -> Acting:
        """Return efforts along an axis of a joint."""
        known = ("xyz", "limit", "dynamics", "use_parent_model_frame", "mimic")
        self.note_unknown(axis, known, ())
        limits = {"lower": -math.inf, "upper": math.inf, "damping": 0.0, "friction": 0.0}
        limits |= {"spring_stiffness": 0.0, "spring_reference": 0.0}
        for tag, names in (("limit", ("lower", "upper")), ("dynamics", (*list(limits)[2:],))):
            element = axis.one(tag)
            if element is not None:
                left = ("effort", "velocity", "stiffness", "dissipation") if tag == "limit" else ()
                self.note_unknown(element, (*names, *left), ())
                for child in element.all(*left):
                    self.leave_out(child, OF_MOTORS if child.tag in left[:2] else OF_STOPS)
                limits |= {key: one.own_limit() for key in names if (one := element.one(key)) is not None}
        lower, upper = limits["lower"], limits["upper"]
        if tie.type_name == "continuous":
            lower, upper = -math.inf, math.inf
        lower = lower if lower > -INFINITE else -math.inf
        upper = upper if upper < INFINITE else math.inf
        if lower >= upper:
            self.notes.approximated(f"limits of joint '{tie.name}', from {lower:g} to {upper:g}: no stop made", axis)
            lower, upper = -math.inf, math.inf
        for key in ("damping", "friction", "spring_stiffness"):
            if limits[key] < 0.0:
                self.notes.approximated(f"{key} of joint '{tie.name}' is negative: taken for none", axis)
                limits[key] = 0.0
        spring = limits["spring_stiffness"], limits["spring_reference"]
        return Acting(number, lower, upper, limits["damping"], limits["friction"], *spring)

    def _gearbox(self, scope: Scope, name: str, ties: Sequence[Tie]) -> Ratio:
        """Return the coupling of a gearbox: the angle of its child against a third body and that of its parent."""
        joint = scope.joints[name]
        reference = self._end(scope, joint, "gearbox_reference_body")
        factor = joint.child_number("gearbox_ratio", 1.0)
        terms = []
        for tag, of, share in (("parent", "axis", factor), ("child", "axis2", 1.0)):
            link, axis = self._end(scope, joint, tag), self._axis(scope, name, of)
            tie = next((tie for tie in ties if tie.kind is Revolute and {tie.a, tie.b} == {link, reference}), None)
            if tie is None:
                raise joint.wrong(
                    f"gearbox '{name}': no revolute joint between '{link}' and '{reference}' is there to couple"
                )
            cosine = float(axis @ tie.fields["axis"])
            if abs(abs(cosine) - 1.0) > 1e-6:
                raise joint.wrong(f"gearbox '{name}': its <{of}> is not along that of joint '{tie.name}'")
            sense = math.copysign(1.0, cosine) * (1.0 if tie.b == link else -1.0)
            terms.append((tie.name, 0, sense * share))
        return Ratio(scope.path + name, joint, terms)

    def _mimics(self, scope: Scope, name: str, ties: dict[str, Tie]) -> list[Ratio]:
        """Return the couplings of axes of a joint that mimic another's."""
        ratios = []
        for number, tag in enumerate(("axis", "axis2")):
            axis = scope.joints[name].one(tag)
            mimic = axis.one("mimic") if axis is not None else None
            if mimic is None:
                continue
            self.note_unknown(mimic, ("multiplier", "offset", "reference"), ("joint", "axis"))
            target, which = scope.path + mimic.need("joint"), mimic.attributes.get("axis", "axis")
            known_name(target, ties, f"{mimic.place}: no joint", FileError)
            values = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
            values |= {key: child.own_number() for key in values if (child := mimic.one(key)) is not None}
            if not values["multiplier"]:
                raise mimic.wrong(f"joint '{name}' mimics with the multiplier 0: make it fixed")
            if values["offset"] != values["multiplier"] * values["reference"]:
                says = f"joint '{name}': offset and reference of <mimic> are replaced by the poses of the file"
                self.notes.approximated(says, mimic)
            terms = [(scope.path + name, number, 1.0), (target, int(which == "axis2"), -values["multiplier"])]
            ratios.append(Ratio(f"mimic of {scope.path}{name}", mimic, terms))
        return ratios

    # ------------------------------------------------------------------------------------------------ the report

    def _note_scope(self, scope: Scope) -> None:
        known = ("model", "include", "link", "joint", "frame", "pose", "static", "gravity")
        if scope.ground is not None:
            self.notes.approximated(f"link 'world' of model '{scope.name}' is taken for the world", scope.ground)
        if scope.at is not self.root:
            self.note_unknown(scope.at, known, ("name", "canonical_link", "placement_frame"))
        for element in scope.frames.values():
            self.note_unknown(element, ("pose",), ("name", "attached_to"))


def _surface(element: XMLElement) -> dict[str, Any]:
    """Return the coefficients of the surface of a shape that the file has."""
    coefficients = {}
    for name, path in SURFACE.items():
        inner = element.one("surface")
        for tag in path:
            inner = inner.one(tag) if inner is not None else None
        if inner is not None:
            coefficients[name] = inner.own_number()
    return coefficients


register(Format(".sdf", "worlds and models of Gazebo", load_xml, imports=True))
