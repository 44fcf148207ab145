"""The points of two circles that are nearest to each other, and their rates; see rims.py.

Distances between the points of two circles have up to two least values. They are found by the sign of the slope at
``PARTS`` points of the first circle, with the point of the second that is nearest to each.
"""

import math

from varint.base.numba import njit
from varint.geometry.rims import is_tangent, normal_on_line, radial_to, turned_unit
from varint.mathematics.vectors import add, cross, dot, scale, sub

PARTS = 20  # of the first circle, in each of which one least distance is found
STEPS = 30  # of Newton's method, at most
PARALLEL = 1e-10  # determinant of the least distance, over those of both radii, below which it is not a point
INWARD = -0.3  # least share of the normal along the outward directions of a rim


@njit
def _radial(first, angle):
    """Return the radial unit vector of a circle (centre, axis, radius, two directions across) at an angle."""
    return add(scale(math.cos(angle), first[3]), scale(math.sin(angle), first[4]))


@njit
def _slope(first, second, p):
    """Return the slope of the distance from a circle's point along ``p`` to the other circle, times the distance."""
    (C, e, r, _, _), (D, f, s) = first, second
    A = add(C, scale(r, p))
    B = add(D, scale(s, radial_to(f, sub(A, D))))
    return dot(cross(e, p), sub(A, B))


@njit
def _polished(first, second, p, q):
    """Return both radial vectors of a least distance near ``p`` and ``q``, and whether Newton's method found one."""
    (C, e, r, _, _), (D, f, s) = first, second
    for _ in range(STEPS):
        t, o = cross(e, p), cross(f, q)
        w = sub(add(C, scale(r, p)), add(D, scale(s, q)))
        a, b, c = r - dot(p, w), s + dot(q, w), dot(t, o)
        det = a * b - r * s * c * c
        if det <= PARALLEL * r * s or a <= 0.0:
            return p, q, False
        u, v = -dot(t, w), dot(o, w)
        first_turn, second_turn = (b * u + s * c * v) / det, (r * c * u + a * v) / det
        largest = max(abs(first_turn), abs(second_turn))
        if largest > 0.3:
            first_turn, second_turn = first_turn * 0.3 / largest, second_turn * 0.3 / largest
        p, q = add(p, scale(first_turn, t)), add(q, scale(second_turn, o))
        p, q = scale(1.0 / math.sqrt(dot(p, p)), p), scale(1.0 / math.sqrt(dot(q, q)), q)
        if largest < 1e-13:
            break
    return p, q, True


@njit
def start_of(centre, axis, r, other):
    """Return a circle with two directions across its axis, the first towards ``other``, for `nearest_in_part`."""
    u = radial_to(axis, sub(other, centre))
    return centre, axis, r, u, cross(axis, u)


@njit
def nearest_in_part(first, second, k):
    """Return radial vectors of both circles at their least distance, and whether that is in part k of ``PARTS``.

    first : see `start_of`
    second : centre, axis and radius
    """
    low, high = 2.0 * math.pi * (k - 0.5) / PARTS, 2.0 * math.pi * (k + 0.5) / PARTS
    below, above = _slope(first, second, _radial(first, low)), _slope(first, second, _radial(first, high))
    p, q = first[3], first[3]
    if below > 0.0 or above <= 0.0:
        return p, q, False
    for _ in range(4):
        middle = 0.5 * (low + high)
        if _slope(first, second, _radial(first, middle)) > 0.0:
            high = middle
        else:
            low = middle
    p = _radial(first, 0.5 * (low + high))
    q = radial_to(second[1], sub(add(first[0], scale(first[2], p)), second[0]))
    return _polished(first, second, p, q)


@njit
def nearest_on_circles(centre, axis, r, other):
    """Return the radial vectors of two rims where they face each other and are nearest.

    ``other``: centre, axis and radius.

    The axes are outward of the first, and such that tangent x tangent, of tangents axis x radial, points from the
    second to the first; of two places where rims cross this is one.
    """
    first = start_of(centre, axis, r, other[0])
    best, P, Q = math.inf, first[3], radial_to(other[1], sub(centre, other[0]))
    for k in range(PARTS):
        p, q, there = nearest_in_part(first, other, k)
        if not there:
            continue
        away = sub(add(centre, scale(r, p)), add(other[0], scale(other[2], q)))
        n, _ = normal_on_line(cross(axis, p), cross(other[1], q), away)
        square = dot(away, away)
        if -dot(n, p) < INWARD or -dot(n, axis) < INWARD or dot(n, q) < INWARD:
            square += 1e6 * (r + other[2]) * (r + other[2])
        if square < best:
            best, P, Q = square, p, q
    return P, Q


@njit
def move_on_circles(centre, axis, r, other_centre, other_axis, s):
    """Return rates of the normal and of the nearest points of two moving circles, see `nearest_on_circles`.

    Of all but the radii a value and its rate are given. The radial vectors change by q + k t, as in `move_on_line`, and
    the rates k along both tangents follow from t . (A - B) = 0.
    """
    (C, dC), (e, de), (D, dD), (f, df) = centre, axis, other_centre, other_axis
    p, q = nearest_on_circles(C, e, r, (D, f, s))
    t, o = cross(e, p), cross(f, q)
    away = sub(add(C, scale(r, p)), add(D, scale(s, q)))
    fixed, known = scale(-dot(de, p), e), scale(-dot(df, q), f)
    lean, tilt = cross(de, p), cross(df, q)  # t' is lean - k p
    moving = sub(add(dC, scale(r, fixed)), add(dD, scale(s, known)))
    a, b, c = r - dot(p, away), s + dot(q, away), dot(t, o)
    u, v = -dot(lean, away) - dot(t, moving), dot(tilt, away) + dot(o, moving)
    det = a * b - r * s * c * c
    k, m = ((b * u + s * c * v) / det, (r * c * u + a * v) / det) if det != 0.0 else (0.0, 0.0)
    dA, dB = add(dC, scale(r, add(fixed, scale(k, t)))), add(dD, scale(s, add(known, scale(m, o))))
    n, length = normal_on_line(t, o, away)
    change = sub(dA, dB)
    if not is_tangent(t, o):
        change = add(cross(sub(lean, scale(k, p)), o), cross(t, sub(tilt, scale(m, q))))
    return turned_unit(n, length, change), dA, dB
