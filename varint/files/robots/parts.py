"""The rigid bodies of a robot: links that are fixed to one another are one, links without mass are part of a joint."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from varint.base.display import names_text
from varint.base.errors import MechanismError
from varint.files.robots.collision import COLLISION, touching
from varint.files.robots.inertia_repair import nearest_inertia, repair_text
from varint.files.robots.kinds import Composite
from varint.files.robots.robot import Link, Pose, Robot, Tie
from varint.files.robots.xml_files import XMLElement
from varint.model.body import WORLD, Body, checked_inertia
from varint.model.collision_shapes import CollisionShape
from varint.model.import_report import REPAIR, ImportedShape, ImportNotes
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.shapes import combine

REPAIRED = 0.01  # of the largest moment of inertia: by how much digits that were cut off may break the triangle


@dataclass(eq=False)
class RobotPart:
    """Links that are one rigid body, whose axes and name are those of the first; or the world."""

    name: str
    links: list[Link]

    @cached_property
    def mass(self) -> float:
        """Return the mass, kg."""
        return sum(link.mass for link in self.links)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the centre of mass (3,), m, world, and the inertia (3, 3) about it, kg m^2, axes of the world."""
        heavy = [link for link in self.links if link.mass or link.inertia.any()]
        centres = np.array([link.pose.R @ link.com + link.pose.p for link in heavy])
        inertias = np.array([link.pose.R @ link.inertia @ link.pose.R.T for link in heavy])
        _, centre, inertia = combine(np.array([link.mass for link in heavy]), centres, inertias)
        return centre, inertia

    @property
    def at(self) -> XMLElement:
        """Return the first link's element in the file."""
        return self.links[0].at

    @property
    def label(self) -> str:
        """Return the name in messages."""
        names = [link.name for link in self.links]
        return f"link '{names[0]}'" if len(names) == 1 else f"link '{names[0]}' with what is fixed to it"


def parts_of(robot: Robot) -> dict[str, RobotPart]:
    """Name of each link, and of the world, to the part that it is in."""
    above: dict[str, str] = {name: name for name in (WORLD, *(link.name for link in robot.links))}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    order = {name: number for number, name in enumerate(above)}
    for tie in robot.ties:
        if tie.kind is None:
            first, second = sorted((top(tie.a), top(tie.b)), key=order.__getitem__)
            above[second] = first
    parts: dict[str, RobotPart] = {}
    for name in above:
        parts.setdefault(top(name), RobotPart(top(name), []))
    for link in robot.links:
        parts[top(link.name)].links.append(link)
    return {name: parts[top(name)] for name in above}


def without_massless(robot: Robot, parts: dict[str, RobotPart], notes: ImportNotes) -> list[Tie]:
    """Return the moving ties, both ties of a massless part as one; remove massless parts from ``parts``."""
    ties = dict(enumerate(tie for tie in robot.ties if tie.kind is not None))
    massless = {part for part in parts.values() if part.name != WORLD and not part.mass}
    for part in parts.values():
        turning = [link for link in part.links if link.inertia.any()] if part in massless else []
        if turning:
            defect = part.at.wrong(f"{part.label} has moments of inertia and no mass: give it a mass")
            largest = max(np.abs(link.inertia).max() for link in turning)
            change = f"{part.label} has no mass: its moments of inertia, up to {largest:g} kg m^2, left out"
            notes.mend(defect, change, part.at)
        for link in turning:
            link.inertia = np.zeros((3, 3))
    touching: dict[RobotPart, list[int]] = {part: [] for part in parts.values()}
    for number, tie in ties.items():
        for part in {parts[tie.a], parts[tie.b]}:
            touching[part].append(number)
    left = _without_ends(ties, massless, parts, touching, notes)
    for part in dict.fromkeys(parts.values()):
        if part in left:
            _join(part, ties, parts, touching)
    for name in [name for name, part in parts.items() if part in massless]:
        del parts[name]
    return list(ties.values())


def _without_ends(
    ties: dict[int, Tie],
    massless: set[RobotPart],
    parts: dict[str, RobotPart],
    touching: dict[RobotPart, list[int]],
    notes: ImportNotes,
) -> set[RobotPart]:
    """Return the massless parts that carry mass; ties of massless parts at an end are removed."""
    left = set(massless)
    ends = [part for part in dict.fromkeys(parts.values()) if part in left and len(touching[part]) < 2]
    for part in ends:
        left.discard(part)
        numbers = touching[part]
        ending = ", with " + _named(ties[numbers[0]]) if numbers else ""
        notes.approximated(f"{part.label} has no mass and nothing hangs on it: left out{ending}", part.at)
        for number in numbers:
            tie = ties.pop(number)
            (other,) = {parts[tie.a], parts[tie.b]} - {part} or {part}
            touching[other].remove(number)
            if other in left and len(touching[other]) == 1:
                ends.append(other)
    return left


def _join(
    part: RobotPart, ties: dict[int, Tie], parts: dict[str, RobotPart], touching: dict[RobotPart, list[int]]
) -> None:
    """Make one of the tie before a massless part and the one behind it. Raises MechanismError."""
    numbers = touching[part]
    before = [number for number in numbers if parts[ties[number].b] is part]
    after = [number for number in numbers if parts[ties[number].a] is part]
    if len(before) != 1 or len(after) != 1:
        names = names_text([ties[number].name for number in numbers])
        raise part.at.wrong(
            f"{part.label} has no mass, and the joints {names} meet there: its motion is undetermined; give it a mass"
        )
    first, second = before[0], after[0]
    ties[first] = joined(ties[first], ties.pop(second))
    far = touching[parts[ties[first].b]]
    far[far.index(second)] = first


def joined(first: Tie, second: Tie) -> Tie:
    """Return two ties with a massless part in between as one."""
    members = [*(first.parts or [first]), *(second.parts or [second])]
    name = " + ".join(tie.name for tie in members)
    return Tie(name, "joints with massless links in between", first.at, first.a, second.b, Composite, parts=members)


def _named(tie: Tie) -> str:
    return f"joint '{tie.name}'" if not tie.parts else f"joints {names_text([part.name for part in tie.parts])}"


def body_of(part: RobotPart, notes: ImportNotes) -> Body:
    """Return the body of a part. Raises MechanismError."""
    centre, inertia = part.moments
    R = part.links[0].pose.R
    inertia = _possible(_without_cut_digits(R.T @ inertia @ R, part, notes), part, notes)
    try:
        return Body(part.name, mass=part.mass, inertia=inertia, position=centre, quat_wxyz=quat_from_matrix(R))
    except MechanismError as problem:
        raise part.at.wrong(str(problem)) from None


def _possible(inertia: np.ndarray, part: RobotPart, notes: ImportNotes) -> np.ndarray:
    """Return a possible inertia: that of the file, or the nearest. Raises MechanismError without repair."""
    try:
        return checked_inertia(inertia, f"body '{part.name}'")
    except MechanismError as problem:
        nearest = nearest_inertia(inertia, part.mass)
        if not notes.repair or nearest is None:
            advice = f": correct it, or load the file with {REPAIR}" if nearest is not None else ""
            raise part.at.wrong(f"{problem}{advice}") from None
    notes.repaired(repair_text(part.label, inertia, nearest, part.mass), part.at)
    return nearest


def _without_cut_digits(inertia: np.ndarray, part: RobotPart, notes: ImportNotes) -> np.ndarray:
    """Return the inertia with smaller moments raised where truncated digits break the triangle inequality."""
    if not np.isfinite(inertia).all():
        return inertia
    moments, axes = np.linalg.eigh(0.5 * (inertia + inertia.T))
    excess = moments[2] - moments[0] - moments[1]
    if moments[0] <= 0.0 or not 1e-9 * moments[2] < excess <= REPAIRED * moments[2]:
        return inertia
    notes.approximated(
        f"{part.label}: its largest moment of inertia is {excess / moments[2]:.2g} of itself above the sum of the other"
        " two, which no body has: these were raised",
        part.at,
    )
    return (axes * (moments + np.array([0.5, 0.5, 0.0]) * excess)) @ axes.T


def shapes_of(part: RobotPart, body: Body | None) -> list[ImportedShape]:
    """Return the shapes of the links on ``body``, or on the world.

    Pictures leave out the collision shapes of a body that has visual ones. Those of a link that has no others are
    visual ones too where the format shows them: a bone on the world beside a skeleton that only decorates.
    """
    shapes = []
    name = body.name if body is not None else WORLD
    for link in part.links:
        is_bare = all(shape.role == COLLISION for shape in link.shapes)
        for shape in link.shapes:
            pose = _seen_from(part, body, link) @ shape.pose
            place = pose.p, quat_from_matrix(pose.R), isinstance(shape.mesh, Path)
            hidden = shape.role != COLLISION and shape.shown is False
            is_both = is_bare and shape.shown and len(part.links) > 1
            for role in (shape.role, "visual") if is_both else (shape.role,):
                seen = shape.kind, shape.sizes, str(shape.mesh), *place, shape.rgba, hidden
                shapes.append(ImportedShape(name, role, *seen))
    return shapes


def touching_shapes(part: RobotPart, body: Body | None, notes: ImportNotes) -> Iterator[CollisionShape]:
    """Yield the collision shapes of the links, for ``body`` or the ground."""
    for link in part.links:
        whose = f"link '{link.name}'", body is None, link.at
        yield from touching(link.shapes, _seen_from(part, body, link), whose, notes)


def _seen_from(part: RobotPart, body: Body | None, link: Link) -> Pose:
    """Return the pose of a link from the centre of mass of the body in its axes, or in the world."""
    if body is None:
        return link.pose
    axes = part.links[0].pose.R
    return Pose(axes.T @ link.pose.R, axes.T @ (link.pose.p - body.position))
