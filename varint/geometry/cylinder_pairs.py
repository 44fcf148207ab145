"""Features by which two cylinders face each other: sides, ends and rims.

As in cylinders.py, first the axis along which they are furthest apart, or overlap least, then all features about it
that are within reach. The side of each cylinder is an edge with a radius to the rims and the side of the other.
Cylinders side by side touch at the rims at both ends of their common length. Ends that lie on each other touch at
points of the rims and where the rims cross.

Arguments with one meaning in all functions:

shapes : record of the arrays of all shapes, read only
pair : numbers a, b of the two cylinders in ``shapes``
frame : rotation (3, 3) and position (3,), m, of the axes of body b in those of body a
scene : axis of the search, from a to b, axes of a; least cosine of a normal with it, -2 for any; range of the gaps, m;
    how far beside an end, m, a point still counts as above it
count, out : number of the pairs of features in ``out``, the record of arrays to which functions add pairs

A cylinder is a tuple: middle (3,), m, unit vector e (3,) along its axis, half length, m, radius, m; a circle or a rim
one of centre (3,), m, outward axis (3,), radius, m. All are in axes of a. ``side``: 0 for the first end, 1 for the
second.
"""

import math

from varint.base.numba import njit
from varint.geometry.circles import PARTS, nearest_in_part, start_of
from varint.geometry.cores import BESIDE, CONE, NONE, SLACK, TOUCHING, Place, put_features
from varint.geometry.cylinders import ALONE, LEVEL, add_edge, edge_of, end_of, is_due, of_cylinder, on_rim, put_rim
from varint.geometry.features import CIRCLE_CIRCLE
from varint.geometry.half_spaces import QUARTERS, UPRIGHT
from varint.geometry.rims import is_tangent, radial_to
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector

FACING = 1e-6  # distance over the size of the shapes, below which rims tangent to each other determine no normal


@njit
def _seen(shapes, b, frame):
    """Return the cylinder ``b``: middle (3,) and axis (3,) in the axes of a, half length and radius, m."""
    (relative, d), (middle, e, half, r) = frame, of_cylinder(shapes, b)
    return add(d, rotate(relative, middle)), rotate(relative, e), half, r


@njit
def _reach_along(cylinder, n):
    """Return the distance by which ``cylinder`` reaches beyond its middle along the unit vector ``n``, m."""
    _, e, half, r = cylinder
    across = cross(n, e)
    return half * abs(dot(n, e)) + r * math.sqrt(dot(across, across))


@njit
def _better(a, b, n, best):
    """Return the larger separation, m, with its axis (3,): ``best``, or that of the cylinders along ``n`` (3,).

    ``a``, ``b``: the cylinders. A zero ``n`` is left out.
    """
    if dot(n, n) == 0.0:
        return best
    apart = dot(n, sub(b[0], a[0])) - _reach_along(a, n) - _reach_along(b, n)
    return (apart, n) if apart > best[0] else best


@njit
def _rim(cylinder, side):
    """Return the rim of ``cylinder`` at the end ``side``."""
    middle, e, half, r = cylinder
    outward = scale(2.0 * side - 1.0, e)
    return add(middle, scale(half, outward)), outward, r


@njit
def _rims_at(first, second, k, size):
    """Return the radial unit vectors (3,) where two rims are nearest, the normal (3,), and whether they are facing.

    first : circle of a, see `start_of`
    second : rim of b
    k : part of the first circle that is searched, see `nearest_in_part`
    size : of the smaller shape, m

    The normal is a unit vector out of the first rim; zero or of no meaning if they do not face each other.
    """
    (C, e, r, _, _), (D, f, s) = first, second
    p, q, there = nearest_in_part(first, second, k)
    if not there:
        return p, q, NONE, False
    t, o, away = cross(e, p), cross(f, q), sub(add(D, scale(s, q)), add(C, scale(r, p)))
    n = cross(t, o)
    if is_tangent(t, o):
        n = away if dot(away, away) > FACING * FACING * size * size else NONE
    length = math.sqrt(dot(n, n))
    if length == 0.0:
        return p, q, n, False
    n = scale((1.0 if dot(n, add(add(p, e), scale(-1.0, add(q, f)))) >= 0.0 else -1.0) / length, n)
    outward = min(dot(n, p), dot(n, e)) >= -SLACK and max(dot(n, q), dot(n, f)) <= SLACK
    return p, q, n, outward


@njit
def _widest(shapes, pair, frame):
    """Return the separation of the cylinders, m, negative for an overlap, and its axis (3,) from a to b."""
    a, b = of_cylinder(shapes, pair[0]), _seen(shapes, pair[1], frame)
    size = min(shapes.bound[pair[0]], shapes.bound[pair[1]])
    best = _better(a, b, a[1], (-math.inf, a[1]))
    best = _better(a, b, scale(-1.0, a[1]), best)
    best = _better(a, b, b[1], best)
    best = _better(a, b, scale(-1.0, b[1]), best)
    n, apart = cross(a[1], b[1]), sub(b[0], a[0])
    sine = math.sqrt(dot(n, n))
    if sine > UPRIGHT:
        n = scale((1.0 if dot(n, apart) >= 0.0 else -1.0) / sine, n)
        best = _better(a, b, n, best)
    best = _better(a, b, radial_to(a[1], apart), best)
    for side in range(2):
        C, e, r = _rim(a, side)
        n, _, _, _, _ = on_rim(C, e, r, (b[0], b[1]))
        best = _better(a, b, n, best)
        D, f, s = _rim(b, side)
        n, _, _, _, _ = on_rim(D, f, s, (a[0], a[1]))
        best = _better(a, b, scale(-1.0, n), best)
        for other in range(2):
            second = _rim(b, other)
            first = start_of(C, e, r, second[0])
            for k in range(PARTS):
                _, _, n, outward = _rims_at(first, second, k, size)
                if outward:
                    best = _better(a, b, n, best)
    return best


@njit
def _rims(shapes, pair, frame, scene, count, out):
    """Add the pairs of rims that face each other, with places (6,) in ``out``; return the new count."""
    a, b = pair
    first, second, size = of_cylinder(shapes, a), _seen(shapes, b, frame), min(shapes.bound[a], shapes.bound[b])
    for side in range(4):
        C, e, r = _rim(first, side // 2)
        rim = _rim(second, side % 2)
        start = start_of(C, e, r, rim[0])
        for k in range(PARTS):
            p, q, n, outward = _rims_at(start, rim, k, size)
            if not outward:
                continue
            A, B = add(C, scale(r, p)), add(rim[0], scale(rim[2], q))
            gap = dot(n, sub(B, A))
            if not is_due(gap, n, scene):
                continue
            v, w = shapes.first_vertex[a] + side // 2, shapes.first_vertex[b] + side % 2
            flip = dot(cross(cross(e, p), cross(rim[1], q)), n) > 0.0  # tangent x tangent points from b to a
            axis = scale((2.0 * (side % 2) - 1.0) * (-1.0 if flip else 1.0), vector(shapes.along[shapes.first_edge[b]]))
            ends = vector(shapes.vertex[v]), e, vector(shapes.vertex[w]), axis
            keys, place = (v, w + (shapes.vertex.shape[0] if flip else 0)), Place(sub(B, scale(0.5 * gap, n)), n)
            count = put_features(out, count, CIRCLE_CIRCLE, False, keys, ends, (r, rim[2]), gap, place, size)
    return count


@njit
def _ends(shapes, pair, frame, scene, count, out):
    """Add the rims of a above an end of b, with that end and places (6,) in ``out``; return the new count."""
    (a, b), (relative, d) = pair, frame
    (_, e, _, r), (_, f, _, s) = of_cylinder(shapes, a), _seen(shapes, b, frame)
    size, slack = min(shapes.bound[a], shapes.bound[b]), scene[3]
    centre_line = vector(shapes.along[shapes.first_edge[b]])
    for other in range(2):
        foot = vector(shapes.vertex[shapes.first_vertex[b] + other])
        normal, centre, n = (
            scale(2.0 * other - 1.0, centre_line),
            add(d, rotate(relative, foot)),
            scale(1.0 - 2.0 * other, f),
        )
        level = dot(e, n)
        if dot(n, scene[0]) < scene[1]:
            continue
        down = sub(n, scale(level, e))
        sine = math.sqrt(dot(down, down))
        u = scale(1.0 / sine, down) if sine > UPRIGHT else vector(shapes.inward[shapes.first_edge[a], 0])
        w = cross(e, u)
        for side in range(2):
            C, sign = end_of(shapes, a, e, side)
            if sign * level < -SLACK:
                continue
            for k in range(4 if sine < LEVEL else 1):
                arm = add(scale(QUARTERS[k][0] * r, u), scale(QUARTERS[k][1] * r, w))
                point = add(C, arm)
                away = sub(centre, point)
                gap = dot(n, away)
                beside = sub(away, scale(gap, n))
                if not is_due(gap, n, scene) or math.sqrt(dot(beside, beside)) > s + slack:
                    continue
                key, whole = (shapes.first_vertex[a] + side, other), k == 0 and sine > UPRIGHT
                count = put_rim(out, count, key, (C, e, r), (foot, normal), point, gap, n, size, whole)
    return count


@njit
def _exchange(frame, scene, count, out):
    """Exchange a and b in the pairs of features; return ``frame`` and ``scene`` with a and b exchanged.

    Changes ``out.place`` (count, 6) and ``out.swapped`` (count,), and transposes the rotation of ``frame`` in place.
    """
    (relative, d), (axis, cone, gaps, slack) = frame, scene
    for k in range(count):
        at, n = vector(out.place[k]), vector(out.place[k, 3:])
        at, n = rotate_back(relative, sub(at, d)), scale(-1.0, rotate_back(relative, n))
        for i in range(3):
            out.place[k, i], out.place[k, 3 + i] = at[i], n[i]
        out.swapped[k] = not out.swapped[k]
    d, axis = scale(-1.0, rotate_back(relative, d)), scale(-1.0, rotate_back(relative, axis))
    for i in range(3):
        for j in range(i):
            relative[i, j], relative[j, i] = relative[j, i], relative[i, j]
    return (relative, d), (axis, cone, gaps, slack)


@njit
def _add_all(shapes, pair, frame, scene, count, out):
    """Add the pairs of features of all kinds, with places (6,) in ``out``; return the new count.

    ``frame`` is changed, and restored at the end.
    """
    for _ in range(2):
        a, b = pair
        count = _ends(shapes, pair, frame, scene, count, out)
        edge = edge_of(shapes, shapes.first_edge[b])
        count = add_edge(shapes, pair, frame, of_cylinder(shapes, a), edge, scene, count, out)
        frame, scene = _exchange(frame, scene, count, out)
        pair = b, a
    return _rims(shapes, pair, frame, scene, count, out)


@njit
def cylinder_pair_features(shapes, pair, frame, reach, out):
    """Write the pairs of features of two cylinders within ``reach``, m, to ``out``; return their number.

    ``pair``, ``frame``: see the module; the rotation is (3, 3), the position (3,), m.
    """
    apart, axis = _widest(shapes, pair, frame)
    if apart >= reach:
        return 0
    size = min(shapes.bound[pair[0]], shapes.bound[pair[1]])
    slack = TOUCHING * size
    # features about the axis; if none is as near as the cylinders are, those along it; else any within reach
    scene = axis, (-2.0 if apart > slack else CONE), (apart - slack, reach), BESIDE * size
    count = _add_all(shapes, pair, frame, scene, 0, out)
    for k in range(count):
        if out.gap[k] <= apart + slack:
            return count
    alone = axis, ALONE, (apart - slack, apart + slack), math.inf
    count = _add_all(shapes, pair, frame, alone, count, out)
    if count > 0:
        return count
    anything = axis, -2.0, (apart - slack if apart > slack else -math.inf, reach), math.inf
    return _add_all(shapes, pair, frame, anything, count, out)
