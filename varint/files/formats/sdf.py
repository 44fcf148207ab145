"""Mechanisms as SDF, the format of Gazebo: worlds, models in one another, joints in any graph, frames by name."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from varint.base.checks import known_name
from varint.base.errors import FileError
from varint.files.formats.base import Format, register
from varint.files.robots.kinds import Composite, Helical, Prismatic, Revolute, Spherical, Universal
from varint.files.robots.mechanism import mechanism_of
from varint.files.robots.reading import OF_CONTACTS, OF_MOTORS
from varint.files.robots.robot import INFINITE, Acting, Link, Pose, Ratio, Robot, Rotor, Tie, still
from varint.files.robots.rotors import leave_out_armature
from varint.files.robots.sdf_frames import DRAKE_JOINT, Includes, Scope
from varint.files.robots.sdf_shapes import SDFShapes
from varint.files.robots.xml_files import XMLElement, load_xml, reads
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint

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
DRAKE_KINDS: dict[str, type[Joint]] = {"planar": Composite, "screw": Helical}  # of <drake:joint>
OTHERS = "without effect on the motion of rigid bodies"
PICTURES = ("light", "scene", "gui", "projector", "particle_emitter", "material", "transparency", "cast_shadows")
SURROUNDINGS = ("audio", "audio_sink", "state", "sensor", "magnetic_field", "atmosphere", "road", "battery")
SETTINGS = ("physics", "must_be_base_link", "enable_wind", "allow_auto_disable", "visibility_flags", "laser_retro")
CONTACTS = ("self_collide", "max_contacts", "contact", "drake:proximity_properties", "drake:collision_filter_group")
LEFT_OUT = (
    dict.fromkeys([*PICTURES, *SURROUNDINGS, *SETTINGS, "spherical_coordinates", "meta", "layers"], OTHERS)
    | dict.fromkeys(["drake:accepting_renderer", "drake:diffuse_map", "drake:perception_properties"], OTHERS)
    | dict.fromkeys(CONTACTS, OF_CONTACTS)
    | {"drake:controller_gains": "motors are not imported"}
)
TEXTS = ("parent", "child", "mass", "gravity", "static", "uri", "name", "placement_frame", "lower", "upper", "damping",
         "friction", "spring_stiffness", "spring_reference", "gearbox_ratio", "gearbox_reference_body", "thread_pitch",
         "screw_thread_pitch", "ixx", "iyy", "izz", "ixy", "ixz", "iyz", "multiplier", "offset", "reference",
         "use_parent_model_frame", "drake:parent", "drake:child", "drake:damping", "drake:rotor_inertia",
         "drake:gear_ratio", "drake:screw_thread_pitch")  # fmt: skip
POSE = ("relative_to", "frame", "rotation_format", "degrees")
OF_TYPES = ("axis", "axis2", "gearbox_ratio", "gearbox_reference_body", "thread_pitch", "screw_thread_pitch")
ROTOR = ("drake:rotor_inertia", "drake:gear_ratio")
BALL = "drake:ball_constraint"
OF_DIRECTION = ("xyz", "use_parent_model_frame", "spring_reference")  # of an axis, and of no ball joint
OF_LIMIT = ("effort", "velocity", "drake:acceleration", "stiffness", "dissipation")
OF_STOPS = "the stops are hard"


@reads("sdf", "SDF")
def read(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Return the mechanism of a world or a model. A model floats unless it is static or has a joint to the world."""
    return mechanism_of(_Reading(root, notes, packages).robot(), notes)


class _Reading(SDFShapes):
    """Data read from the scopes of a file."""

    known = LEFT_OUT
    leaves = dict.fromkeys(TEXTS, ()) | {"pose": POSE, "xyz": ("expressed_in",)}

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
        inside = ("world",) if self.whole.at is not self.root else ("model", "include")
        self.note_unknown(self.root, inside, ("version",))
        links: list[Link] = []
        rotors: list[Rotor] = []
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
                rotors += self._rotor(scope, name, ties[-1])
            ties += [self._ball(scope, at, number) for number, at in enumerate(scope.at.all(BALL))]
        by_name = {tie.name: tie for tie in ties}
        for scope in self.whole.all():
            for name, joint in scope.joints.items() if not scope.static else ():
                if joint.need("type") == "gearbox" and joint.tag == "joint":
                    ties.remove(by_name[scope.path + name])
                    ratios.append(self._gearbox(scope, name, ties))
                ratios += self._mimics(scope, name, by_name)
        if not links:
            raise self.root.wrong("the file has no <link>")
        self.note_left_out()
        name = next((model.name for model in self.whole.models.values()), "") or "world"
        if len(self.whole.models) > 1:
            name = self.whole.at.attributes.get("name", "").strip() or name
        robot = Robot(name, self.root, links, ties, ratios, self._gravity(), rotors=rotors)
        robot.weightless = [
            scope.path + name
            for scope in self.whole.all()
            for name, link in scope.links.items()
            if (gravity_of_link := link.one("gravity")) is not None
            and gravity_of_link.text.strip().lower() in ("false", "0")
        ]
        return robot

    def _gravity(self) -> np.ndarray:
        """Return the gravity of the world, m/s^2, or that of its <physics>, as older files have it."""
        world = self.whole.at
        settings = list(world.all("physics"))
        usual = [each for each in settings if each.attributes.get("default", "") in ("true", "1")]
        if len(settings) > 1:
            says = f"<physics>: the {'one that is default' if usual else 'first'} of {len(settings)} counts"
            self.notes.approximated(says, (usual or settings)[0])
        of_physics = (usual or settings)[0].one("gravity") if settings else None
        gravity = world.one("gravity")
        if gravity is None and of_physics is not None:
            self.notes.read("<gravity> of <physics> is that of the world", of_physics)
            gravity = of_physics
        elif gravity is not None and of_physics is not None and of_physics.text.split() != gravity.text.split():
            self.notes.approximated("<gravity> of <physics> is left out: that of the world counts", of_physics)
        return np.array([0.0, 0.0, -9.81] if gravity is None else gravity.own_numbers(3))

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
        link.shapes = self.shapes_of(element, name, partial(self.shape, scope=scope, name=name))
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

    # ------------------------------------------------------------------------------------------------ the joints

    def _tie(self, scope: Scope, name: str) -> Tie:
        joint = scope.joints[name]
        if joint.tag == DRAKE_JOINT:
            return self._drake_tie(scope, name)
        known = ("parent", "child", "axis", "axis2", "pose", "gearbox_ratio", "gearbox_reference_body", *ROTOR)
        self.note_unknown(joint, (*known, "thread_pitch", "screw_thread_pitch", "drake:mimic"), ("name", "type"))
        kind = KINDS[known_name(joint.need("type"), KINDS, f"{joint.place}: joint '{name}': no type", FileError)]
        self._note_without_effect(joint, kind)
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
        if kind is Spherical and (axis := joint.one("axis")) is not None:
            along = self._along(axis, 0, tie)
            tie.along.append(Acting(damping=along.damping, friction=along.friction, of_ball=True))
            for element in [each for place in (axis, *axis.all("dynamics")) for each in place.all(*OF_DIRECTION)]:
                self.leave_out(element, "which a ball joint does not have")
            if along.stiffness or along.lower > -math.inf or along.upper < math.inf:
                self.notes.left_out(f"limits and spring along an axis of ball joint '{tie.name}'", axis)
        return tie

    def _note_without_effect(self, joint: XMLElement, kind: type[Joint] | None) -> None:
        """Note elements that a joint of its type does not have."""
        if joint.need("type") == "gearbox":
            read: tuple[str, ...] = ("axis", "axis2", "gearbox_ratio", "gearbox_reference_body")
            for axis in joint.all("axis", "axis2"):
                self.note_unknown(axis, ("xyz", "use_parent_model_frame", "limit", "dynamics"), ())
                for element in axis.all("limit", "dynamics"):
                    self.leave_out(element, "of a gearbox, which is a coupling")
        else:
            read = AXES.get(kind, ()) if kind is not None else ()
            read += ("axis",) if kind is Spherical else ()  # its friction and damping
            read += ("thread_pitch", "screw_thread_pitch") if kind is Helical else ()
        self.leave_out_of(joint, [tag for tag in OF_TYPES if tag not in read])

    def _drake_tie(self, scope: Scope, name: str) -> Tie:
        """Return the tie of a <drake:joint>: planar in the plane across z of its frame, or a screw about z."""
        joint = scope.joints[name]
        known = ("drake:parent", "drake:child", "drake:damping", "pose")
        self.note_unknown(joint, (*known, "drake:screw_thread_pitch"), ("name", "type"))
        subject = f"{joint.place}: <drake:joint> '{name}': no type"
        kind = DRAKE_KINDS[known_name(joint.need("type"), DRAKE_KINDS, subject, FileError)]
        a, b = (self._end(scope, joint, tag) for tag in ("drake:parent", "drake:child"))
        tie = Tie(scope.path + name, joint.need("type"), joint, a, b, kind)
        frame = scope.place() @ scope.of_joint(name)
        tie.fields["point"] = frame.p
        if kind is Helical:
            pitch = joint.child("drake:screw_thread_pitch").own_number()
            tie.fields |= {"axis": frame.R[:, 2], "lead": pitch}
        else:
            self.leave_out_of(joint, ("drake:screw_thread_pitch",))
            tie.fields["parts"] = [
                {"type": part.__name__, "axis": frame.R[:, along].tolist()}
                for part, along in ((Prismatic, 0), (Prismatic, 1), (Revolute, 2))
            ]
        damping = joint.one("drake:damping")
        if damping is not None:
            values = damping.own_numbers(1 if kind is Helical else 3)
            tie.along = [Acting(number, damping=value) for number, value in enumerate(values)]
        return tie

    def _ball(self, scope: Scope, at: XMLElement, number: int) -> Tie:
        """Return the joint that a <drake:ball_constraint> becomes."""
        tags = [f"{BALL}_{end}" for end in ("body_A", "body_B", "p_AP", "p_BQ")]
        self.note_unknown(at, tags, ())
        names, points = [], []
        for tag, place in zip(tags[:2], tags[2:], strict=True):
            inside = at.child(tag)
            names.append(self._end(scope, at, tag))
            frame = scope.place() @ scope.frame(inside.text.strip(), inside)
            point = at.one(place)
            points.append(frame.p + frame.R @ np.array(point.own_numbers(3)) if point is not None else None)
        first = (
            points[0] if points[0] is not None else (scope.place() @ scope.frame(at.child(tags[0]).text.strip(), at)).p
        )
        fields = {"point": first, "point_b": points[1]}
        name = f"{scope.path}ball constraint {number}"
        return Tie(name, BALL, at, names[0], names[1], Spherical, fields)

    def _rotor(self, scope: Scope, name: str, tie: Tie) -> Iterator[Rotor]:
        """Yield the rotor of the motor of a joint, by its inertia and gear ratio."""
        joint = scope.joints[name]
        axis = joint.one("axis")
        values = {"drake:rotor_inertia": 0.0, "drake:gear_ratio": 1.0}
        for place in (joint, axis) if axis is not None else (joint,):
            for tag in ROTOR:
                element = place.one(tag)
                if element is not None:
                    values[tag] = element.own_number()
        inertia = values["drake:rotor_inertia"] * values["drake:gear_ratio"] ** 2
        if inertia < 0.0:
            raise joint.wrong(f"drake:rotor_inertia of joint '{name}' must not be negative, got {inertia:g}")
        if inertia and tie.kind in (Revolute, Prismatic):
            yield Rotor(tie.name, 0, inertia, joint)
        elif not inertia:
            for element in joint.all("drake:gear_ratio"):
                self.leave_out(element, "of no drake:rotor_inertia")
        else:
            leave_out_armature(name, inertia, self.notes, joint)

    def _end(self, scope: Scope, joint: XMLElement, tag: str) -> str:
        element = joint.child(tag)
        name = element.text.strip()
        if not name:
            raise element.error(f"<{tag}> of <{joint.tag}> '{joint.attributes.get('name', '')}' is empty")
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
        known = ("xyz", "limit", "dynamics", "use_parent_model_frame", "mimic", *ROTOR)
        self.note_unknown(axis, known, ())
        limits = {"lower": -math.inf, "upper": math.inf, "damping": 0.0, "friction": 0.0}
        limits |= {"spring_stiffness": 0.0, "spring_reference": 0.0}
        for tag, names in (("limit", ("lower", "upper")), ("dynamics", (*list(limits)[2:],))):
            element = axis.one(tag)
            if element is not None:
                left = OF_LIMIT if tag == "limit" else ()
                self.note_unknown(element, (*names, *left), ())
                for child in element.all(*left):
                    self.leave_out(child, OF_MOTORS if child.tag in left[:3] else OF_STOPS)
                limits |= {
                    key: one.own_limit(infinite=tag == "limit")
                    for key in names
                    if (one := element.one(key)) is not None
                }
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
            if mimic is None and not number:
                mimic = scope.joints[name].one("drake:mimic")
            if mimic is None:
                continue
            of_drake = mimic.tag == "drake:mimic"
            if of_drake:
                self.note_unknown(mimic, (), ("joint", "multiplier", "offset"))
            else:
                self.note_unknown(mimic, ("multiplier", "offset", "reference"), ("joint", "axis"))
            target, which = scope.path + mimic.need("joint"), mimic.attributes.get("axis", "axis")
            known_name(target, ties, f"{mimic.place}: no joint", FileError)
            values = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
            values |= {key: child.own_number() for key in values if (child := mimic.one(key)) is not None}
            if of_drake:
                values |= {key: mimic.number(key, values[key]) for key in ("multiplier", "offset")}
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
        known: tuple[str, ...] = ("model", "include", "link", "joint", "frame", "pose", "static", DRAKE_JOINT, BALL)
        known = (*known, "gravity", "physics") if scope.outer is None else known
        if scope.ground is not None:
            self.notes.approximated(f"link 'world' of model '{scope.name}' is taken for the world", scope.ground)
        if scope.at is not self.root:
            self.note_unknown(scope.at, known, ("name", "canonical_link", "placement_frame"))
        if scope.by is not scope.at:
            self.note_unknown(scope.by, ("uri", "name", "pose", "static", "placement_frame"), ("merge",))
        if "canonical_link" in scope.at.attributes:
            self.leave_out(scope.at, "of frames alone, without effect on the motion", "canonical_link of <model>")
        for each in scope.by.all("physics"):
            self.leave_out(each, OTHERS)
        for element in scope.frames.values():
            self.note_unknown(element, ("pose",), ("name", "attached_to"))


register(Format(".sdf", "worlds and models of Gazebo", load_xml, imports=True))
register(Format(".world", "worlds of Gazebo, as SDF", load_xml, imports=True))
