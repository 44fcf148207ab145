"""The mechanism of a robot: bodies, joints, what acts along them, couplings and a start inside the limits."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from varint.base.display import names_text
from varint.base.errors import MechanismError
from varint.files.robots.collision import touching
from varint.files.robots.kinds import (
    CoordinateMap,
    Coupling,
    Fixed,
    Free,
    JointDamper,
    JointFriction,
    JointStop,
    PointForce,
    Spherical,
    TorsionSpring,
)
from varint.files.robots.parts import RobotPart, body_of, parts_of, shapes_of, touching_shapes, without_massless
from varint.files.robots.robot import NEAR, Acting, Ratio, Robot, Tie, still
from varint.files.robots.rotors import rotor_of
from varint.files.robots.xml_files import XMLElement
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.forces.base import Force
from varint.model.import_report import ImportNotes
from varint.model.joints.base import Joint
from varint.model.motion import motion_subspace

Places = Mapping[str, tuple[str, int]]  # name of a tie to the joint that it is part of, and its first coordinate there
NAMED = 3  # entries in an error


def mechanism_of(robot: Robot, notes: ImportNotes) -> Mechanism:
    """Return the mechanism, with its report. Raises MechanismError, naming link or joint, with its line."""
    _check_names(robot)
    parts = parts_of(robot)
    robot.ties = list(_between_bodies(robot, parts, notes))
    ties = without_massless(robot, parts, notes)
    every = list(dict.fromkeys(parts.values()))
    moving = [part for part in every if part.name != WORLD]
    if not moving:
        rest = list(dict.fromkeys(entry.what for entry in notes.lists["not_understood"]))[:NAMED]
        left_out = f"; not understood: {', '.join(rest)}" if rest else ""
        raise robot.at.wrong(f"'{robot.name}' has no link with a mass that can move: nothing can move{left_out}")
    bodies = {part.name: body_of(part, notes) for part in moving}
    ground = [*touching(robot.ground, still(), ("the world", True, robot.at), notes)]
    for part in every:
        _note_links(part, notes)
        body = bodies.get(part.name)
        notes.shapes += shapes_of(part, body)
        shapes = [*touching_shapes(part, body, notes)]
        if body is None:
            ground += shapes
        elif shapes:
            bodies[body.name] = replace(body, collision=shapes)
    ends = {tie.name: (parts[tie.a].name, parts[tie.b].name) for tie in ties}
    joints: list[Joint] = [_joint(tie, *ends[tie.name], notes) for tie in ties]
    places = dict(_places(ties))
    couplings = list(_couplings(robot.ratios, places, notes))
    coupled = {places[tie][0] for ratio in robot.ratios for tie, *_ in ratio.terms if tie in places}
    held = coupled | _in_loops(ends)
    forces: list[Force] = [*couplings]
    start = {}
    for tie, joint in zip(ties, joints, strict=True):
        begin = np.zeros(joint.dof)
        for one in tie.parts or [tie]:
            for along in one.along:
                joint_name, first = places[one.name]
                number = first + along.number
                if along.of_ball and tie.parts:
                    if along.damping or along.friction:
                        says = f"damping and friction of ball '{one.name}', which is in series with other joints"
                        notes.left_out(says, one.at)
                    continue
                begin[number] = _start(along)
                if begin[number]:
                    along = _start_outside(one, along, begin, number, tie.name in held, notes)
                forces += _acting(one, joint_name, number, along, notes)
        if begin.any():
            start[tie.name] = begin
    forces += _against_gravity(robot, parts, notes)
    for rotor in robot.rotors:
        if rotor.tie not in places:
            notes.approximated(f"rotor of joint '{rotor.tie}', which was left out: left out", rotor.at)
            continue
        joint_name, first = places[rotor.tie]
        point = next(joint.point for joint in joints if joint.name == joint_name)
        assert point is not None  # of all that a file has
        with _placed(rotor.at):
            body, hinge, coupling = rotor_of(rotor.tie, (joint_name, first + rotor.number), rotor.inertia, point)
        bodies[body.name] = body
        joints.append(hinge)
        ends[hinge.name] = hinge.body_a, hinge.body_b
        if joint_name in start:  # which the rotor would have to be found at
            start[hinge.name] = start[joint_name][first + rotor.number : first + rotor.number + 1]
        forces.append(coupling)
        notes.read(f"rotor of joint '{rotor.tie}' is a body coupled to it", rotor.at)
    tied = {name for pair in ends.values() for name in pair}
    joints += [Free(f"{part.name} floats", WORLD, part.name) for part in moving if part.name not in tied]
    initial = {"coordinates": start} if start else {}
    with _placed(robot.at):
        beside: dict[str, Any] = {"gravity": robot.gravity, "start": initial, "forces": forces, "ground": ground}
        mechanism = Mechanism(robot.name, [*bodies.values()], joints, **beside)
    return notes.attached(mechanism)


class _placed:
    """While this is open, what is wrong with the description gets the line of an element."""

    def __init__(self, at: XMLElement) -> None:
        self.at = at

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, MechanismError):
            raise self.at.wrong(str(problem)) from None


def _check_names(robot: Robot) -> None:
    """Raise MechanismError where a name is there twice, or a joint names a link that is not there."""
    for which in (robot.links, robot.ties):
        seen: dict[str, XMLElement] = {}
        for one in which:
            if one.name in seen:
                before = seen[one.name].line
                raise one.at.wrong(f"the name '{one.name}' stands at line {before} already: names must be unique")
            seen[one.name] = one.at
    if WORLD in (clashing := {link.name: link for link in robot.links}):
        raise clashing[WORLD].at.wrong("'world' names the ground: give the link another name")


def _between_bodies(robot: Robot, parts: Mapping[str, RobotPart], notes: ImportNotes) -> Iterator[Tie]:
    """Yield the ties between two bodies; a tie of a body to itself has no effect."""
    for tie in robot.ties:
        if tie.kind in (Fixed, Spherical) and parts[tie.a] is parts[tie.b]:
            notes.approximated(f"'{tie.name}' holds two parts of one rigid body together: no effect, left out", tie.at)
        else:
            yield tie


def _note_links(part: RobotPart, notes: ImportNotes) -> None:
    for link in part.links:
        notes.body_of[link.name] = part.name
        whose = f"body '{part.name}'" if part.name != WORLD else "the world"
        is_it = "is" if link.name == part.name else "is part of"
        notes.read(f"link '{link.name}' {is_it} {whose}", link.at)


def _joint(tie: Tie, a: str, b: str, notes: ImportNotes) -> Joint:
    """Return the joint of a tie."""
    with _placed(tie.at):
        assert tie.kind is not None
        fields = tie.fields
        if tie.parts:
            parts = [{"type": one.kind.__name__} | one.fields for one in tie.parts if one.kind is not None]
            fields = {"point": tie.parts[0].fields["point"], "parts": parts}
        joint = tie.kind(tie.name, a, b, **fields)
        if tie.parts and np.linalg.matrix_rank(motion_subspace(joint, np.zeros(joint.dof)), tol=NEAR) < joint.dof:
            raise MechanismError(
                f"the joints {names_text([one.name for one in tie.parts])}, with links without mass in between, allow a"
                " motion twice: their shares of the motion are undetermined; give the links a mass"
            )
    for one in tie.parts or [tie]:
        inside = f" in '{tie.name}', with massless links in between" if tie.parts else ""
        kind = one.kind.__name__ if one.kind is not None else ""
        notes.read(f"joint '{one.name}' ({one.type_name}) is a {kind}{inside}", one.at)
    return joint


def _places(ties: list[Tie]) -> Iterator[tuple[str, tuple[str, int]]]:
    for tie in ties:
        first = 0
        for one in tie.parts or [tie]:
            yield one.name, (tie.name, first)
            assert one.kind is not None
            first += one.kind(one.name, "a", "b", **one.fields).dof


def _couplings(ratios: list[Ratio], places: Places, notes: ImportNotes) -> Iterator[Coupling | CoordinateMap]:
    for ratio in ratios:
        if any(tie not in places for tie, *_ in ratio.terms):
            notes.approximated(f"{ratio.name} is of a joint that was left out: left out", ratio.at)
            continue
        terms = [(places[tie][0], places[tie][1] + number, factor) for tie, number, factor in ratio.terms]
        made: Coupling | CoordinateMap
        with _placed(ratio.at):
            if ratio.polynomial:
                follower, leader = (term[:2] for term in terms)
                made = CoordinateMap(ratio.name, coordinates=[leader, follower], polynomials=[ratio.polynomial])
            else:
                made = Coupling(ratio.name, terms=terms)
        yield made
        notes.read(f"{ratio.name} is a {type(made).__name__}", ratio.at)


def _against_gravity(robot: Robot, parts: Mapping[str, RobotPart], notes: ImportNotes) -> Iterator[Force]:
    """Yield forces against gravity on weightless links."""
    size = float(np.linalg.norm(robot.gravity))
    for link in robot.links:
        if link.name in robot.weightless and size and link.mass and parts[link.name].name != WORLD:
            notes.read(f"link '{link.name}' has no weight: a force against gravity acts on it", link.at)
            at, against = link.pose.R @ link.com + link.pose.p, -robot.gravity
            name = f"no weight of {link.name}"
            yield PointForce(name, parts[link.name].name, direction=against, magnitude=link.mass * size, point=at)


def _in_loops(ends: Mapping[str, tuple[str, str]]) -> set[str]:
    """Return the names of the ties with these ends that lie in a loop."""
    import networkx as nx  # slow to import

    graph = nx.Graph(pair for pair in ends.values() if pair[0] != pair[1])
    bridges = {frozenset(pair) for pair in nx.bridges(graph)}
    counts = Counter(frozenset(pair) for pair in ends.values())
    pairs = {name: frozenset(pair) for name, pair in ends.items()}
    return {name for name, pair in pairs.items() if pair not in bridges or counts[pair] > 1}


def _start(along: Acting) -> float:
    """Return the coordinate inside the limits that is nearest to zero."""
    return max(along.lower, min(along.upper, 0.0))


def _start_outside(tie: Tie, along: Acting, begin: np.ndarray, number: int, held: bool, notes: ImportNotes) -> Acting:
    """Return efforts along a coordinate whose limits exclude the file's zero: it starts at a limit, or is free."""
    says = f"the limits of joint '{tie.name}' leave out its zero pose"
    if held:  # by a loop or a coupling, which other joints have a say in
        begin[number] = 0.0
        notes.approximated(f"{says}, which a loop or a coupling holds: no stop made", tie.at)
        return along._replace(lower=-np.inf, upper=np.inf)
    notes.approximated(f"{says}: it starts at {begin[number]:g}", tie.at)
    return along


def _acting(tie: Tie, joint: str, number: int, along: Acting, notes: ImportNotes) -> Iterator[Force]:
    """Yield the forces along a coordinate of ``joint``."""
    at: dict[str, Any] = {"joint": joint, "coordinate": None if along.of_ball else number}
    name = tie.name if not along.number else f"{tie.name} {along.number}"
    with _placed(tie.at):
        if np.isfinite([along.lower, along.upper]).any():
            yield JointStop(f"limits of {name}", lower=along.lower, upper=along.upper, **at)
            notes.read(f"limits of joint '{name}' are a JointStop, hard", tie.at)
        if along.stiffness:
            yield TorsionSpring(f"spring of {name}", stiffness=along.stiffness, rest_angle=along.rest, **at)
            notes.read(f"spring of joint '{name}' is a TorsionSpring", tie.at)
        if along.damping:
            yield JointDamper(f"damping of {name}", damping=along.damping, **at)
            notes.read(f"damping of joint '{name}' is a JointDamper", tie.at)
        if along.friction:
            force = JointFriction(f"friction of {name}", effort=along.friction, **at)
            yield force
            smooth = f"it sets in over {force.smoothing:g} rad/s or m/s, and nothing sticks"
            if along.of_ball:
                smooth = f"about each axis of the child by itself, {smooth}"
            notes.approximated(f"friction of joint '{name}' is a JointFriction: {smooth}", tie.at)
