"""Collision shapes of the links of a robot file, as shapes of a body or of the ground; meshes as their convex hulls."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from varint.base.errors import FileError, MechanismError
from varint.files.robots.robot import Pose, RobotShape
from varint.files.robots.xml_files import XMLElement
from varint.geometry.convex_hull import farthest_points
from varint.model.collision_shapes import (
    BoxShape,
    CapsuleShape,
    CollisionShape,
    ConvexMesh,
    CylinderShape,
    PlaneShape,
    SphereShape,
)
from varint.model.import_report import ImportNotes
from varint.model.mesh_file import read_mesh
from varint.model.rotation_vectors import quat_from_matrix

MOST_CORNERS = 200  # of the hull of a mesh of a file
COLLISION = "collision"


def touching(
    shapes: Sequence[RobotShape], place: Pose, whose: tuple[str, bool, XMLElement], notes: ImportNotes
) -> Iterator[CollisionShape]:
    """Yield the collision shapes of a link; ``place``: pose of the link in the axes of the shapes to be made.

    ``whose``: name of the link in the report, whether it is at rest in the world, and where it stands in the file. What
    no shape can hold is noted and left out.
    """
    name, at_rest, at = whose
    for shape in (shape for shape in shapes if shape.role == COLLISION):
        surface = {"friction": shape.friction, "restitution": shape.restitution}
        try:
            made = _shape(shape, place @ shape.pose, surface, at_rest)
        except (MechanismError, FileError) as problem:
            notes.approximated(f"a collision shape of {name}, {shape.kind}, is left out: {problem}", at)
            continue
        if shape.kind == "mesh":
            notes.approximated(f"a collision mesh of {name} is its convex hull", at)
        else:
            notes.read(f"a collision shape of {name} is a {type(made).__name__}", at)
        yield made


def _shape(shape: RobotShape, pose: Pose, surface: dict, at_rest: bool) -> CollisionShape:
    """Return the collision shape of a shape. Raises MechanismError and FileError."""
    R, p, sizes = pose.R, pose.p, np.array(shape.sizes)
    if shape.kind == "sphere":
        return SphereShape(sizes[0], p, **surface)
    if shape.kind == "box":
        return BoxShape(sizes, p, quat_from_matrix(R), **surface)
    if shape.kind in ("capsule", "cylinder"):
        half = 0.5 * sizes[1] * R[:, 2]
        kind = CapsuleShape if shape.kind == "capsule" else CylinderShape
        return kind(p - half, p + half, sizes[0], **surface)
    if shape.kind == "plane":
        if not at_rest:
            raise MechanismError("a plane of a body that moves")
        return PlaneShape(p, R[:, 2], **surface)
    if shape.kind == "mesh":
        points = shape.points
        if points is None:
            if not isinstance(shape.mesh, Path):
                raise FileError(f"no file '{shape.mesh}'")
            points = np.asarray(read_mesh(shape.mesh).vertices, dtype=float) * shape.sizes
        points = farthest_points(points, MOST_CORNERS)
        return ConvexMesh(points, p, quat_from_matrix(R), hull=True, **surface)
    raise MechanismError(f"no shape that touches is a {shape.kind}")
