"""Convex polyhedra by their vertices: faces, with the triangles of a hull that lie in one plane joined."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from varint.base.errors import MechanismError

FLAT = (1e-6, 1e-5, 1e-4)  # of the size, tried in turn: triangles of corners nearer than this to a plane are one face
INSIDE = 1e-6  # of the size: how far a vertex of a convex mesh may be inside of the hull of the others

Faces = Sequence[np.ndarray]  # vertices of each, anticlockwise from outside


class Shell(NamedTuple):
    """The hull of points.

    corners : numbers of the points that are its vertices
    faces : numbers of the ``corners`` about each, anticlockwise from outside
    deepest : m, how far any of the points is inside
    in_faces : number of the points that are in a face, and on no edge of it
    size : m, of all of it
    volume : m^3
    """

    corners: np.ndarray
    faces: tuple[np.ndarray, ...]
    deepest: float
    in_faces: int
    size: float
    volume: float


def hull_of(points: np.ndarray, label: str) -> Shell:
    """Return the hull of ``points`` (n, 3). Raises MechanismError for points in a plane; ``label`` names them."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import

    middle = points.mean(axis=0) if len(points) else np.zeros(3)
    size = float(np.abs(points - middle).max(initial=0.0))
    try:
        if len(points) < 4 or size == 0.0:
            raise QhullError
        hull = ConvexHull((points - middle) / size)
    except QhullError:
        raise MechanismError(f"{label} must enclose a volume: at least four vertices that lie in no plane") from None
    if hull.volume < FLAT[0]:
        raise MechanismError(f"{label} must enclose a volume: its vertices lie in a plane")
    deepest = -(hull.equations[:, :3] @ hull.points.T + hull.equations[:, 3:]).max(axis=0).min()
    attempts = (_joined(hull.points, flat) for flat in FLAT)
    corners, loops = next((joined for joined in attempts if joined is not None), (hull.vertices, _triangles(hull)))
    number = np.full(len(points), -1)
    number[corners] = np.arange(len(corners))
    faces = tuple(number[loop] for loop in loops)
    others = np.setdiff1d(np.arange(len(points)), corners)
    in_faces = sum(_is_in_a_face(hull, point) for point in hull.points[others])
    return Shell(corners, faces, float(deepest) * size, in_faces, size, float(hull.volume) * size**3)


def _is_in_a_face(hull: Any, point: np.ndarray) -> bool:
    """Return whether a point of the hull lies inside a face."""
    near = hull.equations[np.abs(hull.equations[:, :3] @ point + hull.equations[:, 3]) < FLAT[0], :3]
    return len(near) > 0 and bool(np.abs(near - near[0]).max() < FLAT[1])


def _joined(points: np.ndarray, flat: float) -> tuple[np.ndarray, list[np.ndarray]] | None:
    """Return corners of the hull, and its faces as numbers of ``points``; triangles coplanar to ``flat`` are joined.

    Vertices in fewer than three planes lie on faces or sides, and are no corners. None where the faces do not fit.
    """
    from scipy.spatial import ConvexHull, QhullError

    corners = np.arange(len(points))
    try:
        while True:
            hull = ConvexHull(points[corners])
            planes = list(_planes(hull, flat))
            counts = np.zeros(len(corners), dtype=int)
            for group, _ in planes:
                counts[np.unique(hull.simplices[group])] += 1
            if (counts >= 3).all():
                break
            corners = corners[counts >= 3]
        loops = [_loop(hull.simplices[group], normal, hull.points) for group, normal in planes]
    except (QhullError, ValueError):  # too few corners, or a face that is a line
        return None
    return (corners, [corners[loop] for loop in loops]) if _is_closed(loops, len(corners)) else None


def _planes(hull: Any, flat: float) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield the triangles in one plane each, with its normal, the plane of the largest triangle first."""
    a, b, c = np.moveaxis(hull.points[hull.simplices], 1, 0)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    left = set(range(len(areas)))
    for first in map(int, np.argsort(-areas)):
        if first not in left:
            continue
        left.discard(first)
        plane, group, grown = hull.equations[first], [first], [first]
        while grown:
            for neighbour in map(int, hull.neighbors[grown.pop()]):
                corners = hull.points[hull.simplices[neighbour]]
                if neighbour in left and np.abs(corners @ plane[:3] + plane[3]).max() < flat:
                    left.discard(neighbour)
                    group.append(neighbour)
                    grown.append(neighbour)
        yield group, plane[:3]


def _loop(triangles: np.ndarray, normal: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the outline of triangles in a plane, anticlockwise about its normal."""
    from scipy.spatial import ConvexHull

    across = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    flat = points[np.unique(triangles)] @ np.column_stack([across, np.cross(normal, across)])
    return np.unique(triangles)[ConvexHull(flat).vertices]


def _triangles(hull: Any) -> list[np.ndarray]:
    """Return the triangles of a hull, anticlockwise from outside."""
    a, b, c = np.moveaxis(hull.points[hull.simplices], 1, 0)
    outward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) > 0.0
    return [loop if out else loop[::-1] for loop, out in zip(hull.simplices, outward, strict=True)]


def _sides(faces: Faces) -> dict[tuple[int, int], int]:
    """Return the face of each pair of vertices that follow each other in it."""
    return {(int(i), int(j)): f for f, loop in enumerate(faces) for i, j in zip(loop, np.roll(loop, -1), strict=True)}


def _is_closed(faces: Faces, vertices: int) -> bool:
    """Return whether faces meet along whole edges, two at each, at all vertices (Euler's formula)."""
    sides = _sides(faces)
    whole = len(sides) == sum(map(len, faces)) and all((j, i) in sides for i, j in sides)
    return whole and vertices - len(sides) // 2 + len(faces) == 2


def farthest_points(points: np.ndarray, most: int) -> np.ndarray:
    """Return up to ``most`` points (n, 3), the farthest along evenly spread directions; all, if they are few."""
    if len(points) <= most or not np.isfinite(points).all():
        return points
    k = np.arange(most) + 0.5
    level, turn = 1.0 - 2.0 * k / most, np.pi * (1.0 + 5.0**0.5) * k  # a spiral of equal areas over the sphere
    level = np.clip(level, -1.0, 1.0)
    across = np.sqrt(1.0 - level * level)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), level])
    return points[np.unique(np.argmax(points @ directions.T, axis=0))]


def edges_of(faces: Faces) -> np.ndarray:
    """Return edges (k, 4): two vertices, the face that runs through them in this order, and the one that runs back."""
    sides = _sides(faces)
    return np.array([(i, j, f, sides[j, i]) for (i, j), f in sides.items() if i < j], dtype=np.int64)
