"""The line from a point P to a point Q around a sphere or a cylinder: its length, gradient and curvature.

Points are relative to the centre, in axes of the surface; ``axis`` is the unit vector along a cylinder, and zero for a
sphere. Across the axis the line consists of two tangents and an arc. With D = |P|, the radius r, a = sqrt(D^2 - r^2),
the angle theta from P to Q about n, and phi = theta - acos(r / D_P) - acos(r / D_Q):

    length      L2 = a_P + a_Q + r phi
    gradient    u = (a P - r n x P) / D^2 at P, (a Q + r n x Q) / D^2 at Q; phi by r
    curvature   w w^T / a at each, with w = a dphi/dP, dphi/dQ: the unit vectors across u; dphi/dr = 1/a_P + 1/a_Q

Along the axis it is linear in L2: L = hypot(L2, z). A sphere has its plane through P, Q and the centre: L2 is a
function of P . P, P . Q and Q . Q, and its gradient at P is alpha P + beta Q. A change of P along n changes it by
alpha n times that, one of Q by beta n times that.

With smoothing eps the radius is r_s = h + eps log(1 + exp((r - h) / eps)), h the signed distance of the line PQ from
the axis on the side that it passes: the line then leaves the surface without a jump of any derivative. With the unit
vector e from P to Q, m = n x e, and the place lambda of the foot of h on PQ, 0 at P and 1 at Q:

    h = -m . P,    dh = -m . ((1 - lambda) dP + lambda dQ),    dm = -e (m . (dQ - dP)) / |PQ|

Inside a ring the line touches it at the point T where n . (T x (unit(T - P) + unit(T - Q))) = 0.

Sides are as in MuJoCo 4: the line turns by less than half a turn, and is straight where the segment clears the surface.
Only if the side is opposite, between -P and -Q as seen from the centre, it goes the other way around.
"""

import math

from varint.base.numba import njit
from varint.mathematics.small_matrices import IDENTITY, outer, scaled, sum_of, transposed
from varint.mathematics.vectors import ZERO, add, cross, dot, scale, square_to, sub

FREE, OUTSIDE, INSIDE = 0.0, 1.0, 2.0  # without a side; with a side beyond the radius; within the radius
STRAIGHT, AROUND, WITHIN = range(3)  # courses of the line
FAR = 36.0  # of (h - r) / eps: r_s - h is below round-off
TINY = 1e-15
ROUNDED = 1e-12  # rad: an arc the other way around that is rounded below zero
NO_SIZES = (0.0,) * 8  # where the line does not turn about an arc
ITERATIONS = 100  # of the touching point, by bisection at worst


@njit
def _unit(a):
    size = math.sqrt(dot(a, a))
    return scale(1.0 / size if size > 0.0 else 0.0, a)


@njit
def part_across(axis, a):
    """Return the part of a vector at right angles to the axis."""
    return sub(a, scale(dot(axis, a), axis))


@njit
def _tangent_points(P, Q, n, radius):
    """Return the points where the two tangents of the line that turns about n from P to Q touch the circle."""
    a = math.sqrt(max(0.0, dot(P, P) - radius * radius))
    b = math.sqrt(max(0.0, dot(Q, Q) - radius * radius))
    one = scale(radius / dot(P, P), add(scale(radius, P), scale(a, cross(n, P))))
    return one, scale(radius / dot(Q, Q), sub(scale(radius, Q), scale(b, cross(n, Q))))


@njit
def _nearest(P, Q):
    """Return the point of the segment PQ nearest to the centre, and its place: 0 at P, 1 at Q."""
    d = sub(Q, P)
    size = dot(d, d)
    place = -dot(d, P) / size if size > TINY else 0.0
    return add(P, scale(min(1.0, max(0.0, place)), d)), place


@njit
def _normal(P, Q, axis):
    """Return the normal of the plane of the line: the axis, or across both points and the centre of a sphere."""
    if dot(axis, axis) > 0.0:
        return axis
    n = cross(P, Q)
    if dot(n, n) > TINY * TINY:
        return _unit(n)
    return square_to(_unit(P))[0]


@njit
def find_course(P, Q, axis, surface):
    """Return the course of the line, STRAIGHT, AROUND or WITHIN, n, and the sizes of `_around`.

    ``surface``: (radius, mode, smoothing, side).
    """
    radius, mode, smoothing, side = surface
    n = _normal(P, Q, axis)
    if min(dot(P, P), dot(Q, Q)) <= radius * radius:
        return STRAIGHT, n, NO_SIZES
    if dot(n, cross(P, Q)) < 0.0:
        n = scale(-1.0, n)
    if smoothing == 0.0:
        near, place = _nearest(P, Q)
        clears = dot(near, near) > radius * radius
        if mode == INSIDE:
            return (WITHIN if clears or not 0.0 < place < 1.0 else STRAIGHT), n, NO_SIZES
    opposite = mode == OUTSIDE and dot(n, cross(P, side)) < 0.0 and dot(n, cross(side, Q)) < 0.0
    if opposite:
        n = scale(-1.0, n)
    elif smoothing == 0.0 and clears:
        return STRAIGHT, n, NO_SIZES
    d = sub(Q, P)
    size = math.sqrt(dot(d, d))
    h, rs, slope, bend = dot(n, cross(P, Q)) / max(TINY, size), radius, 0.0, 0.0
    if smoothing > 0.0:
        if h - radius > FAR * smoothing:
            return STRAIGHT, n, NO_SIZES
        rs, slope, bend = _smooth_radius(h, radius, smoothing)
        if rs * rs >= min(dot(P, P), dot(Q, Q)):
            return STRAIGHT, n, NO_SIZES
    a, b = math.sqrt(dot(P, P) - rs * rs), math.sqrt(dot(Q, Q) - rs * rs)
    phi = _arc(P, Q, n, rs, a, b)
    if opposite and phi < -ROUNDED:
        phi += 2.0 * math.pi
    if smoothing > 0.0 and phi <= 0.0:
        return STRAIGHT, n, NO_SIZES
    return AROUND, n, (a, b, rs, slope, bend, phi, size, h)


@njit
def _smooth_radius(h, radius, smoothing):
    """Return r_s and its first two derivatives by h."""
    x = (radius - h) / smoothing
    small = math.exp(-abs(x))
    share = small / (1.0 + small) if x > 0.0 else 1.0 / (1.0 + small)  # 1 - sigmoid(x)
    return h + smoothing * (max(x, 0.0) + math.log1p(small)), share, share * (1.0 - share) / smoothing


@njit
def _arc(P, Q, n, radius, a, b):
    """Return phi, from -pi to pi: the angle of the complex product of (P . Q, n . P x Q), (r, -a) and (r, -b)."""
    c, s = dot(P, Q), dot(n, cross(P, Q))
    x, y = radius * radius - a * b, radius * (a + b)
    return math.atan2(s * x - c * y, c * x + s * y)


@njit
def _around(P, Q, n, sizes):
    """Return L2, and its gradients by P and Q; ``sizes``: (a_P, a_Q, r_s and its derivatives by h, phi, |PQ|, h)."""
    a, b, rs, slope, _, phi, size, _ = sizes
    by_p = scale(1.0 / dot(P, P), sub(scale(a, P), scale(rs, cross(n, P))))
    by_q = scale(1.0 / dot(Q, Q), add(scale(b, Q), scale(rs, cross(n, Q))))
    if slope > 0.0:
        d = sub(Q, P)
        place, m = -dot(P, d) / (size * size), scale(phi * slope / size, cross(n, d))
        by_p, by_q = sub(by_p, scale(1.0 - place, m)), sub(by_q, scale(place, m))
    return a + b + rs * phi, by_p, by_q


@njit
def _frame(P, Q, n, solved, flat):
    """Return w at P and Q, e, m, lambda, and (alpha, beta, gamma) out of the plane, zero where it is ``flat``."""
    _, _, _, by_p, by_q, _, sizes = solved
    a, b, rs, size = sizes[0], sizes[1], sizes[2], sizes[6]
    w_p = scale(-1.0 / dot(P, P), add(scale(a, cross(n, P)), scale(rs, P)))
    w_q = scale(1.0 / dot(Q, Q), sub(scale(b, cross(n, Q)), scale(rs, Q)))
    e = scale(1.0 / max(TINY, size), sub(Q, P))
    outward = 0.0, 0.0, 0.0
    turn = dot(n, cross(P, Q))
    if not flat and turn != 0.0:
        alpha, beta, gamma = dot(n, cross(by_p, Q)), dot(n, cross(P, by_p)), dot(n, cross(P, by_q))
        outward = alpha / turn, beta / turn, gamma / turn
    return w_p, w_q, e, cross(n, e), -dot(P, e) / max(TINY, size), outward


@njit
def _around_change(dP, dQ, n, sizes, frame):
    """Return the changes of the gradients of `_around`; ``frame``: `_frame`."""
    a, b, _, slope, bend, phi, size, h = sizes
    w_p, w_q, e, m, place, (alpha, beta, gamma) = frame
    a, b = max(TINY, a), max(TINY, b)
    x, y = dot(w_p, dP) / a, dot(w_q, dQ) / b
    if slope == 0.0:
        dby_p, dby_q = scale(x, w_p), scale(y, w_q)
    else:
        dd = sub(dQ, dP)
        turned, dh = dot(m, dd) / size, -(1.0 - place) * dot(m, dP) - place * dot(m, dQ)
        dplace = (h * turned - dot(e, dP) - place * dot(e, dd)) / size
        dphi = x + y + (1.0 / a + 1.0 / b) * slope * dh
        share, load = dphi * slope + phi * bend * dh, phi * slope
        dby_p, dby_q = scale(x + slope * dh / a, w_p), scale(y + slope * dh / b, w_q)
        dby_p = add(
            dby_p, add(scale(load * dplace - share * (1.0 - place), m), scale(load * (1.0 - place) * turned, e))
        )
        dby_q = add(dby_q, add(scale(-load * dplace - share * place, m), scale(load * place * turned, e)))
    p, q = dot(n, dP), dot(n, dQ)
    return add(dby_p, scale(alpha * p + beta * q, n)), add(dby_q, scale(beta * p + gamma * q, n))


@njit
def _touching(P, Q, n, radius):
    """Return the point of the circle that the line within it touches."""
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
    """Return the changes of unit(P - T), unit(Q - T); T moves along the circle or, unless ``flat``, the sphere."""
    u, v = sub(T, P), sub(T, Q)
    p, q = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    u, v = scale(1.0 / p, u), scale(1.0 / q, v)
    pull = dot(add(u, v), T) / dot(T, T)
    dT = ZERO
    force = add(scale(1.0 / p, part_across(u, dP)), scale(1.0 / q, part_across(v, dQ)))
    for k in range(1 if flat else 2):
        e = _unit(cross(n, T)) if k == 0 else n
        bend = (1.0 - dot(e, u) ** 2) / p + (1.0 - dot(e, v) ** 2) / q - pull
        if bend > TINY / p:
            dT = add(dT, scale(dot(e, force) / bend, e))
    return scale(1.0 / p, part_across(u, sub(dP, dT))), scale(1.0 / q, part_across(v, sub(dQ, dT)))


@njit
def _solved(p, q, axis, surface):
    """Return the course of the line, n, L2 with its gradients by P and Q, the touching point in a ring, and sizes."""
    P, Q = part_across(axis, p), part_across(axis, q)
    course, n, sizes = find_course(P, Q, axis, surface)
    flat, by_p, by_q, T = 0.0, ZERO, ZERO, ZERO
    if course == AROUND:
        flat, by_p, by_q = _around(P, Q, n, sizes)
    elif course == WITHIN:
        T = _touching(P, Q, n, surface[0])
        u, v = sub(P, T), sub(Q, T)
        flat, by_p, by_q = math.sqrt(dot(u, u)) + math.sqrt(dot(v, v)), _unit(u), _unit(v)
    return course, n, flat, by_p, by_q, T, sizes


@njit
def _length(p, q, axis, solved):
    """Return the length of the line, and its gradients by both points."""
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
def _bent(p, q, axis, solved):
    """Return the `_frame` of a line around a surface, for `_change`."""
    return _frame(part_across(axis, p), part_across(axis, q), solved[1], solved, dot(axis, axis) > 0.0)


@njit
def _change(p, q, dp, dq, axis, solved, frame):
    """Return the changes of the gradients of `_length`; ``frame``: `_bent`."""
    course, n, flat, by_p, by_q, T, sizes = solved
    if course == STRAIGHT:
        u, du = sub(q, p), sub(dq, dp)
        size = math.sqrt(dot(u, u))
        bent = scale(1.0 / size if size > 0.0 else 0.0, part_across(_unit(u), du))
        return scale(-1.0, bent), bent
    dP, dQ = part_across(axis, dp), part_across(axis, dq)
    if course == AROUND:
        dby_p, dby_q = _around_change(dP, dQ, n, sizes, frame)
    else:
        P, Q = part_across(axis, p), part_across(axis, q)
        dby_p, dby_q = _within_change(P, Q, dP, dQ, n, dot(axis, axis) > 0.0, T)
    z, dz = dot(axis, sub(q, p)), dot(axis, sub(dq, dp))
    length = math.sqrt(flat * flat + z * z)
    across = (z * (dot(by_p, dP) + dot(by_q, dQ)) - flat * dz) / (length * length * length)
    share, along = flat / length, scale(across * flat, axis)
    return (
        add(add(scale(share, dby_p), scale(across * z, by_p)), along),
        sub(add(scale(share, dby_q), scale(across * z, by_q)), along),
    )


@njit
def wrapped_length(p, q, axis, surface):
    """Return the length of the line from p to q, and its gradients by both; ``surface``: see `find_course`."""
    return _length(p, q, axis, _solved(p, q, axis, surface))


@njit
def wrapped_change(p, q, dp, dq, axis, surface):
    """Return the changes of the gradients of `wrapped_length` along changes dp, dq of the points."""
    solved = _solved(p, q, axis, surface)
    return _change(p, q, dp, dq, axis, solved, _bent(p, q, axis, solved))


@njit
def _straight_hessian(size, u):
    """Return second derivatives by (p, p), (p, q), (q, q) of the length of a straight line with direction ``u``."""
    share = 1.0 / size if size > 0.0 else 0.0
    H = scaled(share, sum_of(IDENTITY, outer(scale(-1.0, u), u)))
    return H, scaled(-1.0, H), H


@njit
def _around_hessian(p, q, axis, solved):
    """Return second derivatives of the length of a line around a surface, by (p, p), (p, q), (q, q).

    At a fixed radius the ones of L2 are w w^T / a of each point. With d = (dP, dQ) and, in products with d,

        E = ((1 - lambda) e, lambda e),    M = (-m, m) / |PQ|,    dh = -((1 - lambda) m, lambda m)

    the second derivatives of h are E M^T + M E^T - h M M^T. Those of L = hypot(L2, z) are L2 / L times those of L2, and
    v v^T / L with v = (z dL2 - L2 dz) / L.
    """
    _, n, flat, by_p, by_q, _, (a, b, _, slope, bend, phi, size, h) = solved
    w_p, w_q, e, m, place, (alpha, beta, gamma) = _bent(p, q, axis, solved)
    a, b = 1.0 / max(TINY, a), 1.0 / max(TINY, b)
    pp = sum_of(outer(scale(a, w_p), w_p), outer(scale(alpha, n), n))
    qq = sum_of(outer(scale(b, w_q), w_q), outer(scale(gamma, n), n))
    pq = outer(scale(beta, n), n)
    if slope > 0.0:
        # dh and M have the direction m: the products of either with all else are collected
        from_q, curl, load = 1.0 - place, 0.5 * ((a + b) * slope * slope + phi * bend), phi * slope
        tilt, turn = scale(load / size, e), scale(0.5 * load * h / (size * size), m)
        one = sub(scale(slope * a, w_p), scale(from_q * curl, m))
        two = sub(scale(slope * b, w_q), scale(place * curl, m))
        bent_p, bent_q = add(scale(from_q, tilt), turn), sub(scale(place, tilt), turn)
        by_pp, by_pq = scale(-1.0, add(scale(from_q, one), bent_p)), scale(-1.0, add(scale(from_q, two), bent_q))
        by_qp, by_qq = sub(bent_p, scale(place, one)), sub(bent_q, scale(place, two))
        pp = sum_of(pp, sum_of(outer(m, by_pp), outer(by_pp, m)))
        qq = sum_of(qq, sum_of(outer(m, by_qq), outer(by_qq, m)))
        pq = sum_of(pq, sum_of(outer(m, by_pq), outer(by_qp, m)))
    z = dot(axis, sub(q, p))
    length = math.sqrt(flat * flat + z * z)
    v_p, v_q = add(scale(z, by_p), scale(flat, axis)), sub(scale(z, by_q), scale(flat, axis))
    share, less = flat / length, 1.0 / (length * length * length)
    return (
        sum_of(scaled(share, pp), outer(scale(less, v_p), v_p)),
        sum_of(scaled(share, pq), outer(scale(less, v_p), v_q)),
        sum_of(scaled(share, qq), outer(scale(less, v_q), v_q)),
    )


@njit
def _within_hessian(p, q, axis, solved):
    """Return second derivatives of the length of a line within a ring, by (p, p), (p, q), (q, q)."""
    frame = _bent(p, q, axis, solved)
    x, y, z = IDENTITY
    (x_p, _), (y_p, _), (z_p, _) = (
        _change(p, q, x, ZERO, axis, solved, frame),
        _change(p, q, y, ZERO, axis, solved, frame),
        _change(p, q, z, ZERO, axis, solved, frame),
    )
    (x_pq, x_q), (y_pq, y_q), (z_pq, z_q) = (
        _change(p, q, ZERO, x, axis, solved, frame),
        _change(p, q, ZERO, y, axis, solved, frame),
        _change(p, q, ZERO, z, axis, solved, frame),
    )
    return (x_p, y_p, z_p), transposed((x_pq, y_pq, z_pq)), (x_q, y_q, z_q)


@njit
def wrapped_hessian(p, q, axis, surface):
    """Return gradients of `wrapped_length` by p, q, and second derivatives by (p, p), (p, q), (q, q), by rows."""
    solved = _solved(p, q, axis, surface)
    size, by_p, by_q = _length(p, q, axis, solved)
    if solved[0] == STRAIGHT:
        return by_p, by_q, _straight_hessian(size, by_q)
    if solved[0] == AROUND:
        return by_p, by_q, _around_hessian(p, q, axis, solved)
    return by_p, by_q, _within_hessian(p, q, axis, solved)


@njit
def wrapped_arc(p, q, axis, surface):
    """Return the course of the line and where it meets and leaves the surface, in its axes: (course, n, T_p, T_q).

    Between them it turns about n. Both points are the same inside a ring, and of no meaning where it is straight.
    """
    P, Q = part_across(axis, p), part_across(axis, q)
    course, n, sizes = find_course(P, Q, axis, surface)
    if course == STRAIGHT:
        return course, n, p, q
    if course == AROUND:
        rs, phi = sizes[2], sizes[5]
        one, other = _tangent_points(P, Q, n, rs)
        arc = rs * phi
    else:
        one, arc = _touching(P, Q, n, surface[0]), 0.0
        other = one
    u, v = sub(P, one), sub(Q, other)
    near, far = math.sqrt(dot(u, u)), math.sqrt(dot(v, v))
    begin, rise = dot(axis, p), dot(axis, sub(q, p)) / (near + arc + far)
    one = add(one, scale(begin + rise * near, axis))
    return course, n, one, add(other, scale(begin + rise * (near + arc), axis))
