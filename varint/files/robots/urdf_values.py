"""Read values from elements of URDF: axes, poses, inertias; list the elements that are left out."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from varint.files.robots.robot import Pose, pose_of, still
from varint.files.robots.xml_files import XMLElement
from varint.model.body import WORLD
from varint.model.import_report import ImportNotes
from varint.model.rotation_vectors import rotation_matrix

OF_LIMIT = ("effort", "velocity", "drake:acceleration")  # attributes without effect on the motion
ONCE = ("inertial", "axis", "limit", "dynamics", "origin", "mimic")  # elements of a link or a joint
VERSIONS = ("1", "1.0", "1.1", "1.2")  # of URDF that are read; each has all elements of the earlier ones
LEFT_OUT = {  # known elements of robots, links and joints without effect on the motion, with the reason in reports
    "material": "a colour",
    "transmission": "motors are not imported",
    "ros2_control": "of controllers",
    "sensor": "of sensors",
    "safety_controller": "of controllers",
    "calibration": "of sensors",
    "hardwareInterface": "of controllers",
    "contact": "contacts are not imported",
    "self_collision_checking": "contacts are not imported",
    "collision_checking": "contacts are not imported",
    "verbose": "of collisions",
    "drake:proximity_properties": "contacts are not imported",
    "drake:collision_filter_group": "contacts are not imported",
    "drake:accepting_renderer": "a colour",
    "drake:perception_properties": "a colour",
    "drake:illustration_properties": "a colour",
    "drake:diffuse_map": "a colour",
    "drake:declare_convex": "contacts are not imported",
}

INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
POSE = ("xyz", "rpy", "quat_xyzw")
LEAVES = {  # elements without elements inside, and their attributes
    "origin": POSE,
    "mass": ("value",),
    "inertia": INERTIA,
    "axis": ("xyz",),
    "parent": ("link",),
    "child": ("link",),
}

SIZES = {  # of shapes: attributes, and the numbers of each
    "drake:capsule": ("radius length", 1),
    "drake:ellipsoid": ("a b c", 1),
    "box": ("size", 3),
    "cylinder": ("radius length", 1),
    "capsule": ("radius length", 1),
    "sphere": ("radius", 1),
}


def world_of(
    joints: Iterable[XMLElement], links: Mapping[str, XMLElement], notes: ImportNotes
) -> dict[str, XMLElement]:
    """Return the link "world" that joints have as their parent and the file does not have; empty where it is there."""
    for joint in joints if WORLD not in links else ():
        parent = joint.one("parent")
        if parent is not None and parent.attributes.get("link") == WORLD:
            notes.read(f"parent '{WORLD}', no link of the file, is the world, as Drake has it", parent)
            return {WORLD: XMLElement("link", {"name": WORLD}, parent.line, parent.path)}
    return {}


def axis_of(joint: XMLElement) -> np.ndarray:
    """Return the unit vector (3,) along the axis of ``joint``, in the joint's frame.

    Without an <axis> it is x. Raises MechanismError for a zero axis.
    """
    element = joint.one("axis")
    if element is None:
        return np.array([1.0, 0.0, 0.0])
    axis = np.array(element.numbers("xyz", 3))
    size = np.abs(axis).max()
    if not size:
        raise element.wrong(f"the axis of joint '{joint.need('name')}' must not be zero")
    axis = axis / size
    return axis / np.linalg.norm(axis)


def origin_of(element: XMLElement) -> Pose:
    """Return the pose in the <origin> of ``element``, by default the identity. Raises MechanismError."""
    origin = element.one("origin")
    return still() if origin is None else pose_in(origin)


def pose_in(element: XMLElement) -> Pose:
    """Return the pose in the attributes of ``element``: "xyz", m, and "rpy", rad, or "quat_xyzw".

    Missing attributes are zero. Raises MechanismError if there are both rotations, or for a zero quaternion.
    """
    xyz = element.numbers("xyz", 3, (0.0, 0.0, 0.0))
    if "quat_xyzw" not in element.attributes:
        return pose_of(xyz, element.numbers("rpy", 3, (0.0, 0.0, 0.0)))
    if "rpy" in element.attributes:
        raise element.error(f"<{element.tag}> has 'rpy' and 'quat_xyzw': leave one out")
    x, y, z, w = element.numbers("quat_xyzw", 4)
    norm = math.hypot(x, y, z, w)
    if not norm > 0.0:
        raise element.wrong(f"'quat_xyzw' of <{element.tag}> must not be zero")
    return Pose(rotation_matrix(np.array([w, x, y, z]) / norm), np.array(xyz))


def inertia_of(inertia: XMLElement) -> np.ndarray:
    """Return the inertia (3, 3), kg m^2, in the six attributes of ``inertia``; missing products of inertia are zero."""
    xx, yy, zz = (inertia.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
