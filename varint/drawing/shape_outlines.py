"""Shapes that touch as pictures show them: convex outlines of bodies, planes of the ground."""

from typing import NamedTuple

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


class ShapeOutline(NamedTuple):
    """A bounded shape: the convex hull of ``points`` (k, 3), or of balls of ``radius`` about ``centres`` (n, 3).

    m, body axes from the centre of mass; without balls the radius is zero, and there are no centres.
    """

    points: np.ndarray
    centres: np.ndarray
    radius: float


def shape_outlines(body: Body) -> list[ShapeOutline]:
    """Return the bounded shapes of a body.

    Where none of it touches, its spheres alone: the box of its inertia does not look like them.
    """
    solids = [shape.solid() for shape in body.collision] or [each for each in body.solids if each.kind == "sphere"]
    return [ShapeOutline(_corners(solid), *_balls(solid)) for solid in solids if solid is not None]


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


def _balls(solid: Solid) -> tuple[np.ndarray, float]:
    """Return centres (n, 3), m, body axes, and the radius of the balls whose hull is a sphere or a capsule."""
    if solid.kind not in ("sphere", "capsule"):
        return np.zeros((0, 3)), 0.0
    half = 0.5 * solid.sizes[1] if solid.kind == "capsule" else 0.0
    ends = np.array([(0.0, 0.0, -half), (0.0, 0.0, half)] if half else [(0.0, 0.0, 0.0)])
    return solid.position + ends @ rotation_matrix(solid.quat_wxyz).T, float(solid.sizes[0])


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
