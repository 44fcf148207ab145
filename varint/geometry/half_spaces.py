"""Features of a shape that face a plane."""

import math

from varint.base.numba import njit
from varint.geometry.cores import NONE, Place, put_features
from varint.geometry.features import CIRCLE_PLANE, POINT_PLANE
from varint.geometry.shape_records import CYLINDER
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

QUARTERS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))  # of the rim of a cylinder that stands
UPRIGHT = 1e-7  # sine of the angle to the plane from which on a rim has a lowest point


@njit
def _put_above(shapes, pair, frame, kind, ends, key, reach, count, out):
    """Add a point or a rim of b (``ends``: point, direction, radius) above the plane a; the new count."""
    (a, b), (relative, d) = pair, frame
    point, direction, radius = ends
    f = shapes.first_face[a]
    n, offset = vector(shapes.normal[f]), shapes.offset[f]
    lowest = add(rotate(relative, point), d)
    if kind == CIRCLE_PLANE:
        along = rotate(relative, direction)
        up = sub(n, scale(dot(n, along), along))
        lowest = sub(lowest, scale(radius / math.sqrt(dot(up, up)), up))
    height = dot(n, lowest) - offset
    gap = height if kind == CIRCLE_PLANE else height - radius
    if gap >= reach:
        return count
    middle = sub(lowest, scale(height - 0.5 * gap, n))
    ends = point, direction, scale(offset, n), n
    return put_features(out, count, kind, True, (key, f), ends, (radius, 0.0), gap, Place(middle, n), shapes.bound[b])


@njit
def half_space_features(shapes, pair, frame, reach, out):
    """Write the features of a shape b that face a plane a within ``reach``; how many. See `core_features`."""
    (a, b), (relative, _) = pair, frame
    first, end = shapes.first_vertex[b], shapes.first_vertex[b + 1]
    count = 0
    if shapes.kind[b] != CYLINDER:
        for v in range(first, end):
            ends = vector(shapes.vertex[v]), NONE, shapes.radius[b]
            count = _put_above(shapes, pair, frame, POINT_PLANE, ends, v, reach, count, out)
        return count
    axis = vector(shapes.along[shapes.first_edge[b]])
    down = scale(-1.0, rotate_back(relative, vector(shapes.normal[shapes.first_face[a]])))
    down = sub(down, scale(dot(down, axis), axis))
    sine = math.sqrt(dot(down, down))
    if sine > UPRIGHT:
        for v in range(first, end):
            ends = vector(shapes.vertex[v]), axis, shapes.radius[b]
            count = _put_above(shapes, pair, frame, CIRCLE_PLANE, ends, v, reach, count, out)
    u = scale(1.0 / sine, down) if sine > UPRIGHT else vector(shapes.inward[shapes.first_edge[b], 0])
    w = cross(axis, u)
    for v in range(first, end):  # the rest of a rim that all but lies on the plane
        for k in range(1 if sine > UPRIGHT else 0, 4):
            arm = add(scale(QUARTERS[k][0] * shapes.radius[b], u), scale(QUARTERS[k][1] * shapes.radius[b], w))
            ends = add(vector(shapes.vertex[v]), arm), NONE, 0.0
            count = _put_above(shapes, pair, frame, POINT_PLANE, ends, v, reach, count, out)
    return count
