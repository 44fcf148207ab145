"""Joints of OpenSim: frames, coordinates, and the motions that these make."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from varint.base.checks import shown
from varint.files.robots.kinds import Composite, Free, Prismatic, Revolute, Spherical
from varint.files.robots.robot import Pose, Ratio, Tie, still, turned_by
from varint.files.robots.xml_files import XMLElement, unknown
from varint.model.import_report import ImportNotes

X, Y, Z = np.eye(3)
TURN, SLIDE = "turn", "slide"
PLAIN = {  # of a frame, one after another; translations first
    "WeldJoint": (),
    "PinJoint": ((TURN, Z),),
    "SliderJoint": ((SLIDE, X),),
    "UniversalJoint": ((TURN, X), (TURN, Y)),
    "GimbalJoint": ((TURN, X), (TURN, Y), (TURN, Z)),
    "PlanarJoint": ((SLIDE, X), (SLIDE, Y), (TURN, Z)),
}
OF_PLANAR = (1, 2, 0)  # coordinates of these: the turn is the first of the file
OF_PICTURES = {"attached_geometry", "FrameGeometry", "VisibleObject", "Appearance", "default_color", "MarkerSet"}
OF_COORDINATE = {  # the last ones have no effect on a simulation
    "default_value", "default_speed_value", "locked", "prescribed", "prescribed_function",
    "range", "clamped", "is_free_to_satisfy_constraints", "motion_type",
}  # fmt: skip
OF_JOINT = {"socket_parent_frame", "socket_child_frame", "coordinates", "frames"}
AXES = tuple(f"{word}{k}" for word in ("rotation", "translation") for k in (1, 2, 3))  # of a SpatialTransform
WIDE = {"BallJoint": Spherical, "FreeJoint": Free}


def body_of_path(path: str) -> str:
    """Return the last part of the path of a component."""
    return path.strip().rstrip("/").rpartition("/")[2]


def flag(at: XMLElement, tag: str, default: bool = False) -> bool:
    """Return whether a child says "true"; ``default`` if it is missing."""
    child = at.one(tag)
    return default if child is None else child.text.strip().lower() == "true"


def note_rest(at: XMLElement, known: Collection[str], notes: ImportNotes) -> None:
    """Note the children of an element other than ``known`` ones, pictures and empty elements."""
    for part, child in unknown(at, {*known, *OF_PICTURES}):
        if not is_empty(child):
            notes.not_understood(part, child)


def is_empty(at: XMLElement) -> bool:
    """Return whether an element holds nothing, as a set without objects."""
    return not at.text.strip() and all(child.tag in ("objects", "groups") and is_empty(child) for child in at.children)


def offset(at: XMLElement, turn: str, shift: str) -> Pose:
    """Return the pose in two children: body-fixed turns about x, y, z, rad, and a translation, m."""
    angles, p = (at.one(tag).own_numbers(3) if at.one(tag) else np.zeros(3) for tag in (turn, shift))  # type: ignore[union-attr]
    R = still()
    for axis, angle in zip((X, Y, Z), angles, strict=True):
        R = R @ turned_by(axis, float(angle))
    return Pose(R.R, np.array(p, dtype=float))


@dataclass(eq=False)
class Move:
    """An elementary motion: ``slope`` times the ``coordinate`` of that name, plus ``rest``; along ``axis`` (3,)."""

    kind: str
    axis: np.ndarray
    coordinate: str | None
    slope: float = 1.0
    rest: float = 0.0

    def pose(self, value: float) -> Pose:
        """Return the pose after a motion by ``value``, rad or m."""
        return turned_by(self.axis, value) if self.kind == TURN else Pose(np.eye(3), value * self.axis)


class OsimJoint:
    """A joint of a file: bodies ``parent`` and ``child``, frames, and ``moves``, in the axes of the parent's frame.

    ``across``: pose of the child in the parent where all coordinates are zero.
    """

    def __init__(self, at: XMLElement, notes: ImportNotes) -> None:
        self.at, self.name, self.notes = at, at.need("name"), notes
        frames = {each.need("name"): each for each in self._listed("frames")}
        self.parent, self.before = self._frame("socket_parent_frame", frames)
        self.child, self.after = self._frame("socket_child_frame", frames)
        self.coordinates = {each.need("name"): each for each in self._listed("coordinates")}
        note_rest(at, OF_JOINT | ({"SpatialTransform"} if at.tag == "CustomJoint" else set()), notes)
        for frame in frames.values():
            note_rest(frame, ("socket_parent", "translation", "orientation"), notes)
        for name, coordinate in self.coordinates.items():
            note_rest(coordinate, OF_COORDINATE, notes)
            if flag(coordinate, "prescribed"):
                notes.left_out(f"coordinate '{name}' follows a prescribed function: it is left free", coordinate)
        if at.tag in WIDE:
            self.moves: list[Move] = []
        elif at.tag in PLAIN:
            self.moves = self._plain()
        elif at.tag == "CustomJoint":
            self.moves = self._custom()
        else:
            raise at.wrong(f"joint '{self.name}' is a {at.tag}, which is not read: there are {', '.join(self.known)}")
        between = still()
        for move in self.moves:
            between = between @ move.pose(move.rest)
        self.across = self.before @ between @ self.after.inverse()

    known = (*PLAIN, *WIDE, "CustomJoint")

    def _listed(self, tag: str) -> list[XMLElement]:
        whole = self.at.one(tag)
        return [] if whole is None else whole.children

    def _frame(self, tag: str, frames: Mapping[str, XMLElement]) -> tuple[str, Pose]:
        """Return the body of a frame, and the pose of the frame in it."""
        name, pose = body_of_path(self.at.child(tag).text), still()
        for _ in range(len(frames) + 1):
            if name not in frames:
                return name, pose
            at = frames[name]
            pose = offset(at, "orientation", "translation") @ pose
            name = body_of_path(at.child("socket_parent").text)
        raise self.at.wrong(f"frames of joint '{self.name}' refer to one another")

    def value(self, coordinate: str, tag: str) -> float:
        """Return a number of a coordinate of the joint."""
        return self.coordinates[coordinate].child_number(tag)

    def _move(self, kind: str, axis: np.ndarray, coordinate: str, slope: float = 1.0, rest: float = 0.0) -> Move:
        """Return a motion, constant where its coordinate is locked."""
        if coordinate not in self.coordinates:
            raise self.at.wrong(f"joint '{self.name}' has no coordinate '{coordinate}'")
        if flag(self.coordinates[coordinate], "locked"):
            held = slope * self.value(coordinate, "default_value") + rest
            self.notes.read(f"coordinate '{coordinate}' is locked: it stays", self.at)
            return Move(kind, axis, None, 0.0, held)
        return Move(kind, axis, coordinate, slope, rest)

    def _plain(self) -> list[Move]:
        moves, names = PLAIN[self.at.tag], list(self.coordinates)
        if len(names) != len(moves):
            raise self.at.wrong(f"joint '{self.name}' ({self.at.tag}) needs {len(moves)} coordinates, has {len(names)}")
        numbers = OF_PLANAR if self.at.tag == "PlanarJoint" else range(len(moves))
        return [self._move(*move, names[k]) for move, k in zip(moves, numbers, strict=True)]

    def _custom(self) -> list[Move]:
        """Return translations along axes of the parent's frame, then turns, each about an axis moved by the last."""
        listed = {each.attributes.get("name", ""): each for each in self.at.child("SpatialTransform").children}
        for name, element in listed.items():
            if name not in AXES:
                raise element.wrong(
                    f"an axis of joint '{self.name}' is called {shown(name)}: there are {', '.join(AXES)}"
                )
        moves = []
        for kind, word in ((SLIDE, "translation"), (TURN, "rotation")):
            for k in range(3):
                at = listed.get(f"{word}{k + 1}")
                if at is not None:
                    moves.append(self._along(kind, at, np.eye(3)[k]))
        return [move for move in moves if move.coordinate is not None or move.rest]

    def _along(self, kind: str, at: XMLElement, usual: np.ndarray) -> Move:
        axis = np.array(at.child("axis").own_numbers(3)) if at.one("axis") else usual
        names = at.one("coordinates")
        for more in at.attributes.keys() - {"name"}:
            self.notes.not_understood(f"attribute {shown(more)} of <{at.tag}>", at)
        named = names.text.split() if names is not None else []
        slope, rest = self._linear(at)
        if slope and len(named) > 1:
            name = at.attributes.get("name", at.tag)
            raise at.wrong(
                f"'{name}' of joint '{self.name}' is a function of {len(named)} coordinates: functions of one are read"
            )
        size = float(np.linalg.norm(axis))
        if not size:
            raise at.wrong(f"an axis of joint '{self.name}' is zero")
        if not named or not slope:
            return Move(kind, axis / size, None, 0.0, rest)
        return self._move(kind, axis / size, named[0], slope, rest)

    def _linear(self, at: XMLElement) -> tuple[float, float]:
        """Return the slope and the constant of the function of a <TransformAxis>."""
        functions = [each for each in at.children if each.tag not in ("axis", "coordinates")]
        if not functions:
            return 0.0, 0.0
        function = linear(functions[0])
        if function is None:
            name, kind = at.attributes.get("name", at.tag), functions[0].tag
            raise at.wrong(
                f"'{name}' of joint '{self.name}' is a {kind}: linear functions and constants are read. Put a"
                " LinearFunction in its place"
            )
        return function


def linear(at: XMLElement) -> tuple[float, float] | None:
    """Return the slope and the constant of a function; None if it is not linear."""
    if at.tag == "function" and at.children:
        return linear(at.children[0])
    if at.tag == "Constant":
        return 0.0, at.child_number("value")
    if at.tag in ("LinearFunction", "PolynomialFunction"):
        listed = at.child("coefficients").text.split()
        numbers = at.child("coefficients").own_numbers(len(listed)) if listed else [0.0]
        if any(numbers[:-2]):
            return None
        return (numbers[-2], numbers[-1]) if len(numbers) > 1 else (0.0, numbers[0])
    if at.tag == "MultiplierFunction":
        inner = at.one("function")
        line = linear(inner) if inner is not None else None
        factor = at.child_number("scale", 1.0)
        return None if line is None else (factor * line[0], factor * line[1])
    return None


@dataclass(eq=False)
class CoordinatePlaces:
    """Places of the coordinates of a file: joint and number to the ``default``, m or rad, and ``ratios`` between them.

    ``speed``: default rate of each, m/s or rad/s. ``place``: of each coordinate the tie that has it, and its factor.
    """

    default: dict[tuple[str, int], float] = field(default_factory=dict)
    speed: dict[tuple[str, int], float] = field(default_factory=dict)
    place: dict[str, tuple[str, float]] = field(default_factory=dict)
    ratios: list[Ratio] = field(default_factory=list)

    def coupled(self, at: XMLElement, name: str) -> Ratio | None:
        """Return the coupling of a <CoordinateCouplerConstraint>; None if it is not linear in one coordinate."""
        function = at.one("coupled_coordinates_function")
        line = linear(function.children[0]) if function is not None and function.children else None
        free = at.child("independent_coordinate_names").text.split()
        held = at.child("dependent_coordinate_name").text.strip()
        if line is None or line[1] or len(free) != 1 or free[0] not in self.place or held not in self.place:
            return None
        factor = at.child_number("scale_factor", 1.0)
        if not factor:
            return None
        (tie, size), (other, other_size) = self.place[held], self.place[free[0]]
        return Ratio(name, at, [(tie, 0, 1.0 / size), (other, 0, -factor * line[0] / other_size)])


def tie_of(joint: OsimJoint, poses: Mapping[str, Pose], coordinates: CoordinatePlaces, notes: ImportNotes) -> Tie:
    """Return the joint in the world, at zero coordinates."""
    at, name, a, b = joint.at, joint.name, joint.parent, joint.child
    frame = poses[a] @ joint.before
    if at.tag in WIDE:
        notes.approximated(f"coordinates of joint '{name}' ({at.tag}): rotation vectors, start at zero", at)
        for coordinate in joint.coordinates:
            for tag in ("default_value", "default_speed_value"):
                if joint.value(coordinate, tag):
                    notes.not_understood(f"{tag} of coordinate '{coordinate}' of joint '{name}' ({at.tag})", at)
            if flag(joint.coordinates[coordinate], "locked"):
                notes.left_out(f"locked coordinate '{coordinate}' of joint '{name}' ({at.tag})", at)
        return Tie(name, at.tag, at, a, b, WIDE[at.tag], {"point": frame.p})
    parts: list[Tie] = []
    for move in joint.moves:
        if move.coordinate is not None:
            _add(joint, move, frame, parts, coordinates)
        frame = frame @ move.pose(move.rest)
    if not parts:
        return Tie(name, at.tag, at, a, b)
    if len(parts) == 1:
        alone = parts[0]
        return Tie(name, at.tag, at, a, b, alone.kind, alone.fields)
    return Tie(name, at.tag, at, a, b, Composite, parts=parts)


def _add(joint: OsimJoint, move: Move, frame: Pose, parts: list[Tie], coordinates: CoordinatePlaces) -> None:
    """Add the part of a joint that performs a motion."""
    at, number = joint.at, len(parts)
    coordinate = move.coordinate or ""
    moving = sum(each.coordinate is not None for each in joint.moves)
    part_name = joint.name if moving == 1 else f"{joint.name} {number}"
    sign = math.copysign(1.0, move.slope)
    fields = {"point": frame.p.copy(), "axis": sign * frame.R @ move.axis}
    type_text = "a turn" if move.kind == TURN else "a slide"
    parts.append(
        Tie(part_name, type_text, at, joint.parent, joint.child, Revolute if move.kind == TURN else Prismatic, fields)
    )
    size = abs(move.slope)
    coordinates.default[joint.name, number] = size * joint.value(coordinate, "default_value")
    coordinates.speed[joint.name, number] = size * joint.value(coordinate, "default_speed_value")
    if coordinate in coordinates.place:
        first, factor = coordinates.place[coordinate]
        terms = [(part_name, 0, 1.0 / size), (first, 0, -1.0 / factor)]
        coordinates.ratios.append(Ratio(f"{coordinate} of {part_name}", at, terms))
        return
    coordinates.place[coordinate] = part_name, size
    scaled = "" if size == 1.0 else f", times {size:g}"
    joint.notes.read(f"coordinate '{coordinate}' is coordinate {number} of joint '{joint.name}'{scaled}", at)
