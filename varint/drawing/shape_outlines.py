"""Shapes that touch as pictures show them: convex outlines of bodies, planes of the ground."""

import numpy as np

from varint.model.body import Body
from varint.model.collision_shapes import PlaneShape
from varint.model.forces.base import PlaneContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.solid import Solid
from varint.model.structure import Structure

CORNERS = 32  # of a circle
TURNS = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
CIRCLE = np.stack([np.cos(TURNS), np.sin(TURNS), 0.0 * TURNS], axis=1)
SPHERE = np.concatenate([CIRCLE, CIRCLE[:, [0, 2, 1]], CIRCLE[:, [2, 0, 1]]])


def shape_outlines(body: Body) -> list[np.ndarray]:
    """Return points (k, 3), m, body axes from the centre of mass, whose convex hulls are a body's bounded shapes.

    Where none of it touches, its spheres alone: the box of its inertia does not look like them.
    """
    solids = [shape.solid() for shape in body.collision] or [each for each in body.solids if each.kind == "sphere"]
    return [_corners(solid) for solid in solids if solid is not None]


def planes_of(structure: Structure) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return a point (3,), m, and the normal (3,) of each plane of the world that bodies touch."""
    planes = [(shape.point, shape.normal) for shape in structure.ground if isinstance(shape, PlaneShape)]
    elements = [element for force in structure.forces for element in force.elements(structure)]
    planes += [(element.ground, element.normal) for element in elements if isinstance(element, PlaneContact)]
    different: list[tuple[np.ndarray, np.ndarray]] = []
    for point, normal in planes:
        if not any(np.allclose(normal, n) and np.isclose(normal @ (point - p), 0.0) for p, n in different):
            different.append((point, normal))
    return different


def _corners(solid: Solid) -> np.ndarray:
    """Return points (k, 3) around a solid, m, body axes."""
    sizes = solid.sizes
    if solid.kind == "mesh":
        points = solid.vertices
    elif solid.kind == "box":
        points = 0.5 * sizes * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    elif solid.kind == "sphere":
        points = sizes[0] * SPHERE
    else:
        rim = sizes[0] * (SPHERE if solid.kind == "capsule" else CIRCLE)
        points = np.concatenate([rim + (0.0, 0.0, end * sizes[1]) for end in (-0.5, 0.5)])
    return solid.position + points @ rotation_matrix(solid.quat_wxyz).T
