"""Collision shapes written as elements of MJCF and URDF, in axes of a body from its centre of mass, or in the world."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from varint.base.errors import FileError
from varint.files.robots.robot import Pose
from varint.model.collision_shapes import (
    BoxShape,
    CapsuleShape,
    CollisionShape,
    ConvexMesh,
    CylinderShape,
    HeightField,
    PlaneShape,
    SphereShape,
)
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.shapes import quat_from_z


def numbers(values: object) -> str:
    """Return numbers as text that reads back to the same bits."""
    return " ".join(repr(float(value)) for value in np.ravel(values))  # type: ignore[call-overload]


class Placed(NamedTuple):
    """A shape as robot files have it: ``kind``, sizes as in `ImportedShape`, and the pose of its own axes."""

    kind: str
    sizes: tuple[float, ...]
    pose: Pose


def placed(shape: CollisionShape) -> Placed:
    """Return a shape with its own axes. Raises FileError for a height field."""
    if isinstance(shape, HeightField):
        raise FileError("a HeightField is written to no robot file: leave it out of the mechanism that is written")
    if isinstance(shape, SphereShape):
        return Placed("sphere", (shape.radius,), Pose(np.eye(3), shape.center))
    if isinstance(shape, CapsuleShape | CylinderShape):
        kind = "capsule" if isinstance(shape, CapsuleShape) else "cylinder"
        along = shape.b - shape.a
        pose = Pose(rotation_matrix(quat_from_z(along)), 0.5 * (shape.a + shape.b))
        return Placed(kind, (shape.radius, float(np.linalg.norm(along))), pose)
    if isinstance(shape, PlaneShape):
        return Placed("plane", (), Pose(rotation_matrix(quat_from_z(shape.normal)), shape.point))
    assert isinstance(shape, BoxShape | ConvexMesh)
    axes = Pose(rotation_matrix(shape.quat_wxyz), shape.position)
    return Placed("box", tuple(shape.size), axes) if isinstance(shape, BoxShape) else Placed("mesh", (), axes)


def geoms(shapes: Sequence[CollisionShape], assets: list[str]) -> list[str]:
    """Return elements of MJCF; lines of meshes are added to ``assets``."""
    lines = []
    for shape in shapes:
        kind, sizes, pose = placed(shape)
        if kind == "box":
            sizes = tuple(0.5 * size for size in sizes)
        elif kind in ("capsule", "cylinder"):
            sizes = sizes[0], 0.5 * sizes[1]
        elif kind == "plane":
            sizes = 0.0, 0.0, 1.0
        attributes = {"size": numbers(sizes)} if sizes else {}
        if isinstance(shape, ConvexMesh):
            name = f"mesh {len(assets)}"
            assets.append(f'<mesh name="{name}" vertex="{numbers(shape.vertices)}"/>')
            attributes = {"mesh": name}
        attributes |= {"pos": numbers(pose.p), "quat": numbers(quat_from_matrix(pose.R))}
        if shape.friction is not None:
            attributes["friction"] = f"{shape.friction!r} 0.005 0.0001"
        lines.append(
            f'<geom type="{kind}" {" ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items())}/>'
        )
    return lines


def mesh_text(mesh: ConvexMesh) -> str:
    """Return the text of an OBJ file."""
    corners = [f"v {numbers(vertex)}" for vertex in mesh.vertices]
    faces = [f"f {' '.join(str(int(number) + 1) for number in loop)}" for loop in mesh.core().faces]
    return "\n".join([*corners, *faces]) + "\n"


def collisions(shapes: Sequence[CollisionShape], frame: Pose, files: dict[str, str], path: Path) -> list[str]:
    """Return elements of URDF in a link whose origin is at ``frame``, in axes of the body.

    Meshes are added to ``files``, by their names beside the ``path`` of the URDF. Raises FileError for a plane, and
    for what is hollow.
    """
    lines = []
    for shape in shapes:
        kind, sizes, pose_of_shape = placed(shape)
        if kind == "plane":
            raise FileError(f"cannot write '{path}': URDF has no plane, as a collision shape of a body is")
        if shape.hollow:
            raise FileError(f"cannot write '{path}': URDF has no {type(shape).__name__}, as a collision shape is")
        pose = frame.inverse() @ pose_of_shape
        names = {"sphere": ("radius",), "box": ("size",), "mesh": ()}.get(kind, ("radius", "length"))
        values = [numbers(sizes)] if kind == "box" else [numbers([size]) for size in sizes]
        attributes = " ".join(f'{key}="{value}"' for key, value in zip(names, values, strict=True))
        if isinstance(shape, ConvexMesh):
            name = f"{path.stem}-mesh-{len(files)}.obj"
            files[name] = mesh_text(shape)
            attributes = f"filename={quoteattr(name)}"
        lines.append("<collision>")
        lines.append(f'  <origin xyz="{numbers(pose.p)}" rpy="{numbers(roll_pitch_yaw(pose.R))}"/>')
        lines.append(f"  <geometry><{kind} {attributes}/></geometry>")
        lines.append("</collision>")
    return lines


def roll_pitch_yaw(R: np.ndarray) -> np.ndarray:
    """Return turns about the fixed axes x, y, z, each from the rotation left by the others, exact at any pose."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    left = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    return np.array([np.arctan2(-left[1, 2], left[1, 1]), np.arctan2(-left[2, 0], left[0, 0]), yaw])
