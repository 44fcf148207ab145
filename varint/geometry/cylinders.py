"""Features by which a cylinder and a convex core face each other: a ball, a capsule, a box or a mesh.

First the axis along which they are furthest apart, or overlap least. It is square to a face or an end, or it is the
normal of a vertex or an edge with the side or a rim of the cylinder: a bound of the distance for any of them, and
the distance for the best. Then all features about that axis that are within reach, as in cores.py: where an end lies on
a face these are four points of the rim, corners of the face, and places where its edges cross the rim.
"""

import math

from varint.base.numba import njit
from varint.geometry.cores import BESIDE, CONE, NONE, SLACK, TOUCHING, Place, put_features, reaches_down
from varint.geometry.features import CIRCLE_LINE, CIRCLE_PLANE, CIRCLE_POINT, LINE_LINE, POINT_LINE, POINT_PLANE
from varint.geometry.half_spaces import QUARTERS, UPRIGHT
from varint.geometry.nearest import is_above, nearest_lines
from varint.geometry.rims import is_tangent, nearest_to_line, normal_on_line, radial_to
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

FLAT = 1e-4  # cosine of the angle between an edge and the axis, below which it crosses the rim at two points of its own
NEAREST = 1e-9  # of the radius: what points that are nearest to each other may be off along the rim
LEVEL = 0.1  # sine of the angle to a face or an edge, below which what is flat on it has points beside the lowest
ALONE = 1.0 - 1e-9  # cosine of the angle to the best axis of what is the best


@njit
def of_cylinder(shapes, a):
    """Return middle, axis, half length and radius of a cylinder, axes of its body."""
    v, w = vector(shapes.vertex[shapes.first_vertex[a]]), vector(shapes.vertex[shapes.first_vertex[a] + 1])
    return (
        scale(0.5, add(v, w)),
        vector(shapes.along[shapes.first_edge[a]]),
        0.5 * shapes.length[shapes.first_edge[a]],
        shapes.radius[a],
    )


@njit
def _height_above(shapes, pair, frame, cylinder, n):
    """Return the distance of the planes square to ``n`` that touch the cylinder a from above and b from below, m."""
    (_, b), (relative, d), (middle, e, half, r) = pair, frame, cylinder
    turned, lowest = rotate_back(relative, n), math.inf
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        lowest = min(lowest, dot(turned, vector(shapes.vertex[v])))
    across = cross(n, e)
    top = dot(n, middle) + half * abs(dot(n, e)) + r * math.sqrt(dot(across, across))
    return lowest + dot(n, d) - top - shapes.radius[b]


@njit
def _better(shapes, pair, frame, cylinder, n, bound, best):
    """Return the better of the axes ``best`` (separation, axis) and ``n``, whose separation is at most ``bound``."""
    if bound <= best[0]:
        return best
    apart = _height_above(shapes, pair, frame, cylinder, n)
    return (apart, n) if apart > best[0] else best


@njit
def _edge_in(shapes, frame, f):
    """Return origin and direction of edge f of the second shape in the axes of the first."""
    relative, d = frame
    return add(d, rotate(relative, vector(shapes.vertex[shapes.edge[f, 0]]))), rotate(relative, vector(shapes.along[f]))


@njit
def on_rim(centre, outward, r, line):
    """Return the normal of a rim where it is nearest to a line, the tangent there, and both points that are nearest.

    ``outward``: the axis out of that end. ``line``: its origin and direction. See `normal_on_line`; the normal is zero
    where no point of the rim that faces this way is nearest, and for a tangent inside of it.
    """
    foot, along = line
    p, at = nearest_to_line(outward, along, sub(foot, centre), r)
    point, other, tangent = add(centre, scale(r, p)), add(foot, scale(at, along)), cross(outward, p)
    n, _ = normal_on_line(tangent, along, sub(point, other))
    inward = dot(n, add(p, outward)) < 0.0
    if abs(dot(tangent, sub(point, other))) > NEAREST * r or (is_tangent(tangent, along) and not inward):
        n = NONE
    return (scale(-1.0, n) if inward else n), tangent, point, other, at


@njit
def end_of(shapes, a, e, side):
    """Return the centre of an end of the cylinder a, and the sign of its outward normal along the axis ``e``."""
    return vector(shapes.vertex[shapes.first_vertex[a] + side]), 2.0 * side - 1.0


@njit
def _widest(shapes, pair, frame, cylinder):
    """Return the separation of the shapes, m, negative for an overlap, and its axis, from a to b, axes of a's body."""
    (a, b), (relative, d), (middle, e, half, r) = pair, frame, cylinder
    radius, size = shapes.radius[b], min(shapes.bound[a], shapes.bound[b])
    best = _better(shapes, pair, frame, cylinder, e, math.inf, (-math.inf, e))
    best = _better(shapes, pair, frame, cylinder, scale(-1.0, e), math.inf, best)
    for f in range(shapes.first_face[b], shapes.first_face[b + 1]):
        n = scale(-1.0, rotate(relative, vector(shapes.normal[f])))
        best = _better(shapes, pair, frame, cylinder, n, math.inf, best)
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        q = sub(add(d, rotate(relative, vector(shapes.vertex[v]))), middle)
        n = radial_to(e, q)
        out, above = dot(n, q) - r, abs(dot(e, q)) - half
        best = _better(shapes, pair, frame, cylinder, n, out - radius, best)
        if out > 0.0 and above > 0.0:
            length = math.sqrt(out * out + above * above)
            if length > TOUCHING * size:
                n = add(scale(out / length, n), scale(math.copysign(above / length, dot(e, q)), e))
                best = _better(shapes, pair, frame, cylinder, n, length - radius, best)
    first = shapes.first_edge[a]
    for f in range(shapes.first_edge[b], shapes.first_edge[b + 1]):
        foot, along = _edge_in(shapes, frame, f)
        n, distance, _, _ = nearest_lines(shapes, first, f, along, foot)
        if dot(n, n) > 0.0:
            best = _better(shapes, pair, frame, cylinder, n, distance - r - radius, best)
            best = _better(shapes, pair, frame, cylinder, scale(-1.0, n), -distance - r - radius, best)
        for side in range(2):
            centre, sign = end_of(shapes, a, e, side)
            n, _, point, other, _ = on_rim(centre, scale(sign, e), r, (foot, along))
            if dot(n, n) > 0.0:
                best = _better(shapes, pair, frame, cylinder, n, dot(n, sub(other, point)) - radius, best)
    return best


@njit
def is_due(gap, n, scene):
    """Return whether features of a ``gap`` and a normal ``n``, from a to b, are asked for; see `cylinder_features`."""
    axis, cone, (deepest, reach), _ = scene
    return deepest <= gap < reach and dot(n, axis) >= cone


@njit
def _vertices(shapes, pair, frame, cylinder, scene, count, out):
    """Add the vertices of b with the end, side or rim of the cylinder that each is nearest to; the new count."""
    b = pair[1]
    for v in range(shapes.first_vertex[b], shapes.first_vertex[b + 1]):
        count = add_point(shapes, pair, frame, cylinder, (v, vector(shapes.vertex[v]), True), scene, count, out)
    return count


@njit
def add_point(shapes, pair, frame, cylinder, vertex, scene, count, out):
    """Add a point of b with the end, side or rim of the cylinder that it is nearest to; the new count.

    ``vertex``: its number, place in the axes of b, and whether its edges are those of the table.
    """
    (a, b), (relative, d), (middle, e, half, r), (v, point, listed) = pair, frame, cylinder, vertex
    radius, size, slack = shapes.radius[b], min(shapes.bound[a], shapes.bound[b]), scene[3]
    q = sub(add(d, rotate(relative, point)), middle)
    across = radial_to(e, q)
    out_by, level = dot(across, q) - r, dot(e, q)
    side = 1 if (level if scene[1] < 0.0 else dot(e, scene[0])) >= 0.0 else 0  # of two ends that of the axis
    centre, sign = end_of(shapes, a, e, side)
    above = sign * level - half
    for feature in range(3):
        if feature == 0:
            holds, gap, n = abs(level) <= half + slack, out_by - radius, across
            kind, key, radii = POINT_LINE, shapes.first_edge[a], (radius, r)
            foot, direction = vector(shapes.vertex[shapes.first_vertex[a]]), e
        elif feature == 1:
            holds, gap, n = out_by <= slack, above - radius, scale(sign, e)
            kind, key, radii = POINT_PLANE, side, (radius, 0.0)
            foot, direction = centre, n
        else:
            length = math.sqrt(out_by * out_by + above * above)
            holds, gap = out_by > 0.0 and above > 0.0 and length > TOUCHING * size, length - radius
            n = scale(1.0 / length, add(scale(out_by, across), scale(sign * above, e))) if holds else e
            kind, key, radii = CIRCLE_POINT, shapes.first_vertex[a] + side, (r, radius)
            foot, direction = centre, e
        if not (holds and is_due(gap, n, scene)):
            continue
        if listed and not reaches_down(shapes, b, v, rotate_back(relative, n)):
            continue
        place = Place(sub(add(q, middle), scale(radius + 0.5 * gap, n)), n)
        if feature == 2:
            ends, keys = (foot, direction, point, NONE), (key, v)
        else:
            ends, keys = (point, NONE, foot, direction), (v, key)
        count = put_features(out, count, kind, feature != 2, keys, ends, radii, gap, place, size)
    return count


@njit
def _opens(edge, n):
    """Return whether a unit vector square to an edge, see `edge_of`, body axes, is among the outward normals there."""
    left, right = edge[4]
    return dot(n, left) <= SLACK and dot(n, right) <= SLACK


@njit
def edge_of(shapes, f):
    """Return edge f of the table for `add_edge`: number, first end, direction, length, vectors square to it.

    These lie along its faces, axes of its body; of the axis of a cylinder they are zero, as its side has all normals.
    """
    left, right = vector(shapes.inward[f, 0]), vector(shapes.inward[f, 1])
    if dot(right, right) == 0.0:
        left = NONE
    return f, vector(shapes.vertex[shapes.edge[f, 0]]), vector(shapes.along[f]), shapes.length[f], (left, right)


@njit
def _crossings(shapes, pair, frame, cylinder, edge, line, scene, count, out):
    """Add the points where an edge crosses a rim beside an end; return the new count.

    ``line``: origin and direction of the edge, axes of a.
    """
    (a, b), (relative, _), (_, e, _, r), (foot, along) = pair, frame, cylinder, line
    radius, size, slack = shapes.radius[b], min(shapes.bound[a], shapes.bound[b]), scene[3]
    level = dot(e, along)
    for side in range(2):
        centre, sign = end_of(shapes, a, e, side)
        n, apart = scale(sign, e), sub(foot, centre)
        flat, start = sub(along, scale(level, e)), sub(apart, scale(dot(e, apart), e))
        square, half_way = dot(flat, flat), dot(flat, start)
        root = half_way * half_way - square * (dot(start, start) - r * r)
        if root <= 0.0 or not _opens(edge, scale(-1.0, rotate_back(relative, n))):
            continue
        for k in range(2):
            rising = sign * level * (2.0 * k - 1.0) > 0.0
            if abs(level) >= FLAT and not rising:
                continue
            at = (-half_way + (2.0 * k - 1.0) * math.sqrt(root)) / square
            point = add(foot, scale(at, along))
            gap = dot(n, sub(point, centre)) - radius
            inside = -slack <= at <= edge[3] + slack
            if not (inside and is_due(gap, n, scene)):
                continue
            crossing = add(edge[1], scale(at, edge[2]))
            keys = shapes.vertex.shape[0] + edge[0], side
            place = Place(sub(point, scale(radius + 0.5 * gap, n)), n)
            count = put_features(
                out, count, POINT_PLANE, True, keys, (crossing, NONE, centre, n), (radius, 0.0), gap, place, size
            )
    return count


@njit
def _edges(shapes, pair, frame, cylinder, scene, count, out):
    """Add the edges of b with the side and the rims of the cylinder; the new count."""
    b = pair[1]
    for f in range(shapes.first_edge[b], shapes.first_edge[b + 1]):
        count = add_edge(shapes, pair, frame, cylinder, edge_of(shapes, f), scene, count, out)
    return count


@njit
def add_edge(shapes, pair, frame, cylinder, edge, scene, count, out):
    """Add an edge of b, see `edge_of`, with the side and the rims of the cylinder; the new count."""
    (a, b), (relative, d), (_, e, half, r) = pair, frame, cylinder
    radius, size, slack = shapes.radius[b], min(shapes.bound[a], shapes.bound[b]), scene[3]
    first, (f, start, turned, span, _) = shapes.first_edge[a], edge
    foot, along = add(d, rotate(relative, start)), rotate(relative, turned)
    n, distance, on_e, on_f = nearest_lines(shapes, first, f, along, foot)
    if dot(n, scene[0]) < 0.0 if scene[2][0] < 0.0 else distance < 0.0:
        n, distance = scale(-1.0, n), -distance
    gap = distance - r - radius
    inside = -slack <= on_e <= 2.0 * half + slack and -slack <= on_f <= span + slack
    inside = inside and dot(n, n) > 0.0 and _opens(edge, scale(-1.0, rotate_back(relative, n)))
    if inside and is_due(gap, n, scene):
        axis = e if dot(cross(e, along), n) < 0.0 else scale(-1.0, e)  # first x second has to point from b to a
        ends = vector(shapes.vertex[shapes.first_vertex[a]]), axis, start, turned
        place = Place(sub(add(foot, scale(on_f, along)), scale(radius + 0.5 * gap, n)), n)
        count = put_features(out, count, LINE_LINE, False, (first, f), ends, (r, radius), gap, place, size)
    if abs(dot(e, along)) < LEVEL:
        count = _crossings(shapes, pair, frame, cylinder, edge, (foot, along), scene, count, out)
    for side in range(2):
        centre, sign = end_of(shapes, a, e, side)
        n, tangent, point, other, at = on_rim(centre, scale(sign, e), r, (foot, along))
        if abs(dot(e, along)) < FLAT and abs(dot(cross(e, along), sub(foot, centre))) < r:
            continue  # see `_crossings`
        gap, arm = dot(n, sub(other, point)) - radius, sub(point, centre)
        outward = dot(n, arm) >= -SLACK * r and sign * dot(n, e) >= -SLACK and dot(n, n) > 0.0
        inside = -slack <= at <= span + slack
        inside = inside and outward and _opens(edge, scale(-1.0, rotate_back(relative, n)))
        if inside and is_due(gap, n, scene):
            line = turned if dot(cross(tangent, along), n) < 0.0 else scale(-1.0, turned)
            ends = centre, scale(sign, e), start, line
            keys, place = (shapes.first_vertex[a] + side, f), Place(sub(other, scale(radius + 0.5 * gap, n)), n)
            count = put_features(out, count, CIRCLE_LINE, False, keys, ends, (r, radius), gap, place, size)
    return count


@njit
def put_rim(out, count, key, circle, plane, point, gap, n, size, whole):
    """Add the pair of a plane and a rim, or if not ``whole`` of the plane and one ``point`` of the rim; the new count.

    circle : centre, axis and radius of the rim, in axes of a
    plane : a point of the plane, and its normal, in axes of b
    gap, n : from the point to the plane, and the normal from a to b
    """
    place, (centre, axis, radius) = Place(add(point, scale(0.5 * gap, n)), n), circle
    if whole:
        kind, ends, radii = CIRCLE_PLANE, (centre, axis, plane[0], plane[1]), (radius, 0.0)
    else:
        kind, ends, radii = POINT_PLANE, (point, NONE, plane[0], plane[1]), (0.0, 0.0)
    return put_features(out, count, kind, False, key, ends, radii, gap, place, size)


@njit
def _faces(shapes, pair, frame, cylinder, scene, count, out):
    """Add the rims of the cylinder with the faces of b that they are above; the new count."""
    (a, b), (relative, d), (_, e, _, r) = pair, frame, cylinder
    radius, size, slack = shapes.radius[b], min(shapes.bound[a], shapes.bound[b]), scene[3]
    for f in range(shapes.first_face[b], shapes.first_face[b + 1]):
        normal = vector(shapes.normal[f])
        n = scale(-1.0, rotate(relative, normal))
        level = dot(e, n)
        if dot(n, scene[0]) < scene[1]:
            continue
        down = sub(n, scale(level, e))
        sine = math.sqrt(dot(down, down))
        u = scale(1.0 / sine, down) if sine > UPRIGHT else vector(shapes.inward[shapes.first_edge[a], 0])
        w, plane = cross(e, u), scale(shapes.offset[f] + radius, normal)
        for side in range(2):
            centre, sign = end_of(shapes, a, e, side)
            if sign * level < -SLACK:
                continue
            for k in range(4 if sine < LEVEL else 1):
                arm = add(scale(QUARTERS[k][0] * r, u), scale(QUARTERS[k][1] * r, w))
                point = add(centre, arm)
                seen = rotate_back(relative, sub(point, d))
                gap = dot(normal, seen) - shapes.offset[f] - radius
                if not (is_due(gap, n, scene) and is_above(shapes, f, seen, slack)):
                    continue
                key, whole = (shapes.first_vertex[a] + side, f), k == 0 and sine > UPRIGHT
                count = put_rim(out, count, key, (centre, e, r), (plane, normal), point, gap, n, size, whole)
    return count


@njit
def _add_all(shapes, pair, frame, cylinder, scene, count, out):
    """Add the features of all kinds; the new count."""
    count = _faces(shapes, pair, frame, cylinder, scene, count, out)
    count = _vertices(shapes, pair, frame, cylinder, scene, count, out)
    return _edges(shapes, pair, frame, cylinder, scene, count, out)


@njit
def cylinder_features(shapes, pair, frame, reach, out):
    """Write the features of a cylinder a and a core b within ``reach``; how many. See `core_features`."""
    cylinder = of_cylinder(shapes, pair[0])
    apart, axis = _widest(shapes, pair, frame, cylinder)
    if apart >= reach:
        return 0
    size = min(shapes.bound[pair[0]], shapes.bound[pair[1]])
    slack = TOUCHING * size
    # the axis, least share of a normal along it, limits of the gaps, and how far beside a feature still counts as on it
    scene = axis, (-2.0 if apart > slack else CONE), (apart - slack, reach), BESIDE * size
    count = _add_all(shapes, pair, frame, cylinder, scene, 0, out)
    for k in range(count):
        if out.gap[k] <= apart + slack:
            return count
    alone = axis, ALONE, (apart - slack, apart + slack), math.inf
    count = _add_all(shapes, pair, frame, cylinder, alone, count, out)
    if count > 0:
        return count
    anything = axis, -2.0, (apart - slack if apart > slack else -math.inf, reach), math.inf
    return _add_all(shapes, pair, frame, cylinder, anything, count, out)
