"""Shapes of SDF, with the friction and restitution of their surfaces."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.files.robots.colours import MATERIAL, sdf_colour
from varint.files.robots.packages import found_file
from varint.files.robots.reading import OF_CONTACTS, RobotReading
from varint.files.robots.robot import Pose, RobotShape
from varint.files.robots.sdf_frames import Scope
from varint.files.robots.xml_files import XMLElement
from varint.model.rotation_vectors import rotation_matrix
from varint.model.shapes import quat_from_z

SHAPES = {
    "drake:capsule": ("radius 1", "length 1"),
    "drake:ellipsoid": ("a 1", "b 1", "c 1"),
    "box": ("size 3",),
    "cylinder": ("radius 1", "length 1"),
    "capsule": ("radius 1", "length 1"),
    "sphere": ("radius 1",),
    "ellipsoid": ("radii 3",),
}
WITHOUT_SHAPE = ("empty",)
SURFACE = {"friction": ("friction", "ode", "mu"), "restitution": ("bounce", "restitution_coefficient")}
SURFACE_READ = {"friction": {"ode": {"mu": {}}}, "bounce": {"restitution_coefficient": {}}}
SURFACE_LEFT = ("soft_contact", "torsional", "bullet", "fdir1", "mu2", "slip1", "slip2", "threshold")


class SDFShapes(RobotReading):
    """Reads shapes of links."""

    def shape(self, element: XMLElement, role: str, scope: Scope, name: str) -> list[RobotShape]:
        """Return the shapes in a visual or collision part of the link ``name``, with coefficients of friction."""
        seen = role == "visual"
        self.note_unknown(element, ("pose", "geometry", "surface", *[MATERIAL] * seen), ("name",))
        rgba = sdf_colour(self, element) if seen else None
        geometry = element.child("geometry")
        self.note_unknown(geometry, [of.tag for of in geometry.children], ())
        shapes = []
        for of in geometry.children:
            pose = scope.frame(name, element).inverse() @ scope.posed(element, name)
            if of.tag == "mesh":
                self.note_unknown(of, ("uri", "scale"), ())
                uri = of.child("uri").text.strip()
                path = found_file(uri, element.path, self.packages)
                if path is None:
                    self.notes.approximated(f"the file of a <mesh> of link '{name}' is not found: {uri}", of)
                scale = of.one("scale")
                sizes = tuple(scale.own_numbers(3)) if scale is not None else (1.0, 1.0, 1.0)
                shapes.append(RobotShape(role, "mesh", sizes, path or uri, pose))
            elif of.tag in SHAPES:
                self.note_unknown(of, [part.split()[0] for part in SHAPES[of.tag]], ())
                sizes = tuple(
                    value
                    for part in SHAPES[of.tag]
                    for value in of.child(part.split()[0]).own_numbers(int(part.split()[1]))
                )
                shapes.append(RobotShape(role, of.tag.removeprefix("drake:"), sizes, "", pose))
            elif of.tag == "plane":
                self.note_unknown(of, ("normal", "size"), ())
                for size in of.all("size"):
                    self.leave_out(size, "planes have no end", "<size> of <plane>")
                normal = of.one("normal")
                along = np.array(normal.own_numbers(3)) if normal is not None else np.array([0.0, 0.0, 1.0])
                turn = Pose(rotation_matrix(quat_from_z(along)), np.zeros(3))
                shapes.append(RobotShape(role, "plane", (), "", pose @ turn))
            elif of.tag not in WITHOUT_SHAPE:
                self.notes.not_understood(f"shape <{of.tag}> of link '{name}'", of)
        for inner in element.all("surface"):
            self._note_surface(inner, SURFACE_READ)
        surface = _surface(element)
        return [shape._replace(rgba=rgba, **surface) for shape in shapes]

    def _note_surface(self, element: XMLElement, read: Mapping[str, Any]) -> None:
        """Note the parts of a <surface> that are not ``read``."""
        self.note_unknown(element, (*read, *SURFACE_LEFT), ())
        for child in element.children:
            if child.tag in read:
                self._note_surface(child, read[child.tag])
            elif child.tag in SURFACE_LEFT:
                self.leave_out(child, OF_CONTACTS, f"<{child.tag}> of <surface>")


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
