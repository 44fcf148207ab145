"""Features of a shape that face the inside of a hollow ball or tube."""

import math

from varint.base.numba import njit
from varint.geometry.cores import NONE, Place, put_features
from varint.geometry.features import POINT_LINE, POINT_POINT
from varint.mathematics.vectors import add, dot, rotate, scale, sub, vector


@njit
def hollow_features(shapes, pair, frame, reach, out):
    """Write the features of a shape b within ``reach`` of the inside of a hollow a; how many. See `core_features`.

    Those of what is convex are its vertices, as balls.
    """
    (a, b), (relative, d), count = pair, frame, 0
    inside, radius = shapes.radius[a], shapes.radius[b]
    centre, along, kind = vector(shapes.vertex[shapes.first_vertex[a]]), NONE, POINT_POINT
    if shapes.first_edge[a] < shapes.first_edge[a + 1]:
        along, kind = vector(shapes.along[shapes.first_edge[a]]), POINT_LINE
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        point = vector(shapes.vertex[v])
        away = sub(add(rotate(relative, point), d), centre)
        away = sub(away, scale(dot(along, away), along))
        distance = math.sqrt(dot(away, away))
        gap = inside - distance - radius
        if gap >= reach or distance == 0.0:
            continue
        n = scale(-1.0 / distance, away)  # from a to b
        middle = sub(add(rotate(relative, point), d), scale(radius + 0.5 * gap, n))
        ends, radii = (point, NONE, centre, along), (radius, -inside)
        count = put_features(out, count, kind, True, (v, 0), ends, radii, gap, Place(middle, n), inside)
    return count
