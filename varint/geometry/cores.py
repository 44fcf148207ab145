"""Features of two convex cores that face each other: balls, capsules, boxes, meshes.

Each vertex of one core is paired with the nearest feature of the other, and edges that cross are paired, as far as they
are within reach: where two faces lie on each other these are the corners of the patch. A pair holds for all poses in
which the bodies do not overlap and these features still face each other. The smallest gap is the distance of the
shapes, or their depth where they overlap.
"""

import math
from typing import NamedTuple

from varint.base.numba import njit
from varint.geometry.features import LINE_LINE, POINT_LINE, POINT_PLANE, POINT_POINT
from varint.geometry.nearest import OF_EDGE, OF_FACE, OF_VERTEX, is_above, nearest_face, nearest_lines, nearest_on_edges
from varint.geometry.separation import (
    EDGES,
    FACE_OF_FIRST,
    NO_AXIS,
    edge_height,
    edge_opens,
    facing_slab,
    has_faces,
    lowest_vertex,
    separating_axis,
)
from varint.mathematics.vectors import add, dot, rotate, rotate_back, scale, sub, vector

TOUCHING = 1e-9  # of the size of the smaller shape: nearer than this directions between them are those of the axis
BESIDE = 1e-8  # of the size: by how much a corner may be outside of a face that it rests on
SHARP = 1e-6  # of the size: nearer than this corners face faces, since the direction between corners is undefined
SLACK = 0.1  # rad, by which features of a patch may be inclined
CONE = 0.1  # least share of the normal of a face of a patch along the axis
NONE = (0.0, 0.0, 0.0)
Vector = tuple[float, float, float]


class Place(NamedTuple):
    """The point at which two features face each other, and the normal there, axes of a."""

    middle: Vector  # m
    normal: Vector  # unit vector from a to b


@njit
def put_features(out, count, kind, swapped, keys, ends, radii, gap, place, size):
    """Add a pair of features to ``out``, the first of the arguments first; return the new count.

    ``ends`` (4, 3): point and direction of the first, point and direction of the second. ``place``: a
    `Place`. A pair that is there already is not added; without space it
    replaces the pair of the largest gap. Writes ``out.kind``, ``out.key``, ``out.swapped``, ``out.point``,
    ``out.direction``, ``out.radius``, ``out.gap`` and ``out.place``.
    """
    (x, y, z), n = place.middle, place.normal
    near = 4.0 * BESIDE * size
    for k in range(count):
        known = out.place[k]
        alike = known[3] * n[0] + known[4] * n[1] + known[5] * n[2] > 0.9
        if alike and abs(known[0] - x) < near and abs(known[1] - y) < near and abs(known[2] - z) < near:
            return count
    at = count
    if count == len(out.gap):
        for k in range(count):
            if out.gap[k] > gap and (at == count or out.gap[k] > out.gap[at]):
                at = k
        if at == count:
            return count
    out.kind[at], out.swapped[at], out.gap[at] = kind, swapped, gap
    out.key[at, 0], out.key[at, 1] = keys
    out.radius[at, 0], out.radius[at, 1] = radii
    for i in range(3):
        out.point[at, 0, i], out.direction[at, 0, i] = ends[0][i], ends[1][i]
        out.point[at, 1, i], out.direction[at, 1, i] = ends[2][i], ends[3][i]
        out.place[at, i], out.place[at, 3 + i] = place.middle[i], n[i]
    return count + 1 if at == count else count


@njit
def _seen(frame, swapped, v):
    """Return a point of the second shape in the axes of the first."""
    relative, d = frame
    return rotate_back(relative, sub(v, d)) if swapped else add(rotate(relative, v), d)


@njit
def _put_point(shapes, pair, frame, v, near, size, count, out):
    """Add vertex v of the second of a pair, and the feature of the first that is nearest to it; the new count.

    ``near``: what it is, its number, gap of the cores and unit normal from there to the vertex, axes of the first.
    ``pair``: the shapes, and whether they are b and a.
    """
    a, b, swapped = pair
    feature, number, apart, n = near
    relative, d = frame
    p = _seen(frame, swapped, vector(shapes.vertex[v]))
    middle = sub(p, scale(0.5 * apart, n))
    place = Place(middle, n)
    if swapped:
        place = Place(add(rotate(relative, middle), d), scale(-1.0, rotate(relative, n)))
    radii = shapes.radius[b], shapes.radius[a]
    gap = apart - radii[0] - radii[1]
    kind, direction = POINT_POINT, NONE
    foot = vector(shapes.vertex[number if feature == OF_VERTEX else 0])
    if feature == OF_FACE:
        kind, direction = POINT_PLANE, vector(shapes.normal[number])
        height = shapes.offset[number] + radii[1]
        radii = radii[0], 0.0
        foot = add(sub(p, scale(dot(direction, p), direction)), scale(height, direction))
    elif feature == OF_EDGE:
        kind, direction = POINT_LINE, vector(shapes.along[number])
        foot = vector(shapes.vertex[shapes.edge[number, 0]])
    ends = vector(shapes.vertex[v]), NONE, foot, direction
    return put_features(out, count, kind, not swapped, (v, number), ends, radii, gap, place, size)


@njit
def _put_edges(shapes, pair, frame, edges, line, size, count, out):
    """Add edges of both; ``line``: normal from a to b, distance along it, coordinates of the nearest points."""
    (a, b), (relative, _), (e, f) = pair, frame, edges
    n, apart, on_e, _ = line
    u, w = vector(shapes.along[e]), vector(shapes.along[f])
    middle = add(add(vector(shapes.vertex[shapes.edge[e, 0]]), scale(on_e, u)), scale(0.5 * apart, n))
    turned = rotate(relative, w)
    side = n[0] * (u[1] * turned[2] - u[2] * turned[1]) + n[1] * (u[2] * turned[0] - u[0] * turned[2])
    side += n[2] * (u[0] * turned[1] - u[1] * turned[0])
    if side > 0.0:  # first x second has to point from b to a
        w = scale(-1.0, w)
    ends = vector(shapes.vertex[shapes.edge[e, 0]]), u, vector(shapes.vertex[shapes.edge[f, 0]]), w
    radii = shapes.radius[a], shapes.radius[b]
    gap = apart - radii[0] - radii[1]
    return put_features(out, count, LINE_LINE, False, edges, ends, radii, gap, Place(middle, n), size)


@njit
def nearest_feature(shapes, s, p, axis, cone, slack, edges_too):
    """Return the feature of a core nearest to a point: kind, number, distance and unit normal.

    The distance is infinite if there is none. Points inside, and all points without ``edges_too``, have faces alone.
    """
    f, height = nearest_face(shapes, s, p, axis, cone)
    if f >= 0:
        if is_above(shapes, f, p, slack):
            return OF_FACE, f, height, vector(shapes.normal[f])
        if height <= 0.0 or not edges_too:
            return OF_FACE, f, math.inf, NONE
    elif shapes.first_face[s] < shapes.first_face[s + 1]:
        return OF_FACE, f, math.inf, NONE
    kind, number, away = nearest_on_edges(shapes, s, p)
    length = math.sqrt(dot(away, away))
    return kind, number, length, (scale(1.0 / length, away) if length > 0.0 else (0.0, 0.0, 1.0))


@njit
def reaches_down(shapes, s, v, n):
    """Return whether no edge leads from a vertex steeply against ``n``, body axes."""
    for e in range(shapes.first_edge[s], shapes.first_edge[s + 1]):
        if shapes.edge[e, 0] == v and dot(vector(shapes.along[e]), n) < -SLACK:
            return False
        if shapes.edge[e, 1] == v and dot(vector(shapes.along[e]), n) > SLACK:
            return False
    return True


@njit
def deepest_gap(apart, size):
    """Return the gap, m, below which features of cores that are ``apart`` do not face each other."""
    return apart - TOUCHING * size if apart < 0.0 else -math.inf


@njit
def _points(shapes, pair, frame, axis, scene, count, out):
    """Add the vertices of the second of a pair that face the first; the new count."""
    a, b, swapped = pair
    size, reach, apart, slab = scene
    relative, _ = frame
    radius = shapes.radius[a] + shapes.radius[b]
    toward = scale(-1.0, rotate_back(relative, axis)) if swapped else axis
    cone = -2.0 if apart > TOUCHING * size else CONE
    deepest = deepest_gap(apart, size)
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        p = _seen(frame, swapped, vector(shapes.vertex[v]))
        if dot(axis, vector(shapes.vertex[v])) < slab[0] if swapped else dot(axis, p) > slab[1]:
            continue
        near = nearest_feature(shapes, a, p, toward, cone, BESIDE * size, radius > 0.0)
        if near[2] - radius >= reach or near[2] < deepest:
            continue
        n = rotate(relative, near[3]) if swapped else rotate_back(relative, near[3])
        if reaches_down(shapes, b, v, n):
            count = _put_point(shapes, pair, frame, v, near, size, count, out)
    return count


@njit
def _crossing(shapes, edges, frame, axis, limits, all_round):
    """Write edges e of a and f of b as a line, see `_put_edges`, where they cross; an infinite distance elsewhere.

    ``limits``: size, and how far apart the cores are. ``all_round``: whether their normals are of no importance.
    """
    (e, f), (relative, d), (size, apart) = edges, frame, limits
    along = rotate(relative, vector(shapes.along[f]))
    foot = add(d, rotate(relative, vector(shapes.vertex[shapes.edge[f, 0]])))
    n, distance, on_e, on_f = nearest_lines(shapes, e, f, along, foot)
    slack = BESIDE * size
    off_e = on_e < -slack or on_e > shapes.length[e] + slack
    if dot(n, n) == 0.0 or off_e or on_f < -slack or on_f > shapes.length[f] + slack:
        return n, math.inf, on_e, on_f
    clear = apart > TOUCHING * size
    sign = distance if clear else dot(n, axis)
    if sign < 0.0:
        n, distance = scale(-1.0, n), -distance
    if all_round:
        return n, distance, on_e, on_f
    facing = edge_opens(shapes, e, n, SLACK) and edge_opens(shapes, f, scale(-1.0, rotate_back(relative, n)), SLACK)
    if not facing or (not clear and dot(n, axis) < CONE):
        return n, math.inf, on_e, on_f
    return n, distance, on_e, on_f


@njit
def _edges(shapes, pair, frame, axis, scene, count, out):
    """Add the edges of both that cross; the new count."""
    (a, b), (size, reach, apart, slab), (relative, d) = pair, scene, frame
    radius = shapes.radius[a] + shapes.radius[b]
    deepest = deepest_gap(apart, size)
    low, high = slab
    down, lifted = scale(-1.0, rotate_back(relative, axis)), dot(axis, d)
    for f in range(shapes.first_edge[b], shapes.first_edge[b + 1]):
        if edge_height(shapes, f, down) - lifted < -high:
            continue
        for e in range(shapes.first_edge[a], shapes.first_edge[a + 1]):
            if edge_height(shapes, e, axis) < low:
                continue
            line = _crossing(shapes, (e, f), frame, axis, (size, apart), False)
            if line[1] - radius < reach and line[1] >= deepest:
                count = _put_edges(shapes, pair, frame, (e, f), line, size, count, out)
    return count


@njit
def _nearest_of(shapes, pair, frame, axis, size):
    """Return the vertex of the second of a pair nearest to the first, and the feature there, see `_put_point`."""
    a, b, swapped = pair
    toward = scale(-1.0, rotate_back(frame[0], axis)) if swapped else axis
    _, lowest = lowest_vertex(shapes, a, scale(-1.0, toward))
    vertex, best = -1, (OF_VERTEX, 0, math.inf, NONE)
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        p = _seen(frame, swapped, vector(shapes.vertex[v]))
        if dot(toward, p) + lowest >= best[2]:
            continue
        near = nearest_feature(shapes, a, p, axis, -2.0, BESIDE * size, True)
        if near[2] < best[2]:
            vertex, best = v, near
    return vertex, best


@njit
def _put_nearest(shapes, pair, frame, best, scene, count, out):
    """Add the features of both that are nearest to each other; return the new count.

    For cores that are apart by more than faces and edges that face each other show.
    """
    (a, b), (size, reach, _, _), (relative, d) = pair, scene, frame
    apart, axis = best[3], best[4]
    radius = shapes.radius[a] + shapes.radius[b]
    v, near = _nearest_of(shapes, (a, b, False), frame, axis, size)
    w, other = _nearest_of(shapes, (b, a, True), frame, axis, size)
    edges, least = (-1, -1), (NONE, math.inf, 0.0, 0.0)
    low, high = -math.inf, math.inf
    if best[0] != NO_AXIS:
        low, high = facing_slab(shapes, a, axis, apart, min(near[2], other[2]))
    down, lifted = scale(-1.0, rotate_back(relative, axis)), dot(axis, d)
    for f in range(shapes.first_edge[b], shapes.first_edge[b + 1]):
        if edge_height(shapes, f, down) - lifted < -high:
            continue
        for e in range(shapes.first_edge[a], shapes.first_edge[a + 1]):
            if edge_height(shapes, e, axis) < low:
                continue
            line = _crossing(shapes, (e, f), frame, axis, (size, math.inf), True)
            if line[1] < least[1]:
                edges, least = (e, f), line
    distance = min(near[2], other[2], least[1])
    if distance - radius >= reach:
        return count
    if radius == 0.0 and distance < SHARP * size and best[0] != NO_AXIS:
        return _put_best(shapes, pair, frame, best, size, count, out)
    if least[1] <= distance:
        return _put_edges(shapes, pair, frame, edges, least, size, count, out)
    if near[2] <= distance:
        return _put_point(shapes, (a, b, False), frame, v, near, size, count, out)
    return _put_point(shapes, (b, a, True), frame, w, other, size, count, out)


@njit
def _put_best(shapes, pair, frame, best, size, count, out):
    """Add the features on the separating axis; the new count."""
    (a, b), (relative, d) = pair, frame
    kind, first, second, apart, axis = best
    if kind == EDGES:
        along = rotate(relative, vector(shapes.along[second]))
        foot = add(d, rotate(relative, vector(shapes.vertex[shapes.edge[second, 0]])))
        _, _, on_e, on_f = nearest_lines(shapes, first, second, along, foot)
        return _put_edges(shapes, pair, frame, (first, second), (axis, apart, on_e, on_f), size, count, out)
    if kind == FACE_OF_FIRST:
        near = OF_FACE, first, apart, vector(shapes.normal[first])
        return _put_point(shapes, (a, b, False), frame, second, near, size, count, out)
    near = OF_FACE, second, apart, vector(shapes.normal[second])
    return _put_point(shapes, (b, a, True), frame, first, near, size, count, out)


@njit
def core_features(shapes, pair, frame, reach, out):
    """Write the features of two cores within ``reach`` of each other; how many.

    ``pair``: numbers of the shapes a and b; ``frame``: axes (3, 3) and place (3,) of b in those of a.
    """
    (a, b), (relative, d) = pair, frame
    radius = shapes.radius[a] + shapes.radius[b]
    size = min(shapes.bound[a], shapes.bound[b])
    best = NO_AXIS, -1, -1, math.inf, NONE  # of balls and capsules: their cores are apart
    if has_faces(shapes, a) or has_faces(shapes, b):
        best = separating_axis(shapes, a, b, relative, d, size, reach + radius)
        if best[3] - radius >= reach:
            return 0
    apart, axis = best[3], best[4]
    slab = (-math.inf, math.inf) if best[0] == NO_AXIS else facing_slab(shapes, a, axis, apart, reach + radius)
    scene = size, reach, apart, slab
    count = _points(shapes, (a, b, False), frame, axis, scene, 0, out)
    count = _points(shapes, (b, a, True), frame, axis, scene, count, out)
    count = _edges(shapes, pair, frame, axis, scene, count, out)
    least = math.inf
    for k in range(count):
        least = min(least, out.gap[k])
    # the vertex on the axis may be beside the face, by which cores that all but touch seem to overlap by round-off more
    slack = TOUCHING if apart <= TOUCHING * size else 1e-12
    if best[0] != NO_AXIS and least + radius <= apart + slack * size:
        return count
    if best[0] != NO_AXIS and apart <= TOUCHING * size:
        return _put_best(shapes, pair, frame, best, size, count, out)
    return _put_nearest(shapes, pair, frame, best, scene, count, out)
