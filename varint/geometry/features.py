"""Pairs of features of two bodies that face each other: gap, normal and the points that touch, at any pose.

A pair has a ``kind``, and of each body a ``point`` (3,) from its centre of mass and a unit ``direction`` (3,), body
axes, and a ``radius``, m: ``point`` (2, 3), ``direction`` (2, 3), ``radius`` (2,), the first body before the second.

POINT_POINT    balls about the points
POINT_PLANE    a ball about the point of the first; a plane through the point of the second, outward normal direction
POINT_LINE     a ball about the point of the first; a line of the second along its direction, the axis of a cylinder
LINE_LINE      lines of both; the directions are such that first x second points from the second body to the first
CIRCLE_PLANE   the rim, of ``radius[0]``, of a disc about the point of the first, its direction the axis; a plane of the
               second
CIRCLE_POINT   such a rim, and a ball about the point of the second
CIRCLE_LINE    such a rim, its axis outward of the disc, and a line of the second, with ``radius[1]`` about it; the line
               points so that tangent x line, with the tangent axis x radial, points from the second body to the first
CIRCLE_CIRCLE  the rims of both; the axis outward of the first, and of the second such that tangent x tangent points
               from the second body to the first
RIM_POINT      a point of a rim, fixed in the first body; a plane of the second. For a step: contacts/rims.py

A negative radius of the second body is that of a hollow ball or tube, in which the first one is. Each body has a
*carrier*, the point of its feature that is nearest to the other body: a centre, a foot on a plane, a point of an axis.
With the normal n, from the second body to the first, and the carriers A and B the bodies touch at A - r_a n, B + r_b n.
"""

import math

from varint.base.numba import njit
from varint.geometry.circles import move_on_circles, nearest_on_circles
from varint.geometry.rims import move_on_line, nearest_to_line, nearest_to_point, normal_on_line, radial_to, turned_unit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, vector

POINT_POINT, POINT_PLANE, POINT_LINE, LINE_LINE, CIRCLE_PLANE, CIRCLE_POINT, CIRCLE_LINE, CIRCLE_CIRCLE = range(8)
RIM_POINT = 8
UPWARD = (0.0, 0.0, 1.0)  # the normal where concentric features leave it open


@njit
def _unit(a, otherwise):
    """Return a vector over its length, which is returned too; ``otherwise`` where that is zero."""
    length = math.sqrt(dot(a, a))
    return (scale(1.0 / length, a) if length > 0.0 else otherwise), length


@njit
def _sign(radius):
    """Return -1 where one body is inside of the other."""
    return -1.0 if radius[1] < 0.0 or radius[0] < 0.0 else 1.0


@njit
def _along(e, f, apart):
    """Return coordinates along two lines, of unit directions, of their nearest points.

    ``apart``: from one origin to the other, first less second.
    """
    b = dot(e, f)
    first = (b * dot(apart, f) - dot(apart, e)) / (1.0 - b * b)
    return first, b * first + dot(apart, f)


@njit
def lever_lengths(kind, radius):
    """Return radii by which the points that touch are off the carriers of a pair, m."""
    if kind == CIRCLE_CIRCLE:
        return 0.0, 0.0
    return (0.0 if kind in (CIRCLE_PLANE, CIRCLE_POINT, CIRCLE_LINE) else radius[0]), radius[1]


@njit
def locate_features(kind, point, direction, radius, pose_a, pose_b):
    """Return the gap, m, normal and carriers of both bodies, world, of a pair of features.

    Poses (position, rotation matrix).
    """
    (x_a, R_a), (x_b, R_b) = pose_a, pose_b
    A = add(vector(x_a), rotate(R_a, vector(point[0])))
    B = add(vector(x_b), rotate(R_b, vector(point[1])))
    if kind == LINE_LINE:
        e, f = rotate(R_a, vector(direction[0])), rotate(R_b, vector(direction[1]))
        normal, _ = _unit(cross(e, f), UPWARD)
        first, second = _along(e, f, sub(A, B))
        A, B = add(A, scale(first, e)), add(B, scale(second, f))
    elif kind in (POINT_PLANE, CIRCLE_PLANE, RIM_POINT):
        normal = rotate(R_b, vector(direction[1]))
        if kind == CIRCLE_PLANE:
            e = rotate(R_a, vector(direction[0]))
            up, _ = _unit(sub(normal, scale(dot(e, normal), e)), UPWARD)
            A = sub(A, scale(radius[0], up))
        B = sub(A, scale(dot(normal, sub(A, B)), normal))
    elif kind == CIRCLE_LINE:
        e, f = rotate(R_a, vector(direction[0])), rotate(R_b, vector(direction[1]))
        p, along = nearest_to_line(e, f, sub(B, A), radius[0])
        A, B = add(A, scale(radius[0], p)), add(B, scale(along, f))
        normal, _ = normal_on_line(cross(e, p), f, sub(A, B))
    elif kind == CIRCLE_CIRCLE:
        e, f = rotate(R_a, vector(direction[0])), rotate(R_b, vector(direction[1]))
        p, q = nearest_on_circles(A, e, radius[0], (B, f, radius[1]))
        A, B = add(A, scale(radius[0], p)), add(B, scale(radius[1], q))
        normal, _ = normal_on_line(cross(e, p), cross(f, q), sub(A, B))
    else:
        if kind == CIRCLE_POINT:
            A = add(A, scale(radius[0], radial_to(rotate(R_a, vector(direction[0])), sub(B, A))))
        elif kind == POINT_LINE:
            f = rotate(R_b, vector(direction[1]))
            B = add(B, scale(dot(f, sub(A, B)), f))
        normal, _ = _unit(scale(_sign(radius), sub(A, B)), UPWARD)
    first, second = lever_lengths(kind, radius)
    return dot(normal, sub(A, B)) - first - second, normal, A, B


@njit
def _carried(x, at, motion):
    """Return the velocity of the point ``at`` of a body at ``x`` with a motion (velocity, angular velocity)."""
    return add(motion[0], cross(motion[1], sub(at, vector(x))))


@njit
def move_features(kind, point, direction, radius, pose_a, pose_b, motion_a, motion_b):
    """Return rates of the normal and of both carriers, world, with the motions (velocity, angular velocity), world."""
    (x_a, R_a), (x_b, R_b) = pose_a, pose_b
    A0 = add(vector(x_a), rotate(R_a, vector(point[0])))
    B0 = add(vector(x_b), rotate(R_b, vector(point[1])))
    dA0, dB0 = _carried(x_a, A0, motion_a), _carried(x_b, B0, motion_b)
    e, f = rotate(R_a, vector(direction[0])), rotate(R_b, vector(direction[1]))
    de, df = cross(motion_a[1], e), cross(motion_b[1], f)
    apart, parting = sub(A0, B0), sub(dA0, dB0)
    if kind == LINE_LINE:
        normal, length = _unit(cross(e, f), UPWARD)
        turning = turned_unit(normal, length, add(cross(de, f), cross(e, df)))
        b, db = dot(e, f), dot(de, f) + dot(e, df)
        first, second = _along(e, f, apart)
        along_e, along_f = dot(parting, e) + dot(apart, de), dot(parting, f) + dot(apart, df)
        change = (db * dot(apart, f) + b * along_f - along_e + 2.0 * b * db * first) / (1.0 - b * b)
        other = db * first + b * change + along_f
        dA = add(dA0, add(scale(first, de), scale(change, e)))
        return turning, dA, add(dB0, add(scale(second, df), scale(other, f)))
    if kind in (POINT_PLANE, CIRCLE_PLANE, RIM_POINT):
        A, dA = A0, dA0
        if kind == CIRCLE_PLANE:
            level, tilt = dot(e, f), dot(de, f) + dot(e, df)
            up, length = _unit(sub(f, scale(level, e)), UPWARD)
            raised = turned_unit(up, length, sub(df, add(scale(tilt, e), scale(level, de))))
            A, dA = sub(A0, scale(radius[0], up)), sub(dA0, scale(radius[0], raised))
        height, rising = dot(f, sub(A, B0)), dot(df, sub(A, B0)) + dot(f, sub(dA, dB0))
        return df, dA, sub(dA, add(scale(height, df), scale(rising, f)))
    if kind == CIRCLE_LINE:
        return move_on_line((A0, dA0), (e, de), radius[0], (B0, dB0), (f, df))
    if kind == CIRCLE_CIRCLE:
        return move_on_circles((A0, dA0), (e, de), radius[0], (B0, dB0), (f, df), radius[1])
    A, dA, B, dB = A0, dA0, B0, dB0
    if kind == CIRCLE_POINT:
        A, dA = nearest_to_point((A0, dA0), (e, de), radius[0], (B0, dB0))
    elif kind == POINT_LINE:
        along = dot(f, apart)
        B = add(B0, scale(along, f))
        dB = add(dB0, add(scale(along, df), scale(dot(df, apart) + dot(f, parting), f)))
    sign = _sign(radius)
    normal, length = _unit(scale(sign, sub(A, B)), UPWARD)
    return turned_unit(normal, length, scale(sign, sub(dA, dB))), dA, dB
