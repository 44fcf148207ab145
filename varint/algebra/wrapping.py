"""The shortest line from a point P to a point Q around a sphere or a cylinder: its length, gradient and curvature.

Points are relative to the centre, in axes of the surface; ``axis`` is the unit vector along a cylinder, and zero for a
sphere. Across the axis the line consists of two tangents and an arc. With D = |P|, the radius r, a = sqrt(D^2 - r^2),
the angle theta from P to Q about n, and phi = theta - acos(r / D_P) - acos(r / D_Q):

    length    L2 = a_P + a_Q + r phi,    dL2 = a_P / D_P dD_P + a_Q / D_Q dD_Q + r dtheta + phi dr

Along the axis it is linear in L2: L = hypot(L2, z). A sphere has its plane through P, Q and the centre.

With smoothing eps the radius is r_s = h + eps log(1 + exp((r - h) / eps)), h the signed distance of the line PQ from
the axis on the side that it passes: the line then leaves the surface without a jump of any derivative.

Inside a ring the line touches it at the point T where n . (T x (unit(T - P) + unit(T - Q))) = 0.

Rules of sides as in MuJoCo: the line is straight where the segment clears the surface, and, if there is a side, is on
it. Of the two tangent pairs it takes the one nearer to the side; without a side the shorter one.
"""

import math

from varint._numba import njit
from varint.algebra.vectors import ZERO, add, cross, dot, scale, square_to, sub

FREE, OUTSIDE, INSIDE = 0.0, 1.0, 2.0  # without a side; with a side beyond the radius; within the radius
STRAIGHT, AROUND, WITHIN = range(3)  # courses of the line
FAR = 36.0  # of (h - r) / eps: r_s - h is below round-off
TINY = 1e-15
NO_SIZES = (0.0,) * 9  # where the line does not turn about an arc
ITERATIONS = 100  # of the touching point, by bisection at worst


@njit
def _unit(a):
    size = math.sqrt(dot(a, a))
    return scale(1.0 / size if size > 0.0 else 0.0, a)


@njit
def _across(axis, a):
    """The part of a vector at right angles to the axis."""
    return sub(a, scale(dot(axis, a), axis))


@njit
def _tangent_points(P, Q, n, radius):
    """Points where the two tangents of the line that turns about n from P to Q touch the circle."""
    a = math.sqrt(max(0.0, dot(P, P) - radius * radius))
    b = math.sqrt(max(0.0, dot(Q, Q) - radius * radius))
    one = scale(radius / dot(P, P), add(scale(radius, P), scale(a, cross(n, P))))
    return one, scale(radius / dot(Q, Q), sub(scale(radius, Q), scale(b, cross(n, Q))))


@njit
def _tangents_meet(P, Q, n, radius):
    """Whether the two tangents intersect."""
    one, other = _tangent_points(P, Q, n, radius)
    e, f, g = sub(one, P), sub(other, Q), sub(P, Q)
    size = dot(n, cross(e, f))
    if abs(size) < TINY:
        return False
    return 0.0 <= dot(n, cross(f, g)) / size <= 1.0 and 0.0 <= dot(n, cross(e, g)) / size <= 1.0


@njit
def _nearest(P, Q):
    """The point of the segment PQ nearest to the centre, and its place: 0 at P, 1 at Q."""
    d = sub(Q, P)
    size = dot(d, d)
    place = -dot(d, P) / size if size > TINY else 0.0
    return add(P, scale(min(1.0, max(0.0, place)), d)), place


@njit
def _normal(P, Q, axis):
    """The normal of the plane of the line: the axis, or that through both points and the centre of a sphere."""
    if dot(axis, axis) > 0.0:
        return axis
    n = cross(P, Q)
    if dot(n, n) > TINY * TINY:
        return _unit(n)
    return square_to(_unit(P))[0]


@njit
def _goodness(P, Q, n, radius, side, smoothing):
    """Nearness of the arc to the side; less than any if its tangents intersect."""
    if smoothing == 0.0 and _tangents_meet(P, Q, n, radius):
        return -1e4
    one, other = _tangent_points(P, Q, n, radius)
    return dot(_unit(add(one, other)), side)


@njit
def _course(P, Q, axis, surface):
    """The course of the line, STRAIGHT, AROUND or WITHIN, and n; ``surface``: (radius, mode, smoothing, side)."""
    radius, mode, smoothing, side = surface
    n = _normal(P, Q, axis)
    if min(dot(P, P), dot(Q, Q)) <= radius * radius:
        return STRAIGHT, n
    near, place = _nearest(P, Q)
    clears = dot(near, near) > radius * radius
    turns = dot(n, cross(P, Q))
    if mode == INSIDE:
        if turns < 0.0:
            n = scale(-1.0, n)
        return (WITHIN if clears or not 0.0 < place < 1.0 else STRAIGHT), n
    flat = sub(side, scale(dot(n, side), n))
    if mode == FREE:
        if turns < 0.0:
            n = scale(-1.0, n)
    else:
        flat, back = _unit(flat), scale(-1.0, n)
        if _goodness(P, Q, back, radius, flat, smoothing) > _goodness(P, Q, n, radius, flat, smoothing):
            n = back
    if smoothing > 0.0:
        return _smooth_course(P, Q, n, radius, smoothing), n
    if clears and (mode == FREE or dot(flat, near) >= 0.0):
        return STRAIGHT, n
    return (STRAIGHT if _tangents_meet(P, Q, n, radius) else AROUND), n


@njit
def _smooth_course(P, Q, n, radius, smoothing):
    """The course about n at the smooth radius."""
    d = sub(Q, P)
    h = dot(n, cross(P, Q)) / max(TINY, math.sqrt(dot(d, d)))
    rs = _smooth_radius(h, radius, smoothing)[0]
    if h - radius > FAR * smoothing or rs * rs >= min(dot(P, P), dot(Q, Q)):
        return STRAIGHT
    phi = _angles(P, Q, n, rs)
    if phi <= 0.0 or (phi > math.pi and _tangents_meet(P, Q, n, rs)):
        return STRAIGHT
    return AROUND


@njit
def _smooth_radius(h, radius, smoothing):
    """r_s and its first two derivatives by h; the radius itself without smoothing."""
    if smoothing == 0.0:
        return radius, 0.0, 0.0
    x = (radius - h) / smoothing
    small = math.exp(-abs(x))
    share = small / (1.0 + small) if x > 0.0 else 1.0 / (1.0 + small)  # 1 - sigmoid(x)
    return h + smoothing * (max(x, 0.0) + math.log1p(small)), share, share * (1.0 - share) / smoothing


@njit
def _angles(P, Q, n, radius):
    """phi, without turns where the tangents only just miss the circle."""
    theta = math.atan2(dot(n, cross(P, Q)), dot(P, Q))
    if theta < 0.0:
        theta += 2.0 * math.pi
    near = math.acos(min(1.0, radius / math.sqrt(dot(P, P))))
    return theta - near - math.acos(min(1.0, radius / math.sqrt(dot(Q, Q))))


@njit
def _sizes(P, Q, n, radius, smoothing):
    """(D_P, D_Q, a_P, a_Q, length of PQ, r_s and its derivatives by h, phi)."""
    one, other, d = math.sqrt(dot(P, P)), math.sqrt(dot(Q, Q)), sub(Q, P)
    size = math.sqrt(dot(d, d))
    rs, slope, bend = _smooth_radius(dot(n, cross(P, Q)) / size, radius, smoothing)
    a, b = math.sqrt(max(0.0, one * one - rs * rs)), math.sqrt(max(0.0, other * other - rs * rs))
    return one, other, a, b, size, rs, slope, bend, _angles(P, Q, n, rs)


@njit
def _around(P, Q, n, sizes):
    """L2, and its gradients by P and Q; ``sizes``: `_sizes`."""
    one, other, a, b, size, rs, slope, _, phi = sizes
    by_p = scale(1.0 / (one * one), sub(scale(a, P), scale(rs, cross(n, P))))
    by_q = scale(1.0 / (other * other), add(scale(b, Q), scale(rs, cross(n, Q))))
    if slope > 0.0:
        share, d, c = phi * slope / size, sub(Q, P), dot(n, cross(P, Q)) / (size * size)
        by_p = add(by_p, scale(share, add(cross(Q, n), scale(c, d))))
        by_q = add(by_q, scale(share, sub(cross(n, P), scale(c, d))))
    return a + b + rs * phi, by_p, by_q


@njit
def _around_change(P, Q, dP, dQ, plane, sizes):
    """Changes of the gradients of `_around`; ``plane``: n and its change; ``sizes``: `_sizes`."""
    n, dn = plane
    one, other, a, b, size, rs, slope, bend, phi = sizes
    d, dd = sub(Q, P), sub(dQ, dP)
    turn = dot(n, cross(P, Q))
    by_c_p, by_c_q = cross(Q, n), cross(n, P)
    dc, dsize = dot(by_c_p, dP) + dot(by_c_q, dQ), dot(d, dd) / size
    dh = dc / size - turn * dsize / (size * size)
    drs = slope * dh
    done, dother = dot(P, dP) / one, dot(Q, dQ) / other
    da, db = (one * done - rs * drs) / max(TINY, a), (other * dother - rs * drs) / max(TINY, b)
    dtheta = dot(cross(n, Q), dQ) / (other * other) - dot(cross(n, P), dP) / (one * one)
    dphi = dtheta + (drs - rs * done / one) / max(TINY, a) + (drs - rs * dother / other) / max(TINY, b)
    by_p = scale(1.0 / (one * one), sub(scale(a, P), scale(rs, cross(n, P))))
    by_q = scale(1.0 / (other * other), add(scale(b, Q), scale(rs, cross(n, Q))))
    side = add(scale(drs, cross(n, P)), scale(rs, add(cross(dn, P), cross(n, dP))))
    dby_p = scale(1.0 / (one * one), sub(add(scale(da, P), scale(a, dP)), side))
    dby_p = sub(dby_p, scale(2.0 * done / one, by_p))
    side = add(scale(drs, cross(n, Q)), scale(rs, add(cross(dn, Q), cross(n, dQ))))
    dby_q = scale(1.0 / (other * other), add(add(scale(db, Q), scale(b, dQ)), side))
    dby_q = sub(dby_q, scale(2.0 * dother / other, by_q))
    if slope > 0.0:
        c, share = turn / (size * size), phi * slope / size
        dshare = (dphi * slope + phi * bend * dh) / size - share * dsize / size
        lean = scale(dc / (size * size) - 2.0 * c * dsize / size, d)
        lean, tilt = add(lean, scale(c, dd)), scale(c, d)
        change = add(add(cross(dQ, n), cross(Q, dn)), lean)
        dby_p = add(dby_p, add(scale(dshare, add(by_c_p, tilt)), scale(share, change)))
        change = sub(add(cross(dn, P), cross(n, dP)), lean)
        dby_q = add(dby_q, add(scale(dshare, sub(by_c_q, tilt)), scale(share, change)))
    return dby_p, dby_q


@njit
def _touching(P, Q, n, radius):
    """The point of the circle that the line within it touches."""
    x = _unit(P)
    y = cross(n, x)
    low, high = 0.0, math.atan2(dot(n, cross(P, Q)), dot(P, Q))
    w = 0.5 * high
    for _ in range(ITERATIONS):
        T = scale(radius, add(scale(math.cos(w), x), scale(math.sin(w), y)))
        t = cross(n, T)
        u, v = sub(T, P), sub(T, Q)
        p, q = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
        slope = dot(t, u) / p + dot(t, v) / q
        bend = (radius**2 - (dot(t, u) / p) ** 2) / p - dot(T, u) / p
        bend += (radius**2 - (dot(t, v) / q) ** 2) / q - dot(T, v) / q
        low, high = (w, high) if slope < 0.0 else (low, w)
        step = -slope / bend if bend > 0.0 else math.inf
        new = w + step if low < w + step < high else 0.5 * (low + high)
        if abs(new - w) <= 2e-16:
            break
        w = new
    return scale(radius, add(scale(math.cos(w), x), scale(math.sin(w), y)))


@njit
def _within_change(P, Q, dP, dQ, n, flat, T):
    """Changes of the gradients unit(P - T), unit(Q - T); T moves along the circle, and, unless ``flat``, the sphere."""
    u, v = sub(T, P), sub(T, Q)
    p, q = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    u, v = scale(1.0 / p, u), scale(1.0 / q, v)
    pull = dot(add(u, v), T) / dot(T, T)
    dT = ZERO
    force = add(scale(1.0 / p, _across(u, dP)), scale(1.0 / q, _across(v, dQ)))
    for k in range(1 if flat else 2):
        e = _unit(cross(n, T)) if k == 0 else n
        bend = (1.0 - dot(e, u) ** 2) / p + (1.0 - dot(e, v) ** 2) / q - pull
        if bend > TINY / p:
            dT = add(dT, scale(dot(e, force) / bend, e))
    return scale(1.0 / p, _across(u, sub(dP, dT))), scale(1.0 / q, _across(v, sub(dQ, dT)))


@njit
def _solved(p, q, axis, surface):
    """The course of the line, n, L2 with its gradients by P and Q, the touching point within a ring, and `_sizes`."""
    P, Q = _across(axis, p), _across(axis, q)
    course, n = _course(P, Q, axis, surface)
    flat, by_p, by_q, T, sizes = 0.0, ZERO, ZERO, ZERO, NO_SIZES
    if course == AROUND:
        sizes = _sizes(P, Q, n, surface[0], surface[2])
        flat, by_p, by_q = _around(P, Q, n, sizes)
    elif course == WITHIN:
        T = _touching(P, Q, n, surface[0])
        u, v = sub(P, T), sub(Q, T)
        flat, by_p, by_q = math.sqrt(dot(u, u)) + math.sqrt(dot(v, v)), _unit(u), _unit(v)
    return course, n, flat, by_p, by_q, T, sizes


@njit
def _length(p, q, axis, solved):
    """Length of the line, and its gradients by both points."""
    course, _, flat, by_p, by_q, _, _ = solved
    if course == STRAIGHT:
        u = sub(q, p)
        size = math.sqrt(dot(u, u))
        u = _unit(u)
        return size, scale(-1.0, u), u
    z = dot(axis, sub(q, p))
    length = math.sqrt(flat * flat + z * z)
    along = scale(z / length, axis)
    return length, sub(scale(flat / length, by_p), along), add(scale(flat / length, by_q), along)


@njit
def _change(p, q, dp, dq, axis, solved):
    """Changes of the gradients of `_length`."""
    course, n, flat, by_p, by_q, T, sizes = solved
    if course == STRAIGHT:
        u, du = sub(q, p), sub(dq, dp)
        size = math.sqrt(dot(u, u))
        bent = scale(1.0 / size if size > 0.0 else 0.0, _across(_unit(u), du))
        return scale(-1.0, bent), bent
    P, Q, dP, dQ = _across(axis, p), _across(axis, q), _across(axis, dp), _across(axis, dq)
    if course == AROUND:
        dn = ZERO
        if dot(axis, axis) == 0.0:
            turn = cross(P, Q)
            size = dot(n, turn)
            change = add(cross(dP, Q), cross(P, dQ))
            dn = scale(1.0 / size if size != 0.0 else 0.0, _across(n, change))
        dby_p, dby_q = _around_change(P, Q, dP, dQ, (n, dn), sizes)
    else:
        dby_p, dby_q = _within_change(P, Q, dP, dQ, n, dot(axis, axis) > 0.0, T)
    z, dz = dot(axis, sub(q, p)), dot(axis, sub(dq, dp))
    length = math.sqrt(flat * flat + z * z)
    dflat = dot(by_p, dP) + dot(by_q, dQ)
    dlength = (flat * dflat + z * dz) / length
    share, dshare = flat / length, (dflat - flat / length * dlength) / length
    along = scale((dz - z / length * dlength) / length, axis)
    return (
        sub(add(scale(dshare, by_p), scale(share, dby_p)), along),
        add(add(scale(dshare, by_q), scale(share, dby_q)), along),
    )


@njit
def wrapped_length(p, q, axis, surface):
    """Length of the line from p to q, and its gradients by both; ``surface``: see `_course`."""
    return _length(p, q, axis, _solved(p, q, axis, surface))


@njit
def wrapped_change(p, q, dp, dq, axis, surface):
    """Changes of the gradients of `wrapped_length` along changes dp, dq of the points."""
    return _change(p, q, dp, dq, axis, _solved(p, q, axis, surface))


@njit
def wrapped_hessian(p, q, axis, surface, out):
    """Write the second derivatives of `wrapped_length` by (p, q) to ``out`` (6, 6); returns its gradients."""
    solved = _solved(p, q, axis, surface)
    for k in range(6):
        unit = (1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
        a, b = _change(p, q, unit if k < 3 else ZERO, ZERO if k < 3 else unit, axis, solved)
        out[0, k], out[1, k], out[2, k] = a
        out[3, k], out[4, k], out[5, k] = b
    _, by_p, by_q = _length(p, q, axis, solved)
    return by_p, by_q


@njit
def wrapped_arc(p, q, axis, surface):
    """The course of the line and where it meets and leaves the surface: (course, n, T_p, T_q), in axes of the surface.

    Between them it turns about n. Both points are the same inside a ring, and of no meaning where it is straight.
    """
    P, Q = _across(axis, p), _across(axis, q)
    course, n = _course(P, Q, axis, surface)
    if course == STRAIGHT:
        return course, n, p, q
    if course == AROUND:
        d = sub(Q, P)
        rs = _smooth_radius(dot(n, cross(P, Q)) / math.sqrt(dot(d, d)), surface[0], surface[2])[0]
        one, other = _tangent_points(P, Q, n, rs)
        arc = rs * _angles(P, Q, n, rs)
    else:
        one, arc = _touching(P, Q, n, surface[0]), 0.0
        other = one
    u, v = sub(P, one), sub(Q, other)
    near, far = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    begin, rise = dot(axis, p), dot(axis, sub(q, p)) / (near + arc + far)
    one = add(one, scale(begin + rise * near, axis))
    return course, n, one, add(other, scale(begin + rise * (near + arc), axis))
