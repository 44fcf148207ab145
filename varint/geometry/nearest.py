"""The feature of a convex core that is nearest to a point, in the axes of its body."""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, scale, sub, vector

OF_VERTEX, OF_EDGE, OF_FACE = range(3)


@njit
def is_above(shapes, f, p, slack):
    """Return whether the foot of a point on the plane of a face is in the face, or outside by ``slack`` at most, m."""
    n = vector(shapes.normal[f])
    start, end = shapes.first_corner[f], shapes.first_corner[f + 1]
    before = vector(shapes.vertex[shapes.corner[end - 1]])
    for c in range(start, end):
        corner = vector(shapes.vertex[shapes.corner[c]])
        along = sub(corner, before)
        if dot(cross(n, along), sub(p, before)) < -slack * math.sqrt(dot(along, along)):
            return False
        before = corner
    return True


@njit
def nearest_face(shapes, s, p, axis, cone):
    """Return the face of a shape that a point is furthest out of, and the distance, m.

    Among the faces whose normal has at least the share ``cone`` along ``axis``.
    """
    face, height = -1, -math.inf
    for f in range(shapes.first_face[s], shapes.first_face[s + 1]):
        n = vector(shapes.normal[f])
        h = dot(n, p) - shapes.offset[f]
        if h > height and dot(n, axis) >= cone:
            face, height = f, h
    return face, height


@njit
def nearest_on_edges(shapes, s, p):
    """Return the edge or vertex nearest to a point: its kind and number, and the vector from it to the point."""
    kind, number, away = OF_VERTEX, shapes.first_vertex[s], (0.0, 0.0, 0.0)
    least = math.inf
    for e in range(shapes.first_edge[s], shapes.first_edge[s + 1]):
        u, start = vector(shapes.along[e]), vector(shapes.vertex[shapes.edge[e, 0]])
        at = dot(u, sub(p, start))
        inside = 0.0 < at < shapes.length[e]
        foot = add(start, scale(at, u)) if inside else vector(shapes.vertex[shapes.edge[e, 0 if at <= 0.0 else 1]])
        apart = sub(p, foot)
        if dot(apart, apart) < least:
            least, away = dot(apart, apart), apart
            kind, number = (OF_EDGE, e) if inside else (OF_VERTEX, shapes.edge[e, 0 if at <= 0.0 else 1])
    if shapes.first_edge[s] == shapes.first_edge[s + 1]:
        away = sub(p, vector(shapes.vertex[number]))
    return kind, number, away


@njit
def nearest_lines(shapes, e, f, along, foot):
    """Return the unit normal of two edges, distance along it, and coordinates of their nearest points.

    ``along``, ``foot``: of f, in the axes of e. The normal is zero for parallel edges.
    """
    u, start = vector(shapes.along[e]), vector(shapes.vertex[shapes.edge[e, 0]])
    n = cross(u, along)
    square = dot(n, n)
    if square < 1e-10:
        return (0.0, 0.0, 0.0), 0.0, 0.0, 0.0
    apart = sub(foot, start)
    n = scale(1.0 / math.sqrt(square), n)
    cosine, on_e, on_f = dot(u, along), dot(apart, u), dot(apart, along)
    t = (cosine * on_e - on_f) / square
    return n, dot(n, apart), on_e + cosine * t, t
