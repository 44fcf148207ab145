"""The points of a circle that are nearest to a point or to a line, and their rates.

A circle is given by its centre C, its axis e, a unit vector, and its radius r, m; its points are C + r p, with unit
vectors p square to e, the *radial* ones.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, scale, square_to, sub

ITERATIONS = 40  # at most, of the search on an ellipse
POLISHED = 4  # iterations of Newton's method on the circle itself ...
LARGEST_TURN = 0.1  # ... and the largest of their steps
PARALLEL = 1e-4  # sine of the angle between a line and the tangent of a circle, below which they have no normal
AXIAL = 0.01  # sine of the angle between a line and the axis, below which the ellipse is all but a circle


@njit
def turned_unit(unit, length, change):
    """Return the change of a unit vector from that of the vector of ``length`` along it; zero for length zero."""
    return scale(1.0 / length, sub(change, scale(dot(unit, change), unit))) if length > 0.0 else (0.0, 0.0, 0.0)


@njit
def radial_to(e, apart):
    """Return the radial unit vector towards a point ``apart`` from the centre; any where that is on the axis."""
    out = sub(apart, scale(dot(e, apart), e))
    length = math.sqrt(dot(out, out))
    return scale(1.0 / length, out) if length > 0.0 else square_to(e)[0]


@njit
def _on_half_ellipse(flat, x, y):
    """Return (cos, sin) of the point (cos, flat sin), upper half, of an ellipse whose normal meets (x, y), x >= 0.

    ``flat``: minor over major semi-axis, 0 to 1. With the multiplier t the point is (x / (t + 1), flat^2 y / (t +
    flat^2)), and what it misses of the ellipse is a convex function of t, which Newton's method descends from one side
    (Eberly, Distance from a point to an ellipse, 2013). A point below the axis has t < -flat^2, if there is any.
    """
    square = flat * flat
    t = max(flat * y - square, x - 1.0) if y >= 0.0 else flat * y - square
    for _ in range(ITERATIONS):
        a, b = t + 1.0, t + square
        if a <= 0.0 or b == 0.0:
            break
        cosine, sine = x / a, flat * y / b
        slope = 2.0 * (cosine * cosine / a + sine * sine / b)
        if slope == 0.0 or (y < 0.0 and slope > 0.0):
            break
        step = (cosine * cosine + sine * sine - 1.0) / slope
        t += step
        if abs(step) <= 1e-15:
            break
    if t + 1.0 > 0.0 and flat * y != 0.0 and (t + square) * y > 0.0:
        cosine, sine = x / (t + 1.0), flat * y / (t + square)
        if abs(cosine * cosine + sine * sine - 1.0) < 1e-3:
            return cosine, sine
    cosine = min(x / max(1.0 - square, x, 1e-300), 1.0) if y >= 0.0 else min(x, 1.0)
    return cosine, math.sqrt(1.0 - cosine * cosine)


@njit
def nearest_to_line(e, f, apart, r):
    """Return the radial unit vector to the point of a circle nearest to a line, and the coordinate along the line.

    ``e``: the axis, outward of the end whose rim the circle is: of its points those are meant that face this way.
    ``f``: the line's direction, a unit vector; ``apart``: from the centre to its origin, where its coordinate is zero.
    Along the line the circle is seen as an ellipse, and the line as a point.
    """
    level, across = dot(e, f), cross(e, f)
    sine = math.sqrt(dot(across, across))
    p = radial_to(e, sub(apart, scale(dot(f, apart), f)))
    if sine > AXIAL:
        u = scale(1.0 / sine, across)
        w, seen = cross(e, u), cross(f, u)  # w is seen as ``level`` times the latter
        x, y = dot(u, apart) / r, dot(seen, apart) / r
        c, s = _on_half_ellipse(abs(level), abs(x), y)
        p = add(scale(math.copysign(c, x), u), scale(math.copysign(s, level), w))
        p = radial_to(e, p)
    for _ in range(POLISHED):
        tangent = cross(e, p)
        away = sub(scale(r, p), apart)
        away = sub(away, scale(dot(f, away), f))
        along = dot(f, tangent)
        bend = r * (1.0 - along * along) - dot(p, away)
        turn = -dot(tangent, away) / bend if bend > 0.0 else 1.0
        if abs(turn) > LARGEST_TURN:
            break
        p = add(p, scale(turn, tangent))
        p = scale(1.0 / math.sqrt(dot(p, p)), p)
    return p, dot(f, sub(scale(r, p), apart))


@njit
def nearest_to_point(centre, axis, r, point):
    """Return the nearest point of a moving circle to a moving point, and its rate.

    Of all a value and its rate are given.
    """
    (C, dC), (e, de), (Q, dQ) = centre, axis, point
    apart, parting = sub(Q, C), sub(dQ, dC)
    height, rising = dot(e, apart), dot(de, apart) + dot(e, parting)
    out = sub(apart, scale(height, e))
    length = math.sqrt(dot(out, out))
    p = radial_to(e, apart)
    turning = turned_unit(p, length, sub(parting, add(scale(rising, e), scale(height, de))))
    return add(C, scale(r, p)), add(dC, scale(r, turning))


@njit
def is_tangent(tangent, f):
    """Return whether a line is all but along the tangent of a circle where it is nearest."""
    n = cross(tangent, f)
    return dot(n, n) < PARALLEL * PARALLEL


@njit
def normal_on_line(tangent, f, away):
    """Return the normal from a line to the nearest point of a circle, along tangent x line, and its length before.

    ``away``: from the line to that point, along which the normal is where the line is all but a tangent.
    """
    n = away if is_tangent(tangent, f) else cross(tangent, f)
    length = math.sqrt(dot(n, n))
    return (scale(1.0 / length, n) if length > 0.0 else n), length


@njit
def move_on_line(centre, axis, r, origin, line):
    """Return rates of the normal and of the nearest points of a moving circle and a moving line, see `normal_on_line`.

    Of all a value and its rate are given. With the radial vector p, p' = q + k t for the rate k along the tangent t,
    where q keeps p square to the axis that turns. From t . (A - B) = 0, with A and B the nearest points, follows k.
    """
    (C, dC), (e, de), (Q, dQ), (f, df) = centre, axis, origin, line
    p, along = nearest_to_line(e, f, sub(Q, C), r)
    t = cross(e, p)
    away = sub(add(C, scale(r, p)), add(Q, scale(along, f)))
    q, lean = scale(-dot(de, p), e), cross(de, p)  # t' is lean - k p
    fixed = sub(add(dC, scale(r, q)), add(dQ, scale(along, df)))
    level = dot(f, t)
    known = dot(t, fixed) - level * (dot(f, fixed) + dot(df, away)) + dot(lean, away)
    k = -known / (r * (1.0 - level * level) - dot(p, away))
    slide = dot(f, fixed) + dot(df, away) + r * k * level
    dA = add(dC, scale(r, add(q, scale(k, t))))
    dB = add(dQ, add(scale(along, df), scale(slide, f)))
    n, length = normal_on_line(t, f, away)
    change = sub(dA, dB) if is_tangent(t, f) else add(cross(sub(lean, scale(k, p)), f), cross(t, df))
    return turned_unit(n, length, change), dA, dB
