"""Convex polyhedra by their vertices: faces, with the triangles of a hull that lie in one plane joined."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from varint.errors import MechanismError

FLAT = 1e-6  # of the size: triangles whose corners are nearer than this to a plane are one face
INSIDE = 1e-6  # of the size: how far a vertex of a convex mesh may be inside of the hull of the others

Faces = Sequence[np.ndarray]  # vertices of each, anticlockwise from outside


class Shell(NamedTuple):
    """The hull of points.

    corners : numbers of the points that are its vertices
    faces : numbers of the ``corners`` about each, anticlockwise from outside
    deepest : m, how far any of the points is inside
    size : m, of all of it
    volume : m^3
    """

    corners: np.ndarray
    faces: tuple[np.ndarray, ...]
    deepest: float
    size: float
    volume: float


def hull_of(points: np.ndarray, what: str) -> Shell:
    """The hull of ``points`` (n, 3). Raises MechanismError for points in a plane; ``what`` names them."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import

    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    size = float(np.abs(points - middle).max(initial=0.0))
    try:
        if len(points) < 4 or size == 0.0:
            raise QhullError
        hull = ConvexHull((points - middle) / size)
    except QhullError:
        raise MechanismError(f"{what} must enclose a volume: at least four vertices that lie in no plane") from None
    if hull.volume < FLAT:
        raise MechanismError(f"{what} must enclose a volume: its vertices lie in a plane")
    deepest = -(hull.equations[:, :3] @ hull.points.T + hull.equations[:, 3:]).max(axis=0).min()
    loops = [_loop(hull.simplices[group], normal, hull.points) for group, normal in _planes(hull)]
    corners = np.unique(np.concatenate(loops))
    number = np.full(len(points), -1)
    number[corners] = np.arange(len(corners))
    faces = tuple(number[loop] for loop in loops)
    edges_of(faces, what)
    return Shell(corners, faces, float(deepest) * size, size, float(hull.volume) * size**3)


def _planes(hull: Any) -> Iterator[tuple[list[int], np.ndarray]]:
    """The triangles in one plane each, with its normal, the plane of the largest triangle first."""
    a, b, c = np.moveaxis(hull.points[hull.simplices], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    left = set(range(len(areas)))
    for first in np.argsort(-areas):
        if first not in left:
            continue
        left.discard(int(first))
        plane, group, grown = hull.equations[first], [int(first)], [int(first)]
        while grown:
            for neighbour in hull.neighbors[grown.pop()]:
                corners = hull.points[hull.simplices[neighbour]]
                if neighbour in left and np.abs(corners @ plane[:3] + plane[3]).max() < FLAT:
                    left.discard(int(neighbour))
                    group.append(int(neighbour))
                    grown.append(int(neighbour))
        yield group, plane[:3]


def _loop(triangles: np.ndarray, normal: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The outline of triangles in a plane, anticlockwise about its normal; without corners that lie on a side."""
    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    from scipy.spatial import ConvexHull

    flat = points[np.unique(triangles)] @ np.column_stack([across, np.cross(normal, across)])
    return np.unique(triangles)[ConvexHull(flat).vertices]


def farthest_points(points: np.ndarray, most: int) -> np.ndarray:
    """The points (n, 3) that are farthest along evenly spread directions, ``most`` at most; all, where they are few."""
    if len(points) <= most or not np.isfinite(points).all():
        return points
    k = np.arange(most) + 0.5
    level, turn = 1.0 - 2.0 * k / most, np.pi * (1.0 + 5.0**0.5) * k  # a spiral of equal areas over the sphere
    level = np.clip(level, -1.0, 1.0)
    across = np.sqrt(1.0 - level * level)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), level])
    return points[np.unique(np.argmax(points @ directions.T, axis=0))]


def edges_of(faces: Faces, what: str) -> np.ndarray:
    """Edges (k, 4): two vertices, the face that runs through them in this order, and the one that runs back.

    Raises MechanismError where faces do not meet along whole edges.
    """
    sides = {(int(i), int(j)): f for f, loop in enumerate(faces) for i, j in zip(loop, np.roll(loop, -1), strict=True)}
    if any((j, i) not in sides for i, j in sides) or len(sides) != sum(map(len, faces)):
        raise MechanismError(f"{what}: some faces of its hull are too narrow: simplify it")
    return np.array([(i, j, f, sides[j, i]) for (i, j), f in sides.items() if i < j], dtype=np.int64)
