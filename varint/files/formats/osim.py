"""Models of OpenSim 4: bodies, joints, couplings of coordinates, muscles with paths and wraps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from varint.base.display import names_text
from varint.files.formats.base import Format, register
from varint.files.osim.joints import CoordinatePlaces, OsimJoint, is_empty, note_rest, tie_of
from varint.files.osim.muscles import OsimMuscles
from varint.files.osim.without_effect import note_without_effect
from varint.files.robots.mechanism import mechanism_of
from varint.files.robots.robot import Link, Pose, Ratio, Robot, Tie
from varint.files.robots.xml_files import XMLElement, load_xml, reads
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes

OLDEST = 40000
GROUND = "ground"
NO_SAY = {  # what has no effect on the motion
    "credits", "publications", "length_units", "force_units", "MarkerSet", "ContactGeometrySet",
    "ProbeSet", "ModelVisualPreferences", "Ground", "assembly_accuracy",
}  # fmt: skip
OF_COUPLER = {
    "isEnforced", "coupled_coordinates_function", "independent_coordinate_names", "dependent_coordinate_name",
    "scale_factor",
}  # fmt: skip
READ = {"gravity", "BodySet", "JointSet", "ForceSet", "ConstraintSet"}

register(Format(".osim", "OpenSim 4: bodies, joints, muscles", load_xml, imports=True))


@reads("OpenSimDocument", "OpenSim")
def read(root: XMLElement, notes: ImportNotes, packages: Sequence[Path]) -> Mechanism:
    """Return the mechanism of a model. Raises FileError and MechanismError, with line."""
    version = int(root.number("Version", 0.0))
    if version < OLDEST:
        raise root.error(f"a file of OpenSim 4 is needed, this is of version {version}: open it there and save it")
    model = root.child("Model")
    for child in model.children:
        if child.tag not in READ | NO_SAY and not is_empty(child):
            notes.not_understood(f"<{child.tag}> of the model", child)
    joints = [OsimJoint(each, notes) for each in objects(model, "JointSet")]
    poses = _poses(joints, model)
    links = [_link(each, poses, notes) for each in objects(model, "BodySet")]
    order = {name: number for number, name in enumerate(poses)}
    links.sort(key=lambda link: order[link.name])
    coordinates = CoordinatePlaces()
    ties = [tie_of(joint, poses, coordinates, notes) for joint in joints]
    ratios = [*coordinates.ratios, *_couplers(model, coordinates, notes)]
    down = model.child("gravity").own_numbers(3) if model.one("gravity") else (0.0, -9.80665, 0.0)
    name = model.attributes.get("name", "").strip() or "model"
    note_without_effect(model, notes)
    for ground in model.all("Ground"):
        note_rest(ground, ("WrapObjectSet",), notes)
    robot = Robot(name, model, links, _chained(ties), ratios, np.array(down))
    mechanism = mechanism_of(robot, notes)
    muscles = OsimMuscles({link.name: link.pose for link in links}, _wraps(model), notes)
    forces = [force for each in objects(model, "ForceSet") for force in muscles.read(each)]
    start = _start(mechanism, coordinates, notes)
    return notes.attached(replace(mechanism, forces=[*mechanism.forces, *forces], start=start))


def objects(model: XMLElement, name: str) -> list[XMLElement]:
    """Return the objects of a set of the model, [] if it is missing."""
    whole = model.one(name)
    listed = None if whole is None else whole.one("objects")
    return [] if listed is None else listed.children


def _poses(joints: Sequence[OsimJoint], model: XMLElement) -> dict[str, Pose]:
    """Return the pose of each body at zero coordinates, with the constants of the joints.

    Parents precede their children.
    """
    names = {each.need("name") for each in objects(model, "BodySet")}
    for joint in joints:
        for body in (joint.parent, joint.child):
            if body not in names | {GROUND}:
                raise joint.at.wrong(f"joint '{joint.name}' is on a body '{body}', which is not there")
    poses: dict[str, Pose] = {GROUND: Pose(np.eye(3), np.zeros(3))}
    left = list(joints)
    while left:
        known = [joint for joint in left if joint.parent in poses and joint.child not in poses]
        if not known:
            closing = next((joint for joint in left if joint.parent in poses and joint.child in poses), left[0])
            raise closing.at.wrong(f"joint '{closing.name}' closes a loop, which OpenSim has as constraints alone")
        for joint in known:
            if joint.child not in poses:
                poses[joint.child] = poses[joint.parent] @ joint.across
        left = [joint for joint in left if joint not in known]
    loose = [name for name in names if name not in poses]
    if loose:
        raise model.wrong(f"no joint leads to the bodies {names_text(loose)}: give them one")
    return poses


def _link(at: XMLElement, poses: Mapping[str, Pose], notes: ImportNotes) -> Link:
    name, (xx, yy, zz, xy, xz, yz) = at.need("name"), _numbers(at, "inertia", 6)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    note_rest(at, ("mass", "mass_center", "inertia", "WrapObjectSet"), notes)
    centre = np.array(_numbers(at, "mass_center", 3))
    return Link(name, at, poses[name], _numbers(at, "mass", 1)[0], centre, inertia)


def _numbers(at: XMLElement, tag: str, count: int) -> list[float]:
    child = at.one(tag)
    return [0.0] * count if child is None else child.own_numbers(count)


def _chained(ties: Sequence[Tie]) -> list[Tie]:
    """Return the ties with the world in place of the ground."""
    for tie in ties:
        for one in (tie, *tie.parts):
            one.a = WORLD if one.a == GROUND else one.a
    return list(ties)


def _couplers(model: XMLElement, coordinates: CoordinatePlaces, notes: ImportNotes) -> Iterator[Ratio]:
    """Yield couplings of two coordinates by a linear function."""
    for at in objects(model, "ConstraintSet"):
        name, enforced = at.attributes.get("name", at.tag), at.one("isEnforced")
        if enforced is not None and enforced.text.strip() == "false":
            notes.read(f"constraint '{name}' is not enforced: left out", at)
            continue
        if at.tag != "CoordinateCouplerConstraint":
            notes.left_out(f"constraint '{name}' ({at.tag})", at)
            continue
        note_rest(at, OF_COUPLER, notes)
        ratio = coordinates.coupled(at, name)
        if ratio is None:
            notes.left_out(f"constraint '{name}' by another than a linear function of one coordinate", at)
        else:
            yield ratio


def _wraps(model: XMLElement) -> dict[str, tuple[str, XMLElement]]:
    """Return the body and the element of each wrap object, by its name."""
    ground = model.one("Ground")
    bodies = [*objects(model, "BodySet"), *([ground] if ground else [])]
    places = {}
    for at in bodies:
        body = at.attributes.get("name", GROUND) if at.tag != "Ground" else GROUND
        for each in objects(at, "WrapObjectSet"):
            places[each.need("name")] = (WORLD if body == GROUND else body, each)
    return places


def _start(mechanism: Mechanism, coordinates: CoordinatePlaces, notes: ImportNotes) -> dict:
    """Start with the default values of the coordinates and of their rates."""
    start: dict[str, dict[str, np.ndarray]] = {}
    for key, defaults in {"coordinates": coordinates.default, "rates": coordinates.speed}.items():
        for (name, _), value in defaults.items():
            if value and name not in mechanism.joint_index:
                notes.approximated(f"default {key} of joint '{name}', which is part of another: they start at zero")
        for joint in mechanism.joints:
            values = np.array([defaults.get((joint.name, k), 0.0) for k in range(joint.dof)])
            if values.any():
                start.setdefault(key, {})[joint.name] = values
    return start
