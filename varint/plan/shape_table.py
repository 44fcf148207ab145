"""Collision shapes of a mechanism as arrays for the kernels."""

from collections.abc import Sequence

import numpy as np

from varint.geometry.convex_hull import edges_of
from varint.geometry.shape_records import CYLINDER, HOLLOW, PLANE, ROUND, TERRAIN, ShapeTable
from varint.model.collision_shapes import CollisionShape, Core, CylinderShape, HeightField, PlaneShape

Part = tuple[int, int, Core]  # slot of its body, -1 for the world, kind, and core


def parts_of(slot: int, shapes: Sequence[CollisionShape], whole: bool = False) -> list[Part]:
    """Return the convex parts of the shapes of a body; with ``whole`` a height field as one part, TERRAIN."""
    parts: list[Part] = []
    for shape in shapes:
        if whole and isinstance(shape, HeightField):
            parts.append((slot, TERRAIN, shape.core()))
        else:
            parts += [(slot, _kind_of(shape), core) for core in shape.cores()]
    return parts


def shape_table(parts: Sequence[Part]) -> ShapeTable:
    """Return the arrays of the convex parts of shapes."""
    rows = [_Rows(core, kind) for _, kind, core in parts]
    vertex_of = np.cumsum([0, *(len(one.vertices) for one in rows)])
    corners = [loop + first for one, first in zip(rows, vertex_of, strict=False) for loop in one.loops]
    edges = [one.edge + first for one, first in zip(rows, vertex_of, strict=False)]
    return ShapeTable(
        body=np.array([slot for slot, *_ in parts], dtype=np.int64),
        kind=np.array([one.kind for one in rows], dtype=np.int64),
        radius=np.array([one.radius for one in rows], dtype=float),
        centre=_stacked([one.centre[None] for one in rows], 3),
        bound=np.array([one.bound for one in rows], dtype=float),
        first_vertex=vertex_of.astype(np.int64),
        first_edge=np.cumsum([0, *(len(one.edge) for one in rows)], dtype=np.int64),
        first_face=np.cumsum([0, *(len(one.normal) for one in rows)], dtype=np.int64),
        vertex=_stacked([one.vertices for one in rows], 3),
        edge=_stacked(edges, 2).astype(np.int64),
        along=_stacked([one.along for one in rows], 3),
        length=np.concatenate([np.zeros(0), *(one.length for one in rows)]),
        inward=_stacked([one.inward.reshape(-1, 6) for one in rows], 6).reshape(-1, 2, 3),
        normal=_stacked([one.normal for one in rows], 3),
        offset=np.concatenate([np.zeros(0), *(one.offset for one in rows)]),
        first_corner=np.cumsum([0, *(len(loop) for one in rows for loop in one.corner_counts)], dtype=np.int64),
        corner=np.concatenate([np.zeros(0, np.int64), *corners]).astype(np.int64),
    )


def _stacked(parts: Sequence[np.ndarray], width: int) -> np.ndarray:
    return np.concatenate([np.zeros((0, width)), *(part.reshape(-1, width) for part in parts)])


def _kind_of(shape: CollisionShape) -> int:
    """Return the kind of a shape in the table."""
    if isinstance(shape, PlaneShape):
        return PLANE
    return HOLLOW if shape.hollow else CYLINDER if isinstance(shape, CylinderShape) else ROUND


class _Rows:
    """The rows of one shape in the table; its vertices are numbered from zero."""

    def __init__(self, core: Core, kind: int) -> None:
        self.kind = kind
        self.vertices = core.vertices if core.normal is None or kind == TERRAIN else np.zeros((0, 3))
        self.radius = core.radius
        self.loops = [np.asarray(loop, dtype=np.int64) for loop in core.faces]
        self.corner_counts = self.loops if core.normal is None or kind == TERRAIN else [np.zeros(0)]
        if kind == TERRAIN:
            self._grid(core)
        else:
            self._faces(core)
            self._edges(core)
        self.centre = 0.5 * (core.vertices.min(axis=0) + core.vertices.max(axis=0))
        farthest = np.linalg.norm(core.vertices - self.centre, axis=1).max()
        self.bound = float(np.hypot(farthest, self.radius) if kind == CYLINDER else farthest + self.radius)
        if kind in (PLANE, HOLLOW):
            self.bound = np.inf

    def _grid(self, core: Core) -> None:
        """Write the rows of a height field, see geometry/terrain.py."""
        assert core.normal is not None
        self.normal, self.offset = core.normal[None], np.zeros(1)
        self.edge = np.array([[0, len(self.loops[0])]], dtype=np.int64)
        apart = core.vertices[len(self.loops[0])] - core.vertices[0]
        level = apart - (apart @ core.normal) * core.normal
        self.length = np.array([np.linalg.norm(level)])
        self.along = level[None] / self.length
        self.inward = np.array([[self.along[0], np.cross(core.normal, self.along[0])]])

    def _faces(self, core: Core) -> None:
        """Write outward normals, by Newell's sums, and the outermost planes along them through a corner."""
        if core.normal is not None:
            self.normal, self.offset = core.normal[None], np.array([core.normal @ core.vertices[0]])
            return
        middle = core.vertices.mean(axis=0)
        normals = []
        for loop in self.loops:
            corners = core.vertices[loop] - middle
            normal = np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0)
            normals.append(normal / np.linalg.norm(normal))
        self.normal = np.array(normals).reshape(-1, 3)
        heights = [(core.vertices[loop] @ normal).max() for loop, normal in zip(self.loops, normals, strict=True)]
        self.offset = np.array(heights, dtype=float)

    def _edges(self, core: Core) -> None:
        faces = np.zeros((0, 2), np.int64)
        self.edge = np.array([[0, 1]] if len(self.vertices) == 2 else np.zeros((0, 2)), dtype=np.int64)
        if self.loops:
            edges = edges_of(self.loops)
            self.edge, faces = edges[:, :2], edges[:, 2:]
        apart = core.vertices[self.edge[:, 1]] - core.vertices[self.edge[:, 0]] if len(self.edge) else np.zeros((0, 3))
        self.length = np.linalg.norm(apart, axis=1)
        self.along = apart / self.length[:, None]
        self.inward = np.zeros((len(self.edge), 2, 3))
        if self.loops:  # to the left of the edge in the face that runs along it, to the right in the other
            self.inward[:, 0] = np.cross(self.normal[faces[:, 0]], self.along)
            self.inward[:, 1] = -np.cross(self.normal[faces[:, 1]], self.along)
        elif self.kind == CYLINDER:
            across = np.cross(self.along[0], np.eye(3)[np.argmin(np.abs(self.along[0]))])
            self.inward[0, 0] = across / np.linalg.norm(across)


def slots_between(shapes: Sequence[CollisionShape], others: Sequence[CollisionShape], most: int) -> int:
    """Return how many pairs of features two bodies of these shapes have slots for, at most ``most``."""
    one, other = parts_of(0, shapes), parts_of(1, others)
    if len(one) * len(other) >= most:
        return most
    table = shape_table([*one, *other])
    if np.array_equal(np.diff(table.first_vertex), [1, 1]):
        return 1  # two balls
    return min(most, sum(most_features(table, a, len(one) + b) for a in range(len(one)) for b in range(len(other))))


def most_features(shapes: ShapeTable, a: int, b: int) -> int:
    """Return the number of pairs of features that a patch between two shapes can have, with a reserve."""
    if {PLANE, HOLLOW} & {shapes.kind[a], shapes.kind[b]}:
        other = b if shapes.kind[a] in (PLANE, HOLLOW) else a
        vertices = int(shapes.first_vertex[other + 1] - shapes.first_vertex[other])
        return 8 if shapes.kind[other] == CYLINDER else min(vertices, 2 * _largest_face(shapes, other) + 2)
    if TERRAIN in (shapes.kind[a], shapes.kind[b]) or shapes.kind[a] == shapes.kind[b] == CYLINDER:
        return 16 if shapes.kind[a] == shapes.kind[b] else 24
    rims = 8 if CYLINDER in (shapes.kind[a], shapes.kind[b]) else 0
    return _largest_face(shapes, a) + _largest_face(shapes, b) + rims + 4


def _largest_face(shapes: ShapeTable, s: int) -> int:
    """Return the most corners of a face of the shape, or its vertices if it has no faces."""
    first, end = int(shapes.first_face[s]), int(shapes.first_face[s + 1])
    if first == end:
        return int(shapes.first_vertex[s + 1] - shapes.first_vertex[s])
    return int(np.diff(shapes.first_corner[first : end + 1]).max())
