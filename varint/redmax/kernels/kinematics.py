"""Poses, velocities and bias accelerations of the nodes, from the root to the leaves. World axes throughout.

    w = w_p + S_w dq,     v = v_p + w_p x (x - x_p) + S_v dq
    w' = w'_p + S_w ddq + c_w,     v' = v'_p + w'_p x (x - x_p) + S_v ddq + c_v

S (nq, 6) holds a column of each coordinate, angular part first, at the node's reference point. S turns with its
node, so its time derivative is w x S, and F S-dot more for nodes with a chart: a ball, a curve, a surface.
"""

import math

from varint._numba import njit
from varint.kernels.gauges import cross, turned
from varint.kernels.products import ZERO3, ZERO6, stage_pose, stage_twists, three
from varint.kernels.rotation import (
    plus,
    right_jacobian,
    right_jacobian_along,
    right_jacobian_times,
    right_jacobian_twice,
    times,
)

WELD, TURN, SLIDE, BALL, CURVE, SURFACE = range(6)


@njit
def size_of(kind):
    """Number of coordinates of a node."""
    return 0 if kind == WELD else 3 if kind == BALL else 2 if kind == SURFACE else 1


@njit
def place(parent, kind, sign, column, turn, offset, arm, stage, product, q, F, x):
    """Axes F (nl + 1, 3, 3) and reference points x (nl + 1, 3) of the nodes at ``q`` (nq,); the world is last."""
    for i in range(parent.size):
        p = parent[i]
        A, P, B, d, a = F[p], turn[i], F[i], offset[i], arm[i]
        for j in range(3):
            for k in range(3):
                B[j, k] = A[j, 0] * P[0, k] + A[j, 1] * P[1, k] + A[j, 2] * P[2, k]
        along = 0.0
        if kind[i] == TURN:
            angle = sign[i] * q[column[i]]
            s, c = math.sin(angle), math.cos(angle)
            for j in range(3):
                B[j, 0], B[j, 1] = c * B[j, 0] + s * B[j, 1], c * B[j, 1] - s * B[j, 0]
        elif kind[i] == SLIDE:
            along = sign[i] * q[column[i]]
        elif kind[i] == BALL:
            _turn_by_vector(B, sign[i], q, column[i])
        shift = ZERO3
        if kind[i] >= CURVE:
            shift = _follow_product(B, product, stage[i], three(q, column[i], size_of(kind[i])))
        for j in range(3):
            own = B[j, 0] * a[0] + B[j, 1] * a[1] + B[j, 2] * a[2] + along * B[j, 2]
            x[i, j] = x[p, j] + A[j, 0] * d[0] + A[j, 1] * d[1] + A[j, 2] * d[2] + own + shift[j]


@njit
def _turn_by_vector(B, sign, q, k):
    """B exp[sign r]; of three columns at a time no array is made."""
    r = (sign * q[k], sign * q[k + 1], sign * q[k + 2])
    x = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    half = 0.5 * math.sqrt(x)
    c = math.cos(half)
    s = 0.5 * (math.sin(half) / half if half > 1e-8 else 1.0)
    y = (s * r[0], s * r[1], s * r[2])
    for j in range(3):
        row = (B[j, 0], B[j, 1], B[j, 2])
        t = cross(row, y)  # row exp[r] = row + 2 c row x y + 2 (row x y) x y
        u = cross(t, y)
        for m in range(3):
            B[j, m] = row[m] + 2.0 * (c * t[m] + u[m])


@njit
def _follow_product(B, product, stage, q):
    """Axes B times the turn of a stage (kernels/products.py), in place; returns B times its shift."""
    rows = ((B[0, 0], B[0, 1], B[0, 2]), (B[1, 0], B[1, 1], B[1, 2]), (B[2, 0], B[2, 1], B[2, 2]))
    rows, shift = stage_pose(product, stage, q, rows, ZERO3)
    for j in range(3):
        B[j, 0], B[j, 1], B[j, 2] = rows[j]
    return shift


@njit
def chart_twists(kind, e, product, stage, arm, F, r, z, u, v):
    """S z, dS u z, dS v z and d2S u v z of a node with a chart, (w, v) in world axes; r, z, u, v: 3 numbers each."""
    if kind == BALL:
        r, z, u, v = times(e, r), times(e, z), times(e, u), times(e, v)
        along = (
            (right_jacobian_times(r, z), ZERO3),
            (right_jacobian_along(r, u, z), ZERO3),
            (right_jacobian_along(r, v, z), ZERO3),
            (right_jacobian_twice(r, u, v, z), ZERO3),
        )
    else:
        along = stage_twists(product, stage, r, z, u, v, ZERO6, ZERO6, ZERO6, ZERO6)
    return (
        _to_world(F, arm, along[0]),
        _to_world(F, arm, along[1]),
        _to_world(F, arm, along[2]),
        _to_world(F, arm, along[3]),
    )


@njit
def _to_world(F, arm, Y):
    """A twist at the origin of a motion, own axes, to the reference point, world axes."""
    return turned(F, Y[0]), turned(F, plus(Y[1], cross(Y[0], arm)))


@njit
def unit(n):
    """One of three coordinates alone."""
    return (1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0)


@njit
def subspaces(kind, sign, column, arm, stage, product, q, F, S, scratch):
    """Motion subspaces S (nq, 6) in world axes; ``scratch`` (3, 3)."""
    for i in range(kind.size):
        if kind[i] == WELD:
            continue
        B, k = F[i], column[i]
        if kind[i] == SLIDE:
            for m in range(3):
                S[k, m], S[k, 3 + m] = 0.0, sign[i] * B[m, 2]
            continue
        a = arm[i]
        lever = (
            B[0, 0] * a[0] + B[0, 1] * a[1] + B[0, 2] * a[2],
            B[1, 0] * a[0] + B[1, 1] * a[1] + B[1, 2] * a[2],
            B[2, 0] * a[0] + B[2, 1] * a[1] + B[2, 2] * a[2],
        )
        if kind[i] == TURN:
            for m in range(3):
                S[k, m] = sign[i] * B[m, 2]
            S[k, 3], S[k, 4], S[k, 5] = cross(S[k], lever)
        elif kind[i] >= CURVE:
            here = three(q, k, size_of(kind[i]))
            for n in range(size_of(kind[i])):
                own = chart_twists(kind[i], 1.0, product, stage[i], a, B, here, unit(n), ZERO3, ZERO3)[0]
                for m in range(3):
                    S[k + n, m], S[k + n, 3 + m] = own[0][m], own[1][m]
        else:
            right_jacobian(sign[i] * q[k], sign[i] * q[k + 1], sign[i] * q[k + 2], scratch)
            for n in range(3):
                for m in range(3):
                    total = B[m, 0] * scratch[0, n] + B[m, 1] * scratch[1, n] + B[m, 2] * scratch[2, n]
                    S[k + n, m] = sign[i] * total
                S[k + n, 3], S[k + n, 4], S[k + n, 5] = cross(S[k + n], lever)


@njit
def velocities(parent, kind, column, x, S, rates, twist):
    """Twists (nl + 1, 6) of the nodes, (w, v), that the ``rates`` (nq,) give: the product J rates in O(n)."""
    for i in range(parent.size):
        p, k = parent[i], column[i]
        r = (x[i, 0] - x[p, 0], x[i, 1] - x[p, 1], x[i, 2] - x[p, 2])
        c = cross(twist[p], r)
        for m in range(3):
            twist[i, m], twist[i, 3 + m] = twist[p, m], twist[p, 3 + m] + c[m]
        for n in range(k, k + size_of(kind[i])):
            for m in range(6):
                twist[i, m] += S[n, m] * rates[n]


@njit
def subspace_rates(kind, sign, column, arm, stage, product, q, rates, F, S, twist, Sdot):
    """Time derivatives ``Sdot`` (nq, 6) of S."""
    for i in range(kind.size):
        k, w = column[i], twist[i]
        size = size_of(kind[i])
        for n in range(k, k + size):
            Sdot[n, 0], Sdot[n, 1], Sdot[n, 2] = cross(w, S[n])
            Sdot[n, 3], Sdot[n, 4], Sdot[n, 5] = cross(w, S[n, 3:])
        if kind[i] >= BALL:
            r, dr = three(q, k, size), three(rates, k, size)
            for n in range(size):
                own = chart_twists(kind[i], sign[i], product, stage[i], arm[i], F[i], r, unit(n), dr, ZERO3)[1]
                for m in range(3):
                    Sdot[k + n, m] += own[0][m]
                    Sdot[k + n, 3 + m] += own[1][m]


@njit
def biases(parent, kind, column, rates, Sdot, twist, bias):
    """Accelerations ``bias`` (nl, 6), (w', v'), of each node beyond its parent's at ddq = 0."""
    for i in range(parent.size):
        w, wp, c = twist[i], twist[parent[i]], bias[i]
        c[0] = c[1] = c[2] = 0.0
        c[3], c[4], c[5] = cross(wp, (w[3] - wp[3], w[4] - wp[4], w[5] - wp[5]))
        for n in range(column[i], column[i] + size_of(kind[i])):
            for m in range(6):
                c[m] += Sdot[n, m] * rates[n]


@njit
def accelerations(parent, x, bias, acceleration):
    """Accelerations (nl + 1, 6) of the nodes from those beyond their parents'; the world's must be zero."""
    for i in range(parent.size):
        a, ap = acceleration[i], acceleration[parent[i]]
        r = (x[i, 0] - x[parent[i], 0], x[i, 1] - x[parent[i], 1], x[i, 2] - x[parent[i], 2])
        shift = cross(ap, r)
        for m in range(3):
            a[m] = ap[m] + bias[i, m]
            a[3 + m] = ap[3 + m] + shift[m] + bias[i, 3 + m]


@njit
def to_bodies(body_node, body_axes, F, x, position, rotation):
    """Poses of the bodies, (nb + 1, 3), (nb + 1, 3, 3)."""
    for b in range(body_node.size):
        A, C = F[body_node[b]], body_axes[b]
        for j in range(3):
            position[b, j] = x[body_node[b], j]
            for k in range(3):
                rotation[b, j, k] = A[j, 0] * C[0, k] + A[j, 1] * C[1, k] + A[j, 2] * C[2, k]


@njit
def motion_to_bodies(body_node, rotation, twist, motion):
    """From (angular, linear) of nodes (nl + 1, 6), world axes, to ``motion`` (nb, 6): linear, world; angular, body."""
    for b in range(body_node.size):
        t, R = twist[body_node[b]], rotation[b]
        for k in range(3):
            motion[b, k] = t[3 + k]
            motion[b, 3 + k] = R[0, k] * t[0] + R[1, k] * t[1] + R[2, k] * t[2]
