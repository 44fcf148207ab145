"""The arc of a line around a sphere or a cylinder: its points as both ends of the line move.

The line is that of `algebra.wrapping`, from p over an arc to q, in axes of the surface. With the part b of the arc, 0
where the line meets the surface and 1 where it leaves it, the angle phi, and the unit vector e_1 to where it meets,

    x(b) = r_s e + axis (axis . p + rise (a_P + b r_s phi)),    e = e_1 cos(b phi) + n x e_1 sin(b phi)
    t(b) = (n x e + rise axis) / hypot(1, rise),    rise = axis . (q - p) / L2

Numbers and vectors are jets: the value, and its first two derivatives along one motion of p and q.
"""

import math

import numpy as np

from varint.base.numba import Float1, Float2, Float3, njit
from varint.mathematics.vectors import ZERO, add, cross, dot, scale, sub, vector
from varint.mathematics.wrapping import AROUND, find_course, part_across

ARC_NODES = 8  # of Gauss's rule: half a turn to 1e-10
_nodes, _weights = np.polynomial.legendre.leggauss(ARC_NODES)
ARC_PARTS, ARC_WEIGHTS = tuple((0.5 * (1.0 + _nodes)).tolist()), tuple((0.5 * _weights).tolist())


@njit
def _times(f, g):
    return f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]


@njit
def _of(f, value, slope, bend):
    """Return the jet of a function of the jet ``f`` (value, first, second), from its value and derivatives at ``f``."""
    return value, slope * f[1], bend * f[1] * f[1] + slope * f[2]


@njit
def _root(f):
    root = math.sqrt(f[0])
    return _of(f, root, 0.5 / root, -0.25 / (root * f[0]))


@njit
def _inverse(f):
    g = 1.0 / f[0]
    return _of(f, g, -g * g, 2.0 * g * g * g)


@njit
def _angle(y, x, value):
    """Return the jet of atan2 of the jets ``y``, ``x`` (value, first, second); its ``value``, rad, has the turns."""
    size = x[0] * x[0] + y[0] * y[0]
    turn, turn_rate = x[0] * y[1] - y[0] * x[1], x[0] * y[2] - y[0] * x[2]
    grown = 2.0 * (x[0] * x[1] + y[0] * y[1])
    return value, turn / size, (turn_rate - turn * grown / size) / size


@njit
def _sum(u, v):
    return add(u[0], v[0]), add(u[1], v[1]), add(u[2], v[2])


@njit
def _difference(u, v):
    return sub(u[0], v[0]), sub(u[1], v[1]), sub(u[2], v[2])


@njit
def _scaled(f, u):
    return (
        scale(f[0], u[0]),
        add(scale(f[1], u[0]), scale(f[0], u[1])),
        add(add(scale(f[2], u[0]), scale(2.0 * f[1], u[1])), scale(f[0], u[2])),
    )


@njit
def _dot(u, v):
    return (
        dot(u[0], v[0]),
        dot(u[1], v[0]) + dot(u[0], v[1]),
        dot(u[2], v[0]) + 2.0 * dot(u[1], v[1]) + dot(u[0], v[2]),
    )


@njit
def _cross(u, v):
    return (
        cross(u[0], v[0]),
        add(cross(u[1], v[0]), cross(u[0], v[1])),
        add(add(cross(u[2], v[0]), scale(2.0, cross(u[1], v[1]))), cross(u[0], v[2])),
    )


@njit
def _along(axis, u):
    return dot(axis, u[0]), dot(axis, u[1]), dot(axis, u[2])


@njit
def turns_around(p, q, axis, surface):
    """Return whether the line from ``p`` to ``q`` (3,), m, has an arc; ``axis``, ``surface``: see `find_course`."""
    return find_course(part_across(axis, p), part_across(axis, q), axis, surface)[0] == AROUND


@njit
def arc_of(p, q, axis, surface):
    """Return the arc, by jets of its ends: (axis, n, e_1, r_s, phi, a_P, axis . p, rise); the line `turns_around`."""
    P = (part_across(axis, p[0]), part_across(axis, p[1]), part_across(axis, p[2]))
    Q = (part_across(axis, q[0]), part_across(axis, q[1]), part_across(axis, q[2]))
    _, n, (_, _, radius, slope, bend, phi, _, _) = find_course(P[0], Q[0], axis, surface)
    plane = _cross(P, Q)
    if dot(axis, axis) > 0.0:
        normal = n, ZERO, ZERO
    else:
        size = _inverse(_root(_dot(plane, plane)))
        normal = _scaled(size, plane)
        if dot(n, plane[0]) < 0.0:
            normal = _scaled((-1.0, 0.0, 0.0), normal)
    turn, across, rs = _dot(normal, plane), _difference(Q, P), (radius, 0.0, 0.0)
    if slope > 0.0:
        h = _times(turn, _inverse(_root(_dot(across, across))))
        rs = _of(h, radius, slope, bend)
    square, before, after = _times(rs, rs), _dot(P, P), _dot(Q, Q)
    a, b = _root(sub(before, square)), _root(sub(after, square))
    facing, x, y = _dot(P, Q), sub(square, _times(a, b)), _times(rs, add(a, b))
    sine = sub(_times(turn, x), _times(facing, y))
    angle = _angle(sine, add(_times(facing, x), _times(turn, y)), phi)
    meets = _scaled(_inverse(before), _sum(_scaled(rs, P), _scaled(a, _cross(normal, P))))
    flat = add(add(a, b), _times(rs, angle))
    rise = _times(_along(axis, _difference(q, p)), _inverse(flat))
    return axis, normal, meets, rs, angle, a, _along(axis, p), rise


@njit
def arc_length(arc):
    """Return jet of the length of an arc."""
    rise = arc[7]
    return _times(_times(arc[3], arc[4]), _root(add((1.0, 0.0, 0.0), _times(rise, rise))))


@njit
def arc_point(arc, part):
    """Return jets of the point at ``part`` of an arc and of the unit vector along it, and its curvature vector."""
    axis, normal, meets, rs, phi, a, begin, rise = arc
    angle = _times((part, 0.0, 0.0), phi)
    c, s = math.cos(angle[0]), math.sin(angle[0])
    out = _sum(_scaled(_of(angle, c, -s, -c), meets), _scaled(_of(angle, s, c, -s), _cross(normal, meets)))
    fixed = axis, ZERO, ZERO
    along = add(begin, _times(rise, add(a, _times(rs, angle))))
    steep = add((1.0, 0.0, 0.0), _times(rise, rise))
    t = _scaled(_inverse(_root(steep)), _sum(_cross(normal, out), _scaled(rise, fixed)))
    return _sum(_scaled(rs, out), _scaled(along, fixed)), t, scale(-1.0 / (rs[0] * steep[0]), out[0])


@njit
def arc_along(p, q, axis, surface, k):
    """Return `arc_of` as coordinate ``k`` of ``p`` (3,), or k - 3 of ``q`` (3,), m, moves at one."""
    unit = 1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0
    return arc_of((p, unit if k < 3 else ZERO, ZERO), (q, ZERO if k < 3 else unit, ZERO), axis, surface)


@njit
def place_on_arcs(
    ends: Float3, axis: Float1, size: Float1, side: Float1, parts: Float2, out: Float3, grown: Float2
) -> None:
    """Write points at ``parts`` (T, B) of the arcs of T lines into ``out`` (T, B, 9), in axes of the surface.

    ``ends`` (T, 4, 3): p, its rate, q, its rate; m, m/s
    ``axis``, ``side`` (3,): axis of the surface, zero for a sphere, and the direction of its side
    ``size`` (3,): radius, mode and smoothing
    ``out``: place, rate at the fixed part, and unit vector along the arc; the middle of a line that is straight
    ``grown`` (T, 2), written: length of the arc, and its rate; zero where the line is straight
    """
    a, surface = vector(axis), (size[0], size[1], size[2], vector(side))
    for i in range(parts.shape[0]):
        p, dp, q, dq = vector(ends[i, 0]), vector(ends[i, 1]), vector(ends[i, 2]), vector(ends[i, 3])
        if not turns_around(p, q, a, surface):
            grown[i, 0] = grown[i, 1] = 0.0
            for k in range(parts.shape[1]):
                for m in range(3):
                    out[i, k, m], out[i, k, 3 + m], out[i, k, 6 + m] = 0.5 * (p[m] + q[m]), 0.5 * (dp[m] + dq[m]), 0.0
            continue
        arc = arc_of((p, dp, ZERO), (q, dq, ZERO), a, surface)
        grown[i, 0], grown[i, 1], _ = arc_length(arc)
        for k in range(parts.shape[1]):
            x, t, _ = arc_point(arc, parts[i, k])
            for m in range(3):
                out[i, k, m], out[i, k, 3 + m], out[i, k, 6 + m] = x[0][m], x[1][m], t[0][m]
