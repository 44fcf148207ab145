"""Directional derivatives of the loads of forces and of the rows of closures, exact.

A gauge or row is a direction (2, 6), the wrenches (torque, force) of one unit of effort on its two bodies, world axes,
torques about the centres of mass. Along a change of the poses (turn, shift) and twists of the bodies, `turn_gauges`
and `turn_rows` give the change of the direction.

SPEED, SPIN and SLIP push along the motion s itself: their load is (effort / |s|) W(s), and their change is that
of W less its part along the direction, which `change_loads` takes times effort / |s|: finite at rest. A LENGTH of
zero has no direction; its load is taken to grow with the distance in any, as that of a spring of no rest length does.
"""

import math

from varint._numba import njit
from varint.kernels.gauges import cross, dot, turned, turned_back
from varint.kernels.plan import AXIS, COULOMB, DEAD, DISTANCE, FOLLOWER, FRAME, LENGTH, SLIP, SPEED, SPIN, TURN
from varint.kernels.rotation import less, plus

SMALL = 1e-3  # rad: below, the series of a rotation vector's inverse Jacobian


@njit
def _times(k, a):
    return k * a[0], k * a[1], k * a[2]


@njit
def _write(out, torque, force):
    for m in range(3):
        out[m], out[3 + m] = torque[m], force[m]


@njit
def to_world(bodies, gradient, rotation, direction):
    """Directions (ng, 2, 6) of gradients (ng, 2, 6) by the bodies' motions: linear, world, and angular, body axes."""
    for e in range(bodies.shape[0]):
        for s in range(2):
            g = gradient[e, s]
            _write(direction[e, s], turned(rotation[bodies[e, s]], g[3:]), g)


@njit
def _slide(n, arm, d, turn_a, shift_a, turn_b, shift_b, out):
    """Change of the direction of n . d, n fixed to a, d from the centre of a to a point ``arm`` of b."""
    dn, darm = cross(turn_a, n), cross(turn_b, arm)
    dd = less(plus(shift_b, darm), shift_a)
    _write(out[0], plus(cross(dn, d), cross(n, dd)), _times(-1.0, dn))
    _write(out[1], plus(cross(darm, n), cross(arm, dn)), dn)


@njit
def _length(arm_a, arm_b, n, stretch, keep, turn_a, shift_a, turn_b, shift_b, out):
    """Change of the direction ``stretch`` d, d between the points, n along it; ``keep`` 1 where it stays a unit."""
    darm_a, darm_b = cross(turn_a, arm_a), cross(turn_b, arm_b)
    dd = less(plus(shift_b, darm_b), plus(shift_a, darm_a))
    dn = _times(stretch, less(dd, _times(keep * dot(n, dd), n)))
    _write(out[0], _times(-1.0, plus(cross(darm_a, n), cross(arm_a, dn))), _times(-1.0, dn))
    _write(out[1], plus(cross(darm_b, n), cross(arm_b, dn)), dn)


@njit
def _turn(A, B, vectors, turn_a, turn_b, out):
    """TURN: torques (c U0 - s U1) x W / (s^2 + c^2) on a, the opposite on b."""
    U0, U1, W = turned(A, vectors[0]), turned(A, vectors[1]), turned(B, vectors[2])
    dU0, dU1, dW = cross(turn_a, U0), cross(turn_a, U1), cross(turn_b, W)
    s, c = dot(U0, W), dot(U1, W)
    ds, dc = dot(dU0, W) + dot(U0, dW), dot(dU1, W) + dot(U1, dW)
    square, dsquare = s * s + c * c, 2.0 * (s * ds + c * dc)
    fs, fc = c / square, -s / square
    dfs, dfc = (dc - fs * dsquare) / square, (-ds - fc * dsquare) / square
    t0, t1 = cross(U0, W), cross(U1, W)
    dt0, dt1 = plus(cross(dU0, W), cross(U0, dW)), plus(cross(dU1, W), cross(U1, dW))
    torque = plus(plus(_times(dfs, t0), _times(fs, dt0)), plus(_times(dfc, t1), _times(fc, dt1)))
    for m in range(3):
        out[0, m], out[1, m] = torque[m], -torque[m]
        out[0, 3 + m] = out[1, 3 + m] = 0.0


@njit
def _rotation_vector(A, B, vectors, turn_a, turn_b, out):
    """FRAME, the part of n . rho (gauges.py): torques -+ A slope(rho), added to ``out``."""
    n, rest = vectors[3], vectors[4:]
    x = turned_back(A, turned(B, rest[0]))
    y = turned_back(A, turned(B, rest[1]))
    z = turned_back(A, turned(B, rest[2]))
    sine = (0.5 * (y[2] - z[1]), 0.5 * (z[0] - x[2]), 0.5 * (x[1] - y[0]))
    size = math.sqrt(dot(sine, sine))
    phi = math.atan2(size, 0.5 * (x[0] + y[1] + z[2] - 1.0))
    rho = _times(phi / size if size > 1e-8 else 1.0, sine)
    f, df_phi = 1.0 / 12.0, 1.0 / 360.0  # and its derivative by phi over phi
    if phi > SMALL:
        cot = 1.0 / math.tan(0.5 * phi)
        f = (1.0 - 0.5 * phi * cot) / (phi * phi)
        df_phi = ((-0.5 * cot + 0.25 * phi * (1.0 + cot * cot)) / (phi * phi) - 2.0 * f / phi) / phi
    turn = turned_back(A, less(turn_b, turn_a))
    once = cross(rho, turn)
    drho = plus(plus(turn, _times(-0.5, once)), _times(f, cross(rho, once)))
    once = cross(rho, n)
    twice = cross(rho, once)
    slope = plus(plus(n, _times(0.5, once)), _times(f, twice))
    donce = cross(drho, n)
    dtwice = plus(cross(drho, once), cross(rho, donce))
    dslope = plus(_times(0.5, donce), plus(_times(f, dtwice), _times(df_phi * dot(rho, drho), twice)))
    torque = plus(turned(A, dslope), cross(turn_a, turned(A, slope)))
    for m in range(3):
        out[0, m] -= torque[m]
        out[1, m] += torque[m]


@njit
def _motion(kind, vectors, B, twist, direction, turn, change, out):
    """SPEED, SPIN, SLIP of body b: change of W(s) less its part along the ``direction`` (6,); that of |s|."""
    if kind == SPIN:
        d, ds = direction, change
    else:
        d, ds = direction[3:], change[3:]
    if kind != SLIP:
        along = d[0] * ds[0] + d[1] * ds[1] + d[2] * ds[2]
        first = 0 if kind == SPIN else 3
        for m in range(3):
            out[first + m], out[3 - first + m] = ds[m] - along * d[m], 0.0
        return along
    n, arm = vectors[0], turned(B, vectors[1])
    darm = cross(turn, arm)
    s = plus(twist[3:], cross(twist, arm))
    s = less(s, _times(dot(n, s), n))
    ds = plus(ds, plus(cross(change, arm), cross(twist, darm)))
    ds = less(ds, _times(dot(n, ds), n))
    along = dot(d, ds)
    across = less(ds, _times(along, d))
    _write(out, plus(cross(darm, s), cross(arm, across)), across)
    return along


@njit
def turn_gauges(bodies, node, kinds, vectors, position, rotation, twist, value, direction, pose, change, out, slope):
    """Changes ``out`` (ng, 2, 6) of the directions, and of values and rates ``slope`` (ng, 2).

    ``pose``, ``change`` (nl + 1, 6): of the nodes; ``node`` (nb + 1,): that of each body.
    """
    for e in range(kinds.size):
        a, b = bodies[e, 0], bodies[e, 1]
        i, j = node[a], node[b]
        A, B, v, turn_a, turn_b = rotation[a], rotation[b], vectors[e], pose[i], pose[j]
        kind = kinds[e]
        out[e] = 0.0
        if kind >= SPEED:
            slope[e, 0] = 0.0
            slope[e, 1] = _motion(kind, v, B, twist[j], direction[e, 1], turn_b, change[j], out[e, 1])
            continue
        if kind == TURN:
            _turn(A, B, v, turn_a, turn_b, out[e])
        elif kind == LENGTH:
            stretch = 1.0 / value[e] if value[e] > 0.0 else 1.0
            _length(
                turned(A, v[0]), turned(B, v[1]), direction[e, 1, 3:], stretch, 1.0,
                turn_a, turn_a[3:], turn_b, turn_b[3:], out[e],
            )  # fmt: skip
        elif kind == DEAD:
            moment = cross(cross(turn_b, turned(B, v[2])), v[0])
            for m in range(3):
                out[e, 1, m] = moment[m]
        elif kind == FOLLOWER:
            _write(out[e, 1], cross(turn_b, direction[e, 1]), cross(turn_b, direction[e, 1, 3:]))
        else:  # SLIDE, FRAME
            arm = turned(B, v[1])
            d = less(plus(position[b], arm), position[a])
            _slide(turned(A, v[0]), arm, d, turn_a, turn_a[3:], turn_b, turn_b[3:], out[e])
            if kind == FRAME:
                _rotation_vector(A, B, v, turn_a, turn_b, out[e])
        slope[e, 0] = slope[e, 1] = 0.0
        if kind != DEAD and kind != FOLLOWER:
            for m in range(6):
                g, h = direction[e, 0, m], direction[e, 1, m]
                slope[e, 0] += g * turn_a[m] + h * turn_b[m]
                slope[e, 1] += g * change[i, m] + h * change[j, m]
                slope[e, 1] += out[e, 0, m] * twist[i, m] + out[e, 1, m] * twist[j, m]


@njit
def change_loads(
    bodies, node, kinds, gauge_law, law_kind, law_parameter, value, rate, effort, slopes, law_slopes,
    direction, turned_direction, slope, law_change, wrench,
):  # fmt: skip
    """Take the changes of the loads off ``wrench`` (nl + 1, 6), the changes of what the nodes need.

    ``slopes`` (ng, 3), ``law_slopes`` (nf, 2) of `apply_laws`; ``law_change`` (nf,): changes of the efforts.
    """
    ng = kinds.size
    total = 0.0
    for e in range(ng):
        first, last = gauge_law[e], gauge_law[e + 1]
        if first < last:
            by_value, by_rate, part = slope[e, 0], slope[e, 1], e + 1
            while part < ng and gauge_law[part] == gauge_law[part + 1]:
                by_value, by_rate, part = by_value + slope[part, 0], by_rate + slope[part, 1], part + 1
            total = 0.0
            for f in range(first, last):
                law_change[f] = law_slopes[f, 0] * by_value + law_slopes[f, 1] * by_rate
                if law_kind[f] == COULOMB:
                    normal = int(law_parameter[f, 2])
                    law_change[f] -= law_parameter[f, 0] * math.tanh(rate[e] / law_parameter[f, 1]) * law_change[normal]
                total += law_change[f]
        ratio = slopes[e, 0]
        if kinds[e] >= SPEED:
            ratio = slopes[e, 0] / rate[e] if rate[e] > 0.0 else slopes[e, 2]
        elif kinds[e] == LENGTH and value[e] == 0.0:
            ratio = slopes[e, 1]
        for s in range(2):
            i = node[bodies[e, s]]
            for m in range(6):
                wrench[i, m] -= total * direction[e, s, m] + ratio * turned_direction[e, s, m]


@njit
def turn_rows(side, node, flip, kinds, u, w, c, scale, position, rotation, twist, direction, pose, change, out, slope):
    """Changes ``out`` (m, 2, 6) of the directions of rows, and of their rates ``slope`` (m,).

    ``side`` (m, 2): body slots; ``flip`` (m,): 1 where the row's first body is on side 1; ``scale`` (m,): of the rows.
    """
    for r in range(kinds.size):
        first = flip[r]
        a, b = side[r, first], side[r, 1 - first]
        i, j = node[a], node[b]
        A, B, turn_a, turn_b = rotation[a], rotation[b], pose[i], pose[j]
        n, arm = turned(A, u[r]), turned(B, w[r])
        if kinds[r] == AXIS:
            dn, darm = cross(turn_a, n), cross(turn_b, arm)
            torque = plus(cross(dn, arm), cross(n, darm))
            for m in range(3):
                out[r, 0, m], out[r, 1, m] = torque[m], -torque[m]
                out[r, 0, 3 + m] = out[r, 1, 3 + m] = 0.0
        else:
            d = less(plus(position[b], arm), position[a])
            if kinds[r] == DISTANCE:
                along = _times(1.0 / c[r], less(d, n))
                _length(n, arm, along, 1.0 / c[r], 0.0, turn_a, turn_a[3:], turn_b, turn_b[3:], out[r])
            else:
                _slide(n, arm, d, turn_a, turn_a[3:], turn_b, turn_b[3:], out[r])
        slope[r] = 0.0
        for m in range(6):
            near, far = scale[r] * out[r, 0, m], scale[r] * out[r, 1, m]
            out[r, first, m], out[r, 1 - first, m] = near, far
            slope[r] += direction[r, first, m] * change[i, m] + direction[r, 1 - first, m] * change[j, m]
            slope[r] += out[r, first, m] * twist[i, m] + out[r, 1 - first, m] * twist[j, m]


@njit
def add_directions(side, node, direction, effort, wrench):
    """Take ``effort`` (m,) along directions (m, 2, 6) off ``wrench`` (nl + 1, 6)."""
    for r in range(effort.size):
        for s in range(2):
            for m in range(6):
                wrench[node[side[r, s]], m] -= effort[r] * direction[r, s, m]


@njit
def turn_lengths(bodies, node, kinds, value, slopes, direction, turned_direction, pose, wrench):
    """Take the changes of the loads of LENGTHs at constant effort, as bodies see them, off ``wrench`` (nl + 1, 6)."""
    for e in range(kinds.size):
        if kinds[e] != LENGTH:
            continue
        ratio = slopes[e, 0] if value[e] > 0.0 else slopes[e, 1]
        for s in range(2):
            i, d = node[bodies[e, s]], direction[e, s]
            torque, force = cross(pose[i], d), cross(pose[i], d[3:])
            for m in range(3):
                wrench[i, m] -= ratio * (turned_direction[e, s, m] - torque[m])
                wrench[i, 3 + m] -= ratio * (turned_direction[e, s, 3 + m] - force[m])
